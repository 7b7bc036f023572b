#include "eager.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "eager_session.h"
#include "guard.h"
#include "options.h"
#include "raise.h"
#include "trace.h"

namespace nb = nanobind;

namespace graphengine {
namespace {

constexpr size_t kMostSessions = 1024;  // 52 KB each
// Plans of a session: one of a small operator is about 10 KB, and shapes may never come again.
constexpr int64_t kPlanBytes = 64 << 10;

struct Hash {
  using is_transparent = void;
  size_t operator()(std::string_view key) const { return std::hash<std::string_view>()(key); }
};

struct Entry {
  std::shared_ptr<EagerSession> session;
  std::list<const std::string*>::iterator place;
};

struct Cache {
  std::unordered_map<std::string, Entry, Hash, std::equal_to<>> entries;
  std::list<const std::string*> order;  // of the keys, the latest used first
  uint64_t made = 0, dropped = 0;
  nb::dict words;                    // of eager_options
  std::vector<std::string> plugins;  // of add_plugin
};

Cache& TheCache() {
  static Cache* cache = new Cache;  // the interpreter may be gone when main ends
  return *cache;
}

// The session of this key; a new one where there is none.
std::shared_ptr<EagerSession> SessionOf(std::string_view key) {
  Cache& cache = TheCache();
  const auto found = cache.entries.find(key);
  if (found != cache.entries.end()) {
    cache.order.splice(cache.order.begin(), cache.order, found->second.place);
    return found->second.session;
  }
  // Sessions release the GIL when they end: the cache is whole by then.
  std::shared_ptr<EagerSession> dropped;
  if (cache.entries.size() >= kMostSessions) {
    const auto oldest = cache.entries.find(*cache.order.back());
    dropped = std::move(oldest->second.session);
    cache.order.pop_back();
    cache.entries.erase(oldest);
    ++cache.dropped;
  }
  auto session = std::make_shared<EagerSession>();
  const auto added = cache.entries.emplace(std::string(key), Entry{session, {}}).first;
  cache.order.push_front(&added->first);
  added->second.place = cache.order.begin();
  ++cache.made;
  return session;
}

// What failed to load is not kept.
void Forget(std::string_view key, const std::shared_ptr<EagerSession>& session) {
  Cache& cache = TheCache();
  const auto found = cache.entries.find(key);
  if (found == cache.entries.end() || found->second.session != session) return;
  const std::shared_ptr<EagerSession> dropped = std::move(found->second.session);
  cache.order.erase(found->second.place);
  cache.entries.erase(found);
}

bool LoadOrForget(const OneNode& node, bool sizes, std::string_view key,
                  const std::shared_ptr<EagerSession>& session) {
  try {
    return session->Load(node, sizes);
  } catch (nb::python_error& error) {
    Forget(key, session);
    error.restore();
    nb::raise_python_error();
  }
}

void ClearCache() {
  Cache& cache = TheCache();
  cache.order.clear();
  const auto dropped = std::exchange(cache.entries, {});
}

nb::dict Info() {
  const Cache& cache = TheCache();
  nb::dict out;
  out["sessions"] = cache.entries.size();
  out["limit"] = kMostSessions;
  out["made"] = cache.made;
  out["dropped"] = cache.dropped;
  return out;
}

void SetOptions(const nb::kwargs& given) {
  nb::dict words;
  words.update(given);
  Keywords checked("configure", given);
  (void)MakeHandle(checked);  // refuses what sessions would
  TheCache().words = words;
  ClearCache();
}

void AddPlugin(const std::string& path) {
  std::vector<std::string>& plugins = TheCache().plugins;
  if (std::find(plugins.begin(), plugins.end(), path) != plugins.end()) return;
  nb::kwargs words = nb::steal<nb::kwargs>(nb::dict().release());
  words["plugins"] = path;
  Keywords checked("add_plugin", words);
  (void)MakeHandle(checked);  // refuses what is no plugin
  plugins.push_back(path);
  ClearCache();
}

// ---- apply

Tensor* InputAt(nb::handle inputs, Py_ssize_t i, std::string_view op) {
  PyObject* each = PyTuple_GetItem(inputs.ptr(), i);
  if (!each) nb::raise_python_error();
  if (each == Py_None) return nullptr;
  if (Tensor* t = TensorOf(each)) return t;
  Raise(GE_STATUS_INVALID_ARGUMENT, "input " + std::to_string(i) + " of " + std::string(op) +
                                        " is a " + TypeName(each) + ", wanted a Tensor or None");
}

std::string_view WordOf(PyObject* text, const char* what) {
  Py_ssize_t n = 0;
  const char* data = PyUnicode_AsUTF8AndSize(text, &n);
  if (data) return {data, static_cast<size_t>(n)};
  PyErr_Clear();
  Raise(GE_STATUS_INVALID_ARGUMENT,
        std::string(what) + " is a " + TypeName(text) + ", wanted a str");
}

struct Arguments {
  PyObject *domain, *op, *inputs, *attributes, *outputs, *bodies;
};
constexpr const char* kNames[] = {"domain", "op", "inputs", "attributes", "outputs", "bodies"};

Arguments ReadArguments(PyObject* const* args, Py_ssize_t n, PyObject* names) {
  PyObject* given[6] = {nullptr, nullptr, nullptr, nullptr, nullptr, nullptr};
  const auto refuse = [](const std::string& text) {
    PyErr_SetString(PyExc_TypeError, ("apply() " + text).c_str());
    nb::raise_python_error();
  };
  if (n > 6) refuse("takes at most 6 arguments");
  for (Py_ssize_t i = 0; i < n; ++i) given[i] = args[i];
  const Py_ssize_t words = names ? PyTuple_Size(names) : 0;
  for (Py_ssize_t i = 0; i < words; ++i) {
    PyObject* word = PyTuple_GetItem(names, i);
    size_t at = 0;
    while (at < 6 && PyUnicode_CompareWithASCIIString(word, kNames[at]) != 0) ++at;
    if (at == 6 || given[at]) {
      refuse("has no argument '" + std::string(WordOf(word, "a name")) + "', or has it twice");
    }
    given[at] = args[n + i];
  }
  for (size_t i = 0; i < 4; ++i) {
    if (!given[i]) refuse("misses argument '" + std::string(kNames[i]) + "'");
  }
  return {given[0], given[1], given[2], given[3], given[4], given[5]};
}

nb::object CallTrace(PyObject* trace, const Arguments& a, nb::handle inputs, long outputs) {
  nb::object attributes =
      a.attributes == Py_None ? nb::object(nb::dict()) : nb::borrow(a.attributes);
  if (!a.bodies || a.bodies == Py_None) {
    return nb::borrow(trace)(nb::handle(a.domain), nb::handle(a.op), inputs, attributes, outputs);
  }
  return nb::borrow(trace)(nb::handle(a.domain), nb::handle(a.op), inputs, attributes, outputs,
                           nb::handle(a.bodies));
}

nb::object Apply(const Arguments& a) {
  const std::string_view domain = WordOf(a.domain, "domain"), op = WordOf(a.op, "op");
  const nb::object inputs =
      PyTuple_Check(a.inputs) ? nb::borrow(a.inputs) : nb::steal(PySequence_Tuple(a.inputs));
  if (!inputs.is_valid()) nb::raise_python_error();
  const Py_ssize_t n = PyTuple_Size(inputs.ptr());
  const long outputs = a.outputs ? PyLong_AsLong(a.outputs) : 1;
  if (outputs == -1 && PyErr_Occurred()) nb::raise_python_error();
  if (outputs < 1 || outputs > UINT16_MAX) {
    Raise(GE_STATUS_INVALID_ARGUMENT,
          "outputs is " + std::to_string(outputs) + ", wanted 1 or more of " + std::string(op));
  }
  if (a.attributes != Py_None && !PyDict_Check(a.attributes)) {
    Raise(GE_STATUS_INVALID_ARGUMENT,
          "attributes is a " + TypeName(a.attributes) + ", wanted a dict or None");
  }
  Tensor* few[8];
  std::vector<Tensor*> many(n > 8 ? static_cast<size_t>(n) : 0);
  const std::span<Tensor*> tensors =
      n > 8 ? std::span<Tensor*>(many) : std::span<Tensor*>(few, static_cast<size_t>(n));
  Tensor* traced = nullptr;
  for (Py_ssize_t i = 0; i < n; ++i) {
    tensors[i] = InputAt(inputs, i, op);
    if (tensors[i] && tensors[i]->symbol) traced = tensors[i];
  }
  if (PyObject* trace = ActiveTrace()) return CallTrace(trace, a, inputs, outputs);
  if (traced) return AskTraced(reinterpret_cast<PyObject*>(traced), "apply");
  if (a.bodies && a.bodies != Py_None) {
    Raise(GE_STATUS_UNSUPPORTED, std::string(op) +
                                     " with functions runs in a graph alone; "
                                     "call it under graphengine.jit");
  }
  return RunEager({domain, op, a.attributes == Py_None ? nullptr : a.attributes, tensors,
                   static_cast<uint32_t>(outputs), ShapeInputsOf(domain, op)});
}

PyObject* ApplyCall(PyObject*, PyObject* const* args, Py_ssize_t n, PyObject* names) {
  return Guarded<PyObject*>(nullptr,
                            [&] { return Apply(ReadArguments(args, n, names)).release().ptr(); });
}

PyMethodDef functions[] = {
    {"apply", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(ApplyCall)),
     METH_FASTCALL | METH_KEYWORDS,
     "apply(domain, op, inputs, attributes, outputs=1, bodies=None)\n--\n\n"
     "An operator on Tensors (None: an omitted input): a Tensor, or a tuple of as many as outputs "
     "says.\nIt runs at once, or, under set_trace, is what the trace answers. attributes: a dict "
     "of numbers, str,\nlists of these, arrays; None as a value: not given."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

std::shared_ptr<Handle> NewEagerHandle(std::string_view domain) {
  const Cache& cache = TheCache();
  nb::kwargs words = nb::steal<nb::kwargs>(nb::dict().release());
  words.update(cache.words);
  if (!words.contains("plan_cache_bytes")) words["plan_cache_bytes"] = kPlanBytes;
  if (!cache.plugins.empty() && !domain.empty()) {
    nb::list plugins;
    const nb::object given = words.get("plugins", nb::none());
    if (PyUnicode_Check(given.ptr())) {
      plugins.append(given);
    } else if (!given.is_none()) {
      plugins.extend(given);
    }
    for (const std::string& plugin : cache.plugins) plugins.append(plugin);
    words["plugins"] = plugins;
  }
  Keywords taken("configure", words);
  return MakeHandle(taken);
}

namespace {

nb::object LoadAndRun(const OneNode& node) {
  thread_local std::string kept;  // keeps its room from call to call
  std::string key = std::move(kept);
  key.clear();
  AppendKey(node, &key);
  std::shared_ptr<EagerSession> session = SessionOf(key);
  if (!LoadOrForget(node, false, key, session)) {
    for (const Tensor* t : node.inputs) {
      if (t)
        key.append(reinterpret_cast<const char*>(t->dims),
                   sizeof(int64_t) * static_cast<size_t>(t->rank));
    }
    session = SessionOf(key);
    LoadOrForget(node, true, key, session);
  }
  kept = std::move(key);
  return session->Run(node);
}

}  // namespace

nb::object RunEager(const OneNode& node) {
  try {
    return LoadAndRun(node);
  } catch (nb::python_error& error) {
    nb::module_::import_("graphengine._error").attr("at_once")(error.value());
    error.restore();
    nb::raise_python_error();
  }
}

nb::object Cast(nb::handle tensor, const Element& element) {
  nb::dict attributes;
  attributes["to"] = element.number;
  const nb::object domain = Text(""), op = Text("Cast");
  const nb::tuple inputs = nb::make_tuple(tensor);
  return Apply({domain.ptr(), op.ptr(), inputs.ptr(), attributes.ptr(), nullptr, nullptr});
}

void AddEager(nb::module_& m) {
  (void)TheCache();  // here, ahead of threads: its dict may let the GIL go under the lock of C++
  if (PyModule_AddFunctions(m.ptr(), functions) != 0) nb::raise_python_error();
  m.def("clear_cache", ClearCache, "Drops the sessions of eager mode.");
  m.def("cache_info", Info, nb::sig("def cache_info() -> dict[str, int]"),
        "sessions of eager mode there are, at most (limit), made and dropped so far.");
  m.def("eager_options", SetOptions, nb::sig("def eager_options(**words: typing.Any) -> None"),
        "Options of Session for eager mode from now on, in the place of former ones.");
  m.def("add_plugin", AddPlugin, nb::arg("plugin"),
        "A plugin of operators for eager mode, by a path or a name.");
}

}  // namespace graphengine
