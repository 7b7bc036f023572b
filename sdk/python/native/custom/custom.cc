#include "custom.h"

#include <nanobind/stl/string.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "door.h"
#include "dtype.h"
#include "ge/ge_plugin_op.h"
#include "kept_exception.h"
#include "raise.h"
#include "rule_calls.h"
#include "tensor.h"
#include "tensor_import.h"
#include "with_gil.h"
#include "without_gil.h"

namespace nb = nanobind;

namespace graphengine {
namespace {

// Calls that are in Python or wait for it, and whether the interpreter is at its end. A call counts
// itself before it looks, so that none is there once End has seen 0.
std::atomic<uint32_t> in_python{0};
std::atomic<bool> ended{false};

class Entered {
 public:
  Entered() { in_python.fetch_add(1); }
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;
  ~Entered() { in_python.fetch_sub(1); }
};

// Refuses later calls, and waits for those that are in Python; not for ever, since one may wait for
// what never comes. Of atexit.
void End() {
  constexpr int kMostMs = 5000;
  ended.store(true);
  const WithoutGil release;
  for (int ms = 0; in_python.load() != 0 && ms < kMostMs; ++ms) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// The floating-point mode of the program, not the session's, which may flush denormals: numbers
// are what numpy makes of them elsewhere.
class CallersMode {
 public:
#if defined(__x86_64__)
  explicit CallersMode(const ge_host_api* api) : former_(_mm_getcsr()) {
    if (api && api->caller_fp) _mm_setcsr(api->caller_fp(api->host));
  }
  ~CallersMode() { _mm_setcsr(former_); }
#else
  explicit CallersMode(const ge_host_api*) : former_(0) {}
#endif
  CallersMode(const CallersMode&) = delete;
  CallersMode& operator=(const CallersMode&) = delete;

 private:
  const unsigned former_;
};

ge_rc Fail(ge_err* err, ge_rc rc, std::string_view text) {
  if (!err) return rc;
  err->code = rc;
  err->msg_len = static_cast<uint32_t>(std::min(text.size(), sizeof err->msg));
  std::memcpy(err->msg, text.data(), err->msg_len);
  return rc;
}

// Calls `body` with the GIL. What it raises waits for who called the engine; the answer is `failed`
// then.
template <typename F>
ge_rc InPython(ge_err* err, ge_rc failed, F&& body) {
  const Entered entered;
  if (ended.load()) {
    return Fail(err, GE_CANCELLED, "the interpreter of Python is at its end; let runs end before");
  }
  const WithGil gil;
  try {
    body();
    return GE_OK;
  } catch (nb::python_error& error) {
    error.restore();
    CutFrames();
    return Fail(err, failed, KeepException());
  } catch (const std::bad_alloc&) {
    return Fail(err, GE_OUT_OF_MEMORY, "there is no memory for a Python operator's arrays");
  } catch (const std::exception& error) {
    return Fail(err, failed, error.what());
  }
}

// graphengine.custom_ops, as long as the process. No static of a function: its guard is a lock,
// which may not be held while Python runs.
PyObject* custom_ops = nullptr;

// Calls what graphengine.custom_ops has by this name.
template <typename... Args>
nb::object Python(const char* function, const Args&... args) {
  if (!custom_ops) custom_ops = nb::module_::import_("graphengine.custom_ops").release().ptr();
  const nb::object callable = nb::borrow(custom_ops).attr(function);
  const nb::tuple given = nb::make_tuple(args...);
  PyObject* made = nullptr;
  try {
    made = PyObject_CallObject(callable.ptr(), given.ptr());
  } catch (...) {  // pthread_exit of a thread that asks for the GIL at the end: see WithoutGil
    for (;;) pause();
  }
  if (!made) nb::raise_python_error();
  return nb::steal(made);
}

nb::object NameOf(const ge_node& node) {
  const ge_attr* name = ge_find_attr(&node, "function");
  return Text(name ? std::string_view(name->s.p, name->s.n) : std::string_view());
}

nb::object PlaceOf(const ge_node& node) {
  return Text(node.name.p ? std::string_view(node.name.p, node.name.n) : std::string_view());
}

// ---- types

// (dtype, sizes), sizes None where the number of axes is not known.
nb::object TypeOf(const ge_value& v) {
  if (v.type.dtype == 0 || v.type.dtype == GE_STRING) return nb::none();
  const nb::object dtype = nb::borrow(DTypeOf(v.type.dtype));
  if (v.type.rank < 0) return nb::make_tuple(dtype, nb::none());
  nb::list sizes;
  for (int32_t i = 0; i < v.type.rank; ++i) sizes.append(SizeFrom(v.dim[i]));
  return nb::make_tuple(dtype, nb::tuple(sizes));
}

ge_rc SetOutput(const ge_infer& c, uint32_t i, nb::handle type) {
  const nb::object dtype(type[0]), sizes(type[1]);
  const int32_t number = ElementFor(dtype, "dtype").number;
  if (sizes.is_none()) return c.output(c.host, i, number, -1, nullptr);
  std::vector<ge_dim> dims;
  for (nb::handle size : nb::borrow<nb::iterable>(sizes)) dims.push_back(SizeOf(size));
  return c.output(c.host, i, number, static_cast<int32_t>(dims.size()), dims.data());
}

ge_rc Infer(const ge_infer* c, ge_err* err) {
  ge_rc given = GE_OK;
  const ge_rc rc = InPython(err, GE_INVALID_ARGUMENT, [&] {
    const ge_node& node = *c->graph->node;
    nb::list inputs;
    for (uint32_t i = 0; i < node.n_in; ++i) inputs.append(TypeOf(*ge_input(c->graph, i)));
    const nb::object sizes = nb::cast(InferCall(c));
    struct Ending {
      InferCall* call;
      ~Ending() { call->End(); }
    } ending{nb::inst_ptr<InferCall>(sizes)};
    const nb::object types = Python("infer", NameOf(node), sizes, inputs, node.n_out);
    for (uint32_t i = 0; given == GE_OK && i < node.n_out; ++i) {
      given = SetOutput(*c, i, nb::object(types[i]));
    }
  });
  return rc == GE_OK ? given : rc;
}

// ---- kernels

[[noreturn]] void RaiseNoMemory() {
  PyErr_NoMemory();
  nb::raise_python_error();
}

// An input as a Tensor over the run's memory, in which it stays no longer than the call.
class LentInput {
 public:
  explicit LentInput(const ge_buf& buf) {
    static char nothing;
    memory_ = MemoryRef(NewMemory(
        buf.ptr ? buf.ptr : &nothing, buf.bytes, [](void*) {}, nullptr));
    if (!memory_) RaiseNoMemory();
    PyObject* made = NewTensor(buf.dtype, buf.rank, buf.dims, buf.bytes, memory_);
    if (!made) nb::raise_python_error();
    tensor_ = nb::steal(made);
  }
  nb::object Take() { return std::move(tensor_); }
  // Whether somebody still has an array over it.
  bool kept() const { return memory_.get()->owners.load(std::memory_order_acquire) > 1; }

 private:
  MemoryRef memory_;
  nb::object tensor_;
};

nb::list WantedOf(const ge_kernel_call& c, bool sized) {
  nb::list out;
  for (uint32_t i = 0; i < c.n_out; ++i) {
    const nb::object dtype = nb::borrow(DTypeOf(c.out[i].dtype));
    if (!sized) {
      out.append(nb::make_tuple(dtype, nb::none()));
      continue;
    }
    nb::list dims;
    for (int32_t k = 0; k < c.out[i].rank; ++k) dims.append(c.out[i].dims[k]);
    out.append(nb::make_tuple(dtype, nb::tuple(dims)));
  }
  return out;
}

void CopyResult(const ge_kernel_call& c, uint32_t i, nb::handle array, bool sized) {
  const nb::object made = MakeTensor(array, nb::none(), nb::none());
  const Tensor& t = *TensorOf(made);
  if (!sized && c.resize(c.host, i, t.rank, t.dims) != GE_OK) RaiseNoMemory();
  if (t.bytes != c.out[i].bytes) {  // custom_ops has compared types and sizes
    Raise(GE_STATUS_INTERNAL, "result " + std::to_string(i) + " has " + std::to_string(t.bytes) +
                                  " bytes, wanted " + std::to_string(c.out[i].bytes));
  }
  if (t.bytes > 0) std::memcpy(c.out[i].ptr, t.memory->data, t.bytes);
}

bool AnyKept(const std::vector<LentInput>& lent) {
  return std::any_of(lent.begin(), lent.end(), [](const LentInput& l) { return l.kept(); });
}

// Refuses what still has an array over the run's memory. `error`: what was raised, or none.
void RefuseKept(const ge_node& node, const std::vector<LentInput>& lent, const nb::object& error) {
  if (!AnyKept(lent)) return;
  if (!error.is_none()) Python("forget_locals", error);
  if (AnyKept(lent)) Python("collect");
  for (size_t i = 0; i < lent.size(); ++i) {
    if (lent[i].kept()) Python("refuse_kept", NameOf(node), PlaceOf(node), i, error);
  }
}

// Throws what was raised, which keeps no array over the run's memory then.
[[noreturn]] void ThrowWithoutArrays(const ge_node& node, nb::python_error& error,
                                     const std::vector<LentInput>& lent) {
  error.restore();
  PyObject *type = nullptr, *raised = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &raised, &trace);
  PyErr_NormalizeException(&type, &raised, &trace);
  if (trace) PyException_SetTraceback(raised, trace);
  const nb::object kept_type = nb::steal(type), kept = nb::steal(raised);
  Py_XDECREF(trace);
  RefuseKept(node, lent, kept);
  PyErr_SetObject(kept_type.ptr(), kept.ptr());
  nb::raise_python_error();
}

void RunFunction(const ge_kernel_call& c, bool sized) {
  std::vector<LentInput> lent;
  lent.reserve(c.n_in);
  try {
    nb::list inputs;
    for (uint32_t i = 0; i < c.n_in; ++i) inputs.append(lent.emplace_back(c.in[i]).Take());
    const nb::object results =
        Python("run", NameOf(*c.node), PlaceOf(*c.node), inputs, WantedOf(c, sized));
    for (uint32_t i = 0; i < c.n_out; ++i) CopyResult(c, i, nb::object(results[i]), sized);
  } catch (nb::python_error& error) {
    ThrowWithoutArrays(*c.node, error, lent);
  }
  RefuseKept(*c.node, lent, nb::none());
}

ge_rc Kernel(const ge_kernel_call* c, ge_err* err, bool sized) {
  const CallersMode mode(c->api);
  return InPython(err, GE_INTERNAL, [&] { RunFunction(*c, sized); });
}

ge_rc KnownSizes(const ge_kernel_call* c, ge_err* err) { return Kernel(c, err, true); }
ge_rc SizesOfData(const ge_kernel_call* c, ge_err* err) { return Kernel(c, err, false); }

// ---- gradients

nb::list Numbers(const uint32_t* values, uint32_t n) {
  nb::list out;
  for (uint32_t i = 0; i < n; ++i) out.append(values[i]);
  return out;
}

ge_rc Gradient(const ge_builder* b, const uint32_t* out_grad, uint32_t* in_grad, ge_err* err) {
  return InPython(err, GE_INVALID_ARGUMENT, [&] {
    const ge_node& node = *b->graph->node;
    std::vector<uint32_t> outputs(node.n_out);
    for (uint32_t i = 0; i < node.n_out; ++i) outputs[i] = node.n_in + 1 + i;  // see rule 2
    const nb::object graph = nb::cast(BuilderCall(b));
    struct Ending {
      BuilderCall* call;
      ~Ending() { call->End(); }
    } ending{nb::inst_ptr<BuilderCall>(graph)};
    const nb::object made =
        Python("derive", NameOf(node), PlaceOf(node), graph, Numbers(node.in, node.n_in),
               Numbers(outputs.data(), node.n_out), Numbers(out_grad, node.n_out));
    for (uint32_t i = 0; i < node.n_in; ++i) in_grad[i] = nb::cast<uint32_t>(nb::object(made[i]));
  });
}

// ---- the plugin

constexpr ge_port kInput = {
    {"inputs", 6}, 0, {nullptr, 0}, GE_PORT_OPTIONAL | GE_PORT_VARIADIC, 0, {}};
constexpr ge_port kOutput = {{"outputs", 7}, 0, {nullptr, 0}, GE_PORT_VARIADIC, 1, {}};
constexpr ge_attr_def FunctionName() {
  ge_attr_def def{};
  def.value.name = {"function", 8};
  def.value.kind = GE_ATTR_STRING;
  def.flags = GE_ATTR_REQUIRED;
  return def;
}
constexpr ge_attr_def kName = FunctionName();

// Functions may do more than answer (print, count, draw random numbers): GE_OP_RANDOM, so that none
// is called at load, and none once for two nodes.
constexpr ge_op_def Operator(ge_str name, bool sized) {
  ge_op_def def{};
  def.h = GE_HDR(ge_op_def, GE_TAG_OP_DEF);
  def.domain = {"python", 6};
  def.name = name;
  def.version = 1;
  def.flags = GE_OP_RANDOM | (sized ? 0u : static_cast<uint32_t>(GE_OP_DATA_SIZED));
  def.input = &kInput;
  def.output = &kOutput;
  def.attr = &kName;
  def.n_input = def.n_output = def.n_attr = 1;
  def.infer = Infer;
  def.kernel = sized ? KnownSizes : SizesOfData;
  def.grad = Gradient;
  return def;
}
constexpr ge_op_def kOperators[] = {Operator({"Function", 8}, true),
                                    Operator({"FunctionDataSized", 17}, false)};

constexpr ge_plugin_desc Descriptor() {
  ge_plugin_desc desc{};
  desc.magic = GE_PLUGIN_MAGIC;
  desc.h = GE_HDR(ge_plugin_desc, GE_TAG_PLUGIN);
  desc.abi_major = GE_ABI_MAJOR;
  desc.abi_minor = GE_ABI_MINOR;
  desc.header_hash = GE_HEADER_HASH;
  desc.name = {"python", 6};
  desc.version = {"1.0", 3};
  desc.vendor = {"graphengine", 11};
  desc.kinds = GE_KIND_OPS;
  desc.sanitizer = GE_SANITIZER_HERE;
  desc.op = kOperators;
  desc.n_op = sizeof kOperators / sizeof kOperators[0];
  desc.op_stride = sizeof kOperators[0];
  return desc;
}
constexpr ge_plugin_desc kDescriptor = Descriptor();

std::string& PluginPath() {
  static std::string* path = new std::string;
  return *path;
}

}  // namespace

const std::string& CustomPlugin() { return PluginPath(); }

void AddCustom(nb::module_& m) {
  AddRuleCalls(m);
  m.def(
      "begin_custom", [](const std::string& path) { PluginPath() = path; }, nb::arg("path"),
      "There are operators of Python from now on; path: this extension's file.");
  m.def("end_custom", End,
        "Waits for operators of Python that run now; later ones are refused. Of atexit.");
}

}  // namespace graphengine

extern "C" GE_EXPORT const ge_plugin_desc* ge_plugin_query(ge_query_args*) {
  return &graphengine::kDescriptor;
}
