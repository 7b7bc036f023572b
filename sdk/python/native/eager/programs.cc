#include "programs.h"

#include <structmember.h>

#include <cstddef>
#include <cstring>
#include <new>
#include <span>
#include <vector>

#include "door.h"
#include "guard.h"
#include "raise.h"
#include "session.h"
#include "tensor.h"
#include "trace.h"

namespace nb = nanobind;

namespace graphengine {
namespace {

// Programs end to be valid where a Module goes from training to evaluation or back.
uint64_t mode = 0;
thread_local int32_t at_once = 0;  // within how many ge.eager() this thread is

// A program of one set of types and sizes, which answers one Tensor.
struct Program {
  std::vector<int64_t> key;  // dtype, rank, sizes of each argument
  nb::object owner;          // graphengine.jit's program: keeps the session and its Variables
  Session* session;
};

struct Programs {
  PyObject_HEAD vectorcallfunc call;
  PyObject* weak;
  uint64_t mode;  // of all in `known`
  std::vector<Program> known;
};

Programs& Of(PyObject* self) { return *reinterpret_cast<Programs*>(self); }

bool IsOf(const Program& p, std::span<PyObject* const> args) {
  size_t at = 0;
  const size_t n = p.key.size();
  for (PyObject* arg : args) {
    const Tensor* t = TensorOf(arg);
    if (!t || t->symbol || at + 2 + static_cast<size_t>(t->rank) > n) return false;
    if (p.key[at] != t->dtype || p.key[at + 1] != t->rank) return false;
    if (std::memcmp(&p.key[at + 2], t->dims, sizeof(int64_t) * static_cast<size_t>(t->rank)) != 0) {
      return false;
    }
    at += 2 + static_cast<size_t>(t->rank);
  }
  return at == n;
}

PyObject* Slow(PyObject* self, PyObject* const* args, size_t n, PyObject* names) {
  PyObject* method = PyObject_GetAttrString(self, "_call");
  if (!method) return nullptr;
  PyObject* out = PyObject_Vectorcall(method, args, n, names);
  Py_DECREF(method);
  if (!out) CutFrames();
  return out;
}

PyObject* Call(PyObject* self, PyObject* const* args, size_t flagged, PyObject* names) {
  Programs& programs = Of(self);
  const bool plain = !names && at_once == 0 && !ActiveTrace() && programs.mode == mode;
  const size_t n = static_cast<size_t>(PyVectorcall_NARGS(flagged));
  for (const Program& p : programs.known) {
    if (!plain || !IsOf(p, {args, n})) continue;
    PyObject* out = Guarded<PyObject*>(nullptr, [&] {
      const nb::object kept = p.owner;  // another thread may take it out of the list
      try {
        const nb::object made = p.session->RunOnTensors(std::span<PyObject* const>(args, n));
        return Py_NewRef(PyTuple_GetItem(made.ptr(), 0));
      } catch (nb::python_error& error) {
        kept.attr("failed")(error.value());
        error.restore();
        nb::raise_python_error();
      }
    });
    if (!out) CutFrames();
    return out;
  }
  return Slow(self, args, n, names);
}

// _keep(args, program): calls with such arguments run the program's session from now on.
PyObject* Keep(PyObject* self, PyObject* args) {
  return Guarded<PyObject*>(nullptr, [&]() -> PyObject* {
    PyObject *given = nullptr, *program = nullptr;
    if (!PyArg_ParseTuple(args, "O!O:_keep", &PyTuple_Type, &given, &program)) return nullptr;
    constexpr size_t kMost = 16;  // they are looked through one by one
    Program p;
    for (nb::handle arg : nb::borrow<nb::tuple>(given)) {
      const Tensor* t = TensorOf(arg);
      if (!t || t->symbol) return Py_NewRef(Py_None);
      p.key.insert(p.key.end(), {t->dtype, t->rank});
      p.key.insert(p.key.end(), t->dims, t->dims + t->rank);
    }
    p.owner = nb::borrow(program);
    p.session = nb::cast<Session*>(nb::object(p.owner.attr("session")));
    Programs& programs = Of(self);
    std::vector<Program> gone;
    if (programs.mode != mode || programs.known.size() >= kMost) gone.swap(programs.known);
    programs.mode = mode;
    programs.known.push_back(std::move(p));
    return Py_NewRef(Py_None);
  });
}

PyObject* New(PyTypeObject* type, PyObject*, PyObject*) {
  const auto alloc = reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc));
  PyObject* self = alloc(type, 0);
  if (!self) return nullptr;
  Of(self).call = Call;
  new (&Of(self).known) std::vector<Program>();
  return self;
}

int Init(PyObject*, PyObject*, PyObject*) { return 0; }

int Traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  for (const Program& p : Of(self).known) Py_VISIT(p.owner.ptr());
  return 0;
}

int Clear(PyObject* self) {
  std::vector<Program> gone;
  gone.swap(Of(self).known);
  return 0;
}

void Dealloc(PyObject* self) {
  PyObject_GC_UnTrack(self);
  if (Of(self).weak) PyObject_ClearWeakRefs(self);
  Clear(self);
  Of(self).known.~vector();
  PyTypeObject* type = Py_TYPE(self);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

PyMethodDef methods[] = {
    {"_keep", Keep, METH_VARARGS,
     "_keep(tensors, program): calls with Tensors of these types and sizes run the first entry of "
     "program.session, which answers one Tensor."},
    {nullptr, nullptr, 0, nullptr}};
PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Programs, call), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Programs, weak), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};
PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(New)},
                       {Py_tp_init, reinterpret_cast<void*>(Init)},
                       {Py_tp_dealloc, reinterpret_cast<void*>(Dealloc)},
                       {Py_tp_traverse, reinterpret_cast<void*>(Traverse)},
                       {Py_tp_clear, reinterpret_cast<void*>(Clear)},
                       {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                       {Py_tp_methods, methods},
                       {Py_tp_members, members},
                       {0, nullptr}};

}  // namespace

void AddPrograms(nb::module_& m) {
  const std::string name = nb::cast<std::string>(m.attr("__name__")) + ".Programs";
  PyType_Spec spec{
      name.c_str(), sizeof(Programs), 0,
      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_BASETYPE,
      slots};
  PyObject* type = PyType_FromSpec(&spec);
  if (!type) nb::raise_python_error();
  m.attr("Programs") = nb::steal(type);
  m.def(
      "mode", [] { return mode; }, "Grows whenever a Module's training mode changes.");
  m.def("change_mode", [] { ++mode; });
  m.def(
      "at_once", [](int32_t by) { return at_once += by; }, nb::arg("by"),
      "Within how many ge.eager() this thread is, `by` more than before.");
}

}  // namespace graphengine
