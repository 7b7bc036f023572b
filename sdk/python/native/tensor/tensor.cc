#include "tensor.h"

#include <nanobind/stl/string.h>
#include <structmember.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "array.h"
#include "dtype.h"
#include "guard.h"
#include "model.h"
#include "raise.h"
#include "tensor_export.h"
#include "tensor_import.h"
#include "tensor_number.h"
#include "tensor_operators.h"
#include "trace.h"

namespace nb = nanobind;

namespace graphengine {
namespace {

PyTypeObject* base_type = nullptr;  // _native.Tensor
PyTypeObject* made_type = nullptr;  // what NewTensor makes; owned, as long as the process

Tensor& Of(PyObject* self) { return *reinterpret_cast<Tensor*>(self); }

int Traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(Of(self).symbol);
  Py_VISIT(Of(self).shape);
  return 0;
}

int Clear(PyObject* self) {
  Py_CLEAR(Of(self).symbol);
  Py_CLEAR(Of(self).shape);
  return 0;
}

void Dealloc(PyObject* self) {
  PyObject_GC_UnTrack(self);
  Tensor& t = Of(self);
  if (t.weak) PyObject_ClearWeakRefs(self);
  Clear(self);
  { const MemoryRef dropped(t.memory); }
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_Del(self);
  Py_DECREF(type);
}

// Of a new object: nothing is in it.
void Empty(Tensor& t) {
  t.weak = t.symbol = t.shape = nullptr;
  t.memory = nullptr;
}

PyObject* New(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  return Guarded<PyObject*>(nullptr, [&]() -> PyObject* {
    PyObject *object = nullptr, *dtype = Py_None, *copy = Py_None;
    static const char* names[] = {"object", "dtype", "copy", nullptr};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|OO:Tensor", const_cast<char**>(names),
                                     &object, &dtype, &copy)) {
      return nullptr;
    }
    const nb::object tensor = MakeTensor(object, dtype, copy);
    if (Py_TYPE(tensor.ptr()) == type && type == made_type) {
      return nb::object(tensor).release().ptr();
    }
    const auto alloc = reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc));
    PyObject* self = alloc(type, 0);
    if (!self) return nullptr;
    Empty(Of(self));
    ReplaceValue(Of(self), *TensorOf(tensor));
    return self;
  });
}

PyObject* GetDType(PyObject* self, void*) { return Py_NewRef(DTypeOf(Of(self).dtype).ptr()); }

PyObject* GetShape(PyObject* self, void*) {
  return Guarded<PyObject*>(nullptr, [&] { return ShapeOf(Of(self)).inc_ref().ptr(); });
}

PyObject* GetNdim(PyObject* self, void*) { return PyLong_FromLong(Of(self).rank); }

// A product of Python's, since sizes of a traced one may be objects.
PyObject* GetSize(PyObject* self, void*) {
  Tensor& t = Of(self);
  if (!t.symbol) return PyLong_FromLongLong(ElementsOf(t));
  return Guarded<PyObject*>(nullptr, [&] {
    nb::object size = nb::int_(1);
    for (nb::handle each : nb::borrow<nb::tuple>(ShapeOf(t))) size = size * nb::borrow(each);
    return size.release().ptr();
  });
}

PyObject* GetBytes(PyObject* self, void*) {
  return Guarded<PyObject*>(nullptr, [&] {
    if (Of(self).symbol) return AskTraced(self, "nbytes").release().ptr();
    return PyLong_FromUnsignedLongLong(Of(self).bytes);
  });
}

PyObject* GetSymbol(PyObject* self, void*) {
  return Py_NewRef(Of(self).symbol ? Of(self).symbol : Py_None);
}

PyObject* GetIsTraced(PyObject* self, void*) { return PyBool_FromLong(Of(self).symbol != nullptr); }

// Sizes of a traced one.
void TakeShape(Tensor& t, nb::handle shape) {
  nb::tuple sizes = nb::steal<nb::tuple>(PySequence_Tuple(shape.ptr()));
  if (!sizes.is_valid()) nb::raise_python_error();
  const size_t rank = nb::len(sizes);
  if (rank > GE_MAX_RANK) {
    Raise(GE_STATUS_LIMIT_EXCEEDED,
          "a Tensor has " + std::to_string(rank) + " axes, at most " + std::to_string(GE_MAX_RANK));
  }
  t.rank = static_cast<int32_t>(rank);
  for (size_t i = 0; i < rank; ++i) {
    const nb::object size(sizes[i]);
    if (!PyLong_Check(size.ptr()) || !nb::try_cast(size, t.dims[i])) t.dims[i] = -1;
  }
  PyObject* former = std::exchange(t.shape, sizes.release().ptr());
  Py_XDECREF(former);
}

PyObject* ReplaceValueOf(PyObject* self, PyObject* other) {
  return Guarded<PyObject*>(nullptr, [&]() -> PyObject* {
    const Tensor* from = TensorOf(other);
    if (!from) {
      Raise(GE_STATUS_INVALID_ARGUMENT,
            "replace_value got a " + TypeName(other) + ", wanted a Tensor");
    }
    ReplaceValue(Of(self), *from);
    return Py_NewRef(Py_None);
  });
}

// Of a traced one, whose sizes may be objects that know of it.
PyObject* SetShape(PyObject* self, PyObject* shape) {
  return Guarded<PyObject*>(nullptr, [&]() -> PyObject* {
    Tensor& t = Of(self);
    if (!t.symbol) Raise(GE_STATUS_INVALID_ARGUMENT, "set_shape is of traced Tensors");
    TakeShape(t, shape);
    return Py_NewRef(Py_None);
  });
}

PyGetSetDef getset[] = {
    {"dtype", GetDType, nullptr, "Its element type.", nullptr},
    {"shape", GetShape, nullptr, "A tuple of its sizes.", nullptr},
    {"ndim", GetNdim, nullptr, "The number of its axes.", nullptr},
    {"size", GetSize, nullptr, "The number of its elements.", nullptr},
    {"nbytes", GetBytes, nullptr, "The bytes of its elements.", nullptr},
    {"symbol", GetSymbol, nullptr, "The value of a trace; None: it is eager.", nullptr},
    {"is_traced", GetIsTraced, nullptr, "Whether it stands for a value of a trace.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyMethodDef methods[] = {
    {"replace_value", ReplaceValueOf, METH_O,
     "replace_value($self, other, /)\n--\n\nHas the value of `other` from now on."},
    {"set_shape", SetShape, METH_O,
     "set_shape($self, shape, /)\n--\n\nOf a traced one: its sizes, ints or any objects."},
    {"numpy", reinterpret_cast<PyCFunction>(TensorNumpy), METH_NOARGS,
     "numpy($self, /)\n--\n\nAn array of numpy over its memory, which is not written to."},
    {"item", reinterpret_cast<PyCFunction>(TensorItem), METH_NOARGS,
     "item($self, /)\n--\n\nIts one element as a number of Python."},
    {"__array__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(TensorArray)),
     METH_VARARGS | METH_KEYWORDS, "__array__($self, dtype=None, copy=None)\n--\n\nFor numpy."},
    {"__dlpack__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(TensorDlpack)),
     METH_VARARGS | METH_KEYWORDS,
     "__dlpack__($self, *, stream=None, max_version=None, dl_device=None, copy=None)\n--\n\n"
     "A capsule for any framework's from_dlpack."},
    {"__dlpack_device__", TensorDlpackDevice, METH_NOARGS,
     "__dlpack_device__($self, /)\n--\n\nThe CPU."},
    {nullptr, nullptr, 0, nullptr}};

PyMemberDef members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Tensor, weak), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

nb::object UseTensorType(nb::handle type) {
  auto* next = reinterpret_cast<PyTypeObject*>(type.ptr());
  if (!PyType_Check(type.ptr()) || !PyType_IsSubtype(next, base_type) ||
      nb::cast<size_t>(type.attr("__basicsize__")) != sizeof(Tensor) ||
      nb::cast<Py_ssize_t>(type.attr("__dictoffset__")) != 0) {
    Raise(GE_STATUS_INVALID_ARGUMENT, "wanted a class under _native.Tensor with __slots__ = ()");
  }
  Py_INCREF(type.ptr());
  nb::object former = nb::steal(reinterpret_cast<PyObject*>(made_type));
  made_type = next;
  return former;
}

nb::object Traced(nb::handle symbol, nb::handle dtype, nb::handle shape) {
  if (symbol.is_none()) Raise(GE_STATUS_INVALID_ARGUMENT, "a traced Tensor's symbol is None");
  nb::object made = NewTensor(TensorValue{ElementFor(dtype, "dtype").number, 0, 0, {}, {}});
  Tensor& t = *TensorOf(made);
  t.symbol = symbol.inc_ref().ptr();
  PyObject_GC_Track(made.ptr());  // its symbol may know of it
  TakeShape(t, shape);
  return made;
}

// Another object of the same value.
nb::object Alias(nb::handle tensor) {
  const Tensor* from = TensorOf(tensor);
  if (!from) {
    Raise(GE_STATUS_INVALID_ARGUMENT, "alias got a " + TypeName(tensor) + ", wanted a Tensor");
  }
  nb::object made = NewTensor(TensorValue{from->dtype, 0, 0, {}, {}});
  ReplaceValue(*TensorOf(made), *from);
  return made;
}

bool SameMemory(nb::handle a, nb::handle b) {
  const Tensor *x = TensorOf(a), *y = TensorOf(b);
  return x && y && x->memory && x->memory == y->memory && x->dtype == y->dtype &&
         x->rank == y->rank && std::equal(x->dims, x->dims + x->rank, y->dims);
}

}  // namespace

Tensor* TensorOf(PyObject* object) {
  const bool is = Py_TYPE(object) == made_type || PyObject_TypeCheck(object, base_type);
  return is ? reinterpret_cast<Tensor*>(object) : nullptr;
}

PyObject* NewTensor(int32_t dtype, int32_t rank, const int64_t* dims, uint64_t bytes,
                    MemoryRef memory) {
  auto* t = PyObject_GC_New(Tensor, made_type);
  if (!t) return nullptr;
  Empty(*t);
  t->dtype = dtype;
  t->rank = rank;
  t->bytes = bytes;
  std::copy_n(dims, rank, t->dims);
  t->memory = memory.release();
  return reinterpret_cast<PyObject*>(t);
}

nb::object NewTensor(TensorValue value) {
  PyObject* made =
      NewTensor(value.dtype, value.rank, value.dims, value.bytes, std::move(value.memory));
  if (!made) nb::raise_python_error();
  return nb::steal(made);
}

void ReplaceValue(Tensor& tensor, const Tensor& from) {
  if (&tensor == &from) return;
  const MemoryRef dropped(std::exchange(tensor.memory, nullptr));
  if (from.memory) from.memory->owners.fetch_add(1, std::memory_order_relaxed);
  tensor.memory = from.memory;
  tensor.dtype = from.dtype;
  tensor.rank = from.rank;
  tensor.bytes = from.bytes;
  std::copy_n(from.dims, from.rank, tensor.dims);
  PyObject* self = reinterpret_cast<PyObject*>(&tensor);
  if (from.symbol && !PyObject_GC_IsTracked(self)) PyObject_GC_Track(self);
  PyObject* symbol = std::exchange(tensor.symbol, Py_XNewRef(from.symbol));
  PyObject* shape = std::exchange(tensor.shape, Py_XNewRef(from.shape));
  Py_XDECREF(symbol);
  Py_XDECREF(shape);
}

uint64_t TensorBytes(const Element& element, int32_t rank, const int64_t* dims) {
  int64_t bits = element.bits;
  bool fits = true;
  for (int32_t i = 0; i < rank; ++i) {
    if (dims[i] == 0) return 0;
    fits = fits && dims[i] > 0 && !__builtin_mul_overflow(bits, dims[i], &bits);
  }
  if (!fits || bits > INT64_MAX - 7) {
    Raise(GE_STATUS_LIMIT_EXCEEDED,
          "a Tensor of " + ShapeText(dims, rank) + " has more than 2^63 bits; make a smaller one");
  }
  return static_cast<uint64_t>((bits + 7) / 8);
}

MemoryRef MakeMemory(uint64_t bytes) {
  MemoryRef memory(NewMemory(bytes));
  if (!memory) {
    PyErr_NoMemory();
    nb::raise_python_error();
  }
  return memory;
}

nb::handle ShapeOf(Tensor& tensor) {
  if (tensor.shape) return tensor.shape;
  nb::object shape = nb::steal(PyTuple_New(tensor.rank));
  if (!shape.is_valid()) nb::raise_python_error();
  for (int32_t i = 0; i < tensor.rank; ++i) {
    PyObject* size = PyLong_FromLongLong(tensor.dims[i]);
    if (!size || PyTuple_SetItem(shape.ptr(), i, size) != 0) nb::raise_python_error();
  }
  tensor.shape = shape.release().ptr();
  return tensor.shape;
}

int64_t ElementsOf(const Tensor& tensor) {
  int64_t elements = 1;
  for (int32_t i = 0; i < tensor.rank; ++i) elements *= tensor.dims[i];
  return elements;
}

ge_tensor ViewOf(const Tensor& tensor) {
  ge_tensor view;
  view.size = sizeof view;
  view.dtype = tensor.dtype;
  view.rank = tensor.rank;
  view.flags = 0;
  std::copy_n(tensor.dims, tensor.rank, view.dims);
  view.data = tensor.memory->data;
  view.bytes = tensor.bytes;
  return view;
}

MemoryRef ShareMemory(const Tensor& tensor) {
  tensor.memory->owners.fetch_add(1, std::memory_order_relaxed);
  return MemoryRef(tensor.memory);
}

void AddTensor(nb::module_& m) {
  std::vector<PyType_Slot> slots = {
      {Py_tp_doc, const_cast<char*>("An array of numbers, eager or of a trace.")},
      {Py_tp_new, reinterpret_cast<void*>(New)},
      {Py_tp_dealloc, reinterpret_cast<void*>(Dealloc)},
      {Py_tp_traverse, reinterpret_cast<void*>(Traverse)},
      {Py_tp_clear, reinterpret_cast<void*>(Clear)},
      {Py_tp_getset, getset},
      {Py_tp_methods, methods},
      {Py_tp_members, members},
      {Py_bf_getbuffer, reinterpret_cast<void*>(TensorGetBuffer)},
      {Py_bf_releasebuffer, reinterpret_cast<void*>(TensorReleaseBuffer)},
  };
  AddOperatorSlots(slots);
  slots.push_back({0, nullptr});
  const std::string name = nb::cast<std::string>(m.attr("__name__")) + ".Tensor";
  PyType_Spec spec{name.c_str(), sizeof(Tensor), 0,
                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots.data()};
  PyObject* type = PyType_FromSpec(&spec);
  if (!type) nb::raise_python_error();
  base_type = made_type = reinterpret_cast<PyTypeObject*>(type);
  Py_INCREF(type);
  m.attr("Tensor") = nb::steal(type);
  m.def("use_tensor_type", UseTensorType, nb::arg("type"),
        nb::sig("def use_tensor_type(type: type) -> typing.Any"),
        "The class of all Tensors made from now on: one under Tensor with __slots__ = ().");
  m.def("traced", Traced, nb::arg("symbol").none(), nb::arg("dtype"), nb::arg("shape"),
        nb::sig("def traced(symbol: typing.Any, dtype: typing.Any, "
                "shape: typing.Iterable[typing.Any]) -> typing.Any"),
        "A Tensor that stands for a value of a trace; its sizes are ints or any objects.");
  m.def("alias", Alias, nb::arg("tensor"), nb::sig("def alias(tensor: typing.Any) -> typing.Any"),
        "Another object of the same value, which keeps it when this one gets another.");
  m.def("same_memory", SameMemory, nb::arg("a"), nb::arg("b"),
        nb::sig("def same_memory(a: typing.Any, b: typing.Any) -> bool"),
        "Whether two eager Tensors have one value and one memory.");
  m.def("tensor", MakeTensor, nb::arg("object").none(), nb::arg("dtype") = nb::none(),
        nb::arg("copy") = nb::none(),
        nb::sig("def tensor(object: typing.Any, dtype: typing.Any = None, "
                "copy: bool | None = None) -> typing.Any"),
        "A Tensor of an array, of a number or of lists of them. Dense arrays are shared, unless "
        "copy is True\nor dtype another; copy False: what cannot be shared is refused. Numbers "
        "of Python become float32,\nint64, bool or complex64.");
}

}  // namespace graphengine
