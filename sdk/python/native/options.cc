// Options in Python's words as ge.h has them, and the making of sessions and runtimes.
#include "options.h"

#include <nanobind/stl/string.h>

#include <cstdio>
#include <cstring>
#include <deque>
#include <initializer_list>

#include "custom.h"
#include "engine_call.h"
#include "graph_builder.h"
#include "keywords.h"
#include "session.h"
#include "states.h"

namespace nb = nanobind;

namespace graphengine {
namespace {

constexpr std::initializer_list<const char*> kIsas = {"native", "sse4.2", "avx2", "avx512"};
constexpr uint64_t kMost32 = UINT32_MAX, kMostThreads = 4096;  // as ge.h has it

uint64_t Milliseconds(double seconds) {
  if (!(seconds >= 0) || seconds > 1e12) {
    Raise(GE_STATUS_INVALID_ARGUMENT, "a time limit wants seconds, 0 for none");
  }
  const auto ms = static_cast<uint64_t>(seconds * 1000);
  return ms == 0 && seconds > 0 ? 1 : ms;
}

struct OptionTexts {  // what pointers of ge_session_options point at
  std::deque<std::string> texts;
  std::vector<const char*> initializer_inputs;
};

// What the words of a session say, with one plugin more, unless it is empty. Its texts are kept in
// `kept`, its runtime in `words`.
ge_session_options ReadOptions(Keywords& words, OptionTexts& kept, const std::string& plugin) {
  std::deque<std::string>& texts = kept.texts;
  ge_session_options o;
  if (ge_session_options_init(&o) != GE_STATUS_OK) {
    Raise(GE_STATUS_FAILED_PRECONDITION, "libgraphengine.so is older than this package");
  }
  const auto list = [&](const char* name, const char* between) -> const char* {
    auto text = words.List(name, between);
    return text ? texts.emplace_back(std::move(*text)).c_str() : nullptr;
  };
  o.engines = list("engines", ",");
  o.plugins = list("plugins", ",");
  if (!plugin.empty() && (!o.plugins || !std::strstr(o.plugins, plugin.c_str()))) {
    o.plugins = texts.emplace_back(o.plugins ? o.plugins + ("," + plugin) : plugin).c_str();
  }
  o.passes = list("passes", ",");
  o.skip_passes = list("skip_passes", ",");
  o.pins = list("pins", ";");
  o.data_roots = list("data_roots", ":");
  for (std::string& name : words.Texts("initializer_inputs")) {
    kept.initializer_inputs.push_back(texts.emplace_back(std::move(name)).c_str());
  }
  o.initializer_inputs = kept.initializer_inputs.data();
  o.initializer_input_count = static_cast<uint32_t>(kept.initializer_inputs.size());
  o.strict_dims = words.Flag("strict_dims");
  o.threads = static_cast<uint32_t>(words.Count("threads", kMostThreads));
  o.isa_cap = words.Place("isa", kIsas);
  o.max_streams_per_device = static_cast<uint32_t>(words.Count("max_streams", kMost32));
  o.plan_cache_bytes = words.Count("plan_cache_bytes", UINT64_MAX);
  o.prices = words.Place("prices", {"", "analytic", "cached", "measure", "shipped"});
  o.replan = words.Flag("replan");
  o.measure_budget_ms = static_cast<uint32_t>(words.Count("measure_budget_ms", kMost32));
  o.denormals = words.Place("denormals", {"flush", "keep"});
  o.numerics = words.Place("numerics", {"fast", "exact"});
  o.precision = words.Place("precision", {"f32", "bf16"});
  o.policy = words.Place("policy", {"cost", "priority"});
  o.memory_limit_bytes = words.Count("memory_limit", UINT64_MAX);
  o.time_limit_ms = Milliseconds(words.Number("time_limit"));
  o.kv_cache = words.Count("kv_cache", UINT64_MAX);
  const nb::object runtime = words.Take("runtime");
  const Runtime* shared = nullptr;
  if (!runtime.is_none() && !nb::try_cast(runtime, shared)) {
    words.Refuse("runtime", runtime, "a graphengine.Runtime");
  }
  o.runtime = shared ? shared->get() : nullptr;
  const nb::object states = words.Take("states");
  const States* kept_states = nullptr;
  if (!states.is_none() && !nb::try_cast(states, kept_states)) {
    words.Refuse("states", states, "a graphengine.States");
  }
  o.states = kept_states ? kept_states->get() : nullptr;
  return o;
}

ge_session* Create(const ge_session_options& options) {
  ge_session* session = nullptr;
  ge_error error = NoError();
  ge_status status;
  {
    WithoutGil release;
    status = ge_session_create(&options, &session, &error);
  }
  Check(status, error);
  return session;
}

// Says what a graph with operators of Python wants, where there are none.
ge_status Told(ge_status status, ge_error* error) {
  if (status == GE_STATUS_OK || !std::strstr(error->message, "of domain 'python' is not known")) {
    return status;
  }
  std::snprintf(
      error->message, sizeof error->message,
      "%s: the graph calls functions of Python (custom_op), and there are none; import the "
      "module that defines them first",
      ge_status_name(status));
  return status;
}

}  // namespace

std::shared_ptr<Handle> MakeHandle(Keywords& words, const std::string& plugin) {
  OptionTexts texts;
  const ge_session_options options = ReadOptions(words, texts, plugin);
  words.CheckAllTaken();
  return std::make_shared<Handle>(Create(options));
}

Runtime::Runtime(const nb::kwargs& given) {
  Keywords words("Runtime", given);
  ge_runtime_options options{};
  options.size = sizeof options;
  options.threads = static_cast<uint32_t>(words.Count("threads", kMostThreads));
  options.isa_cap = words.Place("isa", kIsas);
  options.resident_bytes = words.Count("resident_bytes", UINT64_MAX);
  words.CheckAllTaken();
  ge_error error = NoError();
  Check(ge_runtime_create(&options, &runtime_, &error), error);
}

uint32_t Runtime::EngineCount() const {
  uint32_t n = 0;
  ge_error error = NoError();
  Check(ge_runtime_engine_count(runtime_, &n), error);
  return n;
}

Session::Session(const nb::args& models, const nb::kwargs& given) {
  Keywords words("Session", given);
  nb::object model = words.Take("model");
  if (models.size() + !model.is_none() != 1) {
    PyErr_SetString(PyExc_TypeError,
                    "Session() takes one model, a path or bytes, and all else by keywords");
    nb::raise_python_error();
  }
  if (model.is_none()) model = models[0];
  const uint32_t format = words.Place("format", {"auto", "onnx", "proto", "text"});
  const GraphBuilder* graph = nullptr;
  const bool made = nb::try_cast(model, graph) && graph;
  handle_ = MakeHandle(words, made ? std::string() : CustomPlugin());
  ge_session* session = handle_->get();
  if (made) {
    CallEngine(session, [&](ge_error* error) {
      return ge_session_load_graph(session, graph->get(), error);
    });
  } else if (PyBytes_Check(model.ptr())) {
    const char* data = PyBytes_AsString(model.ptr());
    const auto size = static_cast<uint64_t>(PyBytes_Size(model.ptr()));
    CallEngine(session, [&](ge_error* error) {
      return Told(ge_session_load_bytes(session, data, size, format, error), error);
    });
  } else {
    PyObject* path = nullptr;
    if (!PyUnicode_FSConverter(model.ptr(), &path)) nb::raise_python_error();
    const nb::object kept = nb::steal(path);
    CallEngine(session, [&](ge_error* error) {
      return Told(ge_session_load_file(session, PyBytes_AsString(path), format, error), error);
    });
  }
  for (EntryPorts& entry : ReadEntries(session)) {
    entry_names_.push_back(entry.name);
    entries_.push_back(std::make_shared<const EntryPorts>(std::move(entry)));
  }
  states_ = ReadStates(session);
  defaults_ = ReadDefaults(session);
  if (defaults_.empty()) return;
  model_ = model;
  for (auto [name, value] : given) {
    if (!name.equal(nb::str("model"))) words_[name] = value;
  }
}

void Session::SetTimeLimit(double seconds) {
  ge_session_set_time_limit(Open()->get(), Milliseconds(seconds));
  for (auto& [names, session] : overriding_) nb::inst_ptr<Session>(session)->SetTimeLimit(seconds);
}

}  // namespace graphengine
