#include "tensor_operators.h"

#include <array>
#include <cstring>
#include <span>

#include "door.h"
#include "eager.h"
#include "guard.h"
#include "model.h"
#include "raise.h"
#include "tensor.h"
#include "tensor_import.h"
#include "tensor_number.h"
#include "trace.h"

namespace nb = nanobind;

namespace graphengine {
namespace {

using Code = nb::dlpack::dtype_code;

// Kinds of element types for which an operator of ONNX is the standard's.
enum : uint32_t { kFloats = 1, kSigned = 2, kUnsigned = 4, kBools = 8 };
constexpr uint32_t kInts = kSigned | kUnsigned, kNumbers = kFloats | kInts;

uint32_t KindOf(const Element& element) {
  if (element.bits < 8) return 0;
  switch (static_cast<Code>(element.code)) {
    case Code::Float:
      return element.bits >= 32 ? uint32_t{kFloats} : 0;  // smaller ones: as functions do
    case Code::Int:
      return kSigned;
    case Code::UInt:
      return kUnsigned;
    case Code::Bool:
      return kBools;
    default:
      return 0;
  }
}

struct Operator {
  const char* function;  // of graphengine.functions
  const char* onnx;      // null: there is no such one
  uint32_t kinds;
};
enum {
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kFloorDivide,
  kRemainder,
  kPow,
  kMatmul,
  kAnd,
  kOr,
  kXor,
  kLeft,
  kRight,
  kLess,
  kLessEqual,
  kEqual,
  kNotEqual,
  kGreater,
  kGreaterEqual,
  kNegative,
  kPositive,
  kAbs,
  kInvert,
  kGetItem,
  kSetItem,
  kOperators
};
constexpr Operator kTable[kOperators] = {
    {"add", "Add", kNumbers},
    {"subtract", "Sub", kNumbers},
    {"multiply", "Mul", kNumbers},
    {"divide", "Div", kFloats},
    {"floor_divide", nullptr, 0},
    {"remainder", nullptr, 0},
    {"pow", "Pow", kFloats},
    {"matmul", "MatMul", kFloats},
    {"bitwise_and", "And", kBools},
    {"bitwise_or", "Or", kBools},
    {"bitwise_xor", "Xor", kBools},
    {"bitwise_left_shift", nullptr, 0},
    {"bitwise_right_shift", nullptr, 0},
    {"less", "Less", kNumbers},
    {"less_equal", "LessOrEqual", kNumbers},
    {"equal", "Equal", kNumbers | kBools},
    {"not_equal", nullptr, 0},
    {"greater", "Greater", kNumbers},
    {"greater_equal", "GreaterOrEqual", kNumbers},
    {"negative", "Neg", kFloats | kSigned},
    {"positive", nullptr, 0},
    {"abs", "Abs", kFloats | kSigned},
    {"bitwise_invert", "Not", kBools},
    {"getitem", nullptr, 0},
    {"setitem", nullptr, 0},
};

nb::handle Function(int op) {
  static std::array<nb::handle, kOperators> found{};  // as long as the process
  if (!found[op].is_valid()) {
    const bool indexing = op == kGetItem || op == kSetItem;
    found[op] = nb::object(nb::module_::import_(indexing ? "graphengine.functions.indexing"
                                                         : "graphengine.functions")
                               .attr(kTable[op].function))
                    .release();
  }
  return found[op];
}

// What users did wrong is told at their own line.
[[noreturn]] void RaiseAtTheUsers(nb::python_error& error) {
  error.restore();
  CutFrames();
  nb::raise_python_error();
}

template <typename... Args>
nb::object Call(int op, Args... args) {
  const nb::handle function = Function(op);
  try {
    return function(nb::handle(args)...);
  } catch (nb::python_error& error) {
    RaiseAtTheUsers(error);
  }
}

bool IsNumber(PyObject* o) { return PyFloat_Check(o) || PyLong_Check(o) || PyComplex_Check(o); }

// What functions take beside Tensors: numbers, arrays, and sizes of traces, which give Tensors.
bool IsOperand(PyObject* o) {
  if (TensorOf(o) || IsNumber(o)) return true;
  if (PyList_Check(o) || PyTuple_Check(o) || PyUnicode_Check(o) || o == Py_None) return false;
  return nb::hasattr(o, "__array__") || nb::hasattr(o, "__dlpack__") || nb::hasattr(o, "tensor");
}

// The Tensor of a number beside one of `kind`, by the standard's rule: it has that one's type. Not
// valid where a function decides.
nb::object NumberBeside(const Tensor& t, uint32_t kind, PyObject* number) {
  const bool fits = kind == kFloats ? PyFloat_CheckExact(number) || PyLong_CheckExact(number)
                                    : (kind & kInts) && PyLong_CheckExact(number);
  if (!fits) return {};
  PyObject* made = TensorOfNumber(*ElementOf(t.dtype), number);
  if (!made && PyErr_Occurred()) nb::raise_python_error();
  return nb::steal(made);
}

nb::object Straight(int op, std::span<Tensor* const> inputs) {
  try {
    return RunEager({{}, kTable[op].onnx, nullptr, inputs, 1, 0});
  } catch (nb::python_error& error) {
    RaiseAtTheUsers(error);
  }
}

// Not valid where it takes a function.
nb::object BinaryStraight(int op, PyObject* a, PyObject* b) {
  const Operator& o = kTable[op];
  Tensor *x = TensorOf(a), *y = TensorOf(b);
  const Tensor& typed = x ? *x : *y;
  if (!o.onnx || ActiveTrace() || (x && x->symbol) || (y && y->symbol)) return {};
  const uint32_t kind = KindOf(*ElementOf(typed.dtype)) & o.kinds;
  if (kind == 0 || (x && y && x->dtype != y->dtype)) return {};
  nb::object number;
  if (!x || !y) {
    if (op == kMatmul) return {};
    number = NumberBeside(typed, kind, x ? b : a);
    if (!number.is_valid()) return {};
    (x ? y : x) = TensorOf(number);
  }
  Tensor* inputs[] = {x, y};
  return Straight(op, inputs);
}

nb::object Binary(int op, PyObject* a, PyObject* b) {
  if (!IsOperand(a) || !IsOperand(b)) return nb::borrow(nb::handle(Py_NotImplemented));
  if (nb::object out = BinaryStraight(op, a, b); out.is_valid()) return out;
  return Call(op, a, b);
}

template <int op>
PyObject* BinarySlot(PyObject* a, PyObject* b) {
  return Guarded<PyObject*>(nullptr, [&] { return Binary(op, a, b).release().ptr(); });
}

std::string TypeText(const Tensor& t) {  // "float32[2, None]"
  return ElementOf(t.dtype)->name + ShapeText(t.dims, t.rank);
}

// The object stays and has another value of the same type and shape, as the standard wants it.
template <int op>
PyObject* InPlaceSlot(PyObject* a, PyObject* b) {
  return Guarded<PyObject*>(nullptr, [&]() -> PyObject* {
    Tensor* x = TensorOf(a);
    const nb::object out = Binary(op, a, b);
    Tensor* value = TensorOf(out);
    if (!x || !value) return nb::object(out).release().ptr();
    // Sizes of a trace that are not known are the trace's own to compare.
    bool same = x->dtype == value->dtype && x->rank == value->rank;
    for (int32_t i = 0; same && i < x->rank; ++i) {
      same = x->dims[i] == value->dims[i] || x->dims[i] < 0 || value->dims[i] < 0;
    }
    if (!same) {
      Raise(GE_STATUS_INVALID_ARGUMENT,
            std::string("an operator in place would make a Tensor of ") + TypeText(*x) +
                " one of " + TypeText(*value) + "; write x = x ... instead");
    }
    ReplaceValue(*x, *value);
    return Py_NewRef(a);
  });
}

PyObject* PowSlot(PyObject* a, PyObject* b, PyObject* modulo) {
  if (modulo != Py_None) return Py_NewRef(Py_NotImplemented);
  return BinarySlot<kPow>(a, b);
}
PyObject* InPlacePowSlot(PyObject* a, PyObject* b, PyObject* modulo) {
  if (modulo != Py_None) return Py_NewRef(Py_NotImplemented);
  return InPlaceSlot<kPow>(a, b);
}

template <int op>
PyObject* UnarySlot(PyObject* a) {
  return Guarded<PyObject*>(nullptr, [&] {
    Tensor* x = TensorOf(a);
    const Operator& o = kTable[op];
    if (o.onnx && !ActiveTrace() && !x->symbol && (KindOf(*ElementOf(x->dtype)) & o.kinds)) {
      return Straight(op, {&x, 1}).release().ptr();
    }
    return Call(op, a).release().ptr();
  });
}

PyObject* CompareSlot(PyObject* a, PyObject* b, int what) {
  constexpr int kByPython[] = {kLess, kLessEqual, kEqual, kNotEqual, kGreater, kGreaterEqual};
  return Guarded<PyObject*>(nullptr, [&] { return Binary(kByPython[what], a, b).release().ptr(); });
}

// ---- as a number

nb::object Number(PyObject* self, const char* wanted) {
  const Tensor& t = *TensorOf(self);
  return t.symbol ? AskTraced(self, wanted) : NumberOf(t, wanted);
}

int BoolSlot(PyObject* self) {
  return Guarded<int>(-1, [&] { return PyObject_IsTrue(Number(self, "bool").ptr()); });
}

PyObject* IntSlot(PyObject* self) {
  return Guarded<PyObject*>(nullptr, [&] { return PyNumber_Long(Number(self, "int").ptr()); });
}

PyObject* FloatSlot(PyObject* self) {
  return Guarded<PyObject*>(nullptr, [&] { return PyNumber_Float(Number(self, "float").ptr()); });
}

PyObject* IndexSlot(PyObject* self) {
  return Guarded<PyObject*>(nullptr, [&]() -> PyObject* {
    const Tensor& t = *TensorOf(self);
    if (!t.symbol && (!(KindOf(*ElementOf(t.dtype)) & kInts) || t.rank != 0)) {
      PyErr_SetString(PyExc_TypeError,
                      ("an index wants a Tensor of whole numbers without axes, "
                       "this one is of " +
                       std::string(ElementOf(t.dtype)->name) + " and " + ShapeText(t.dims, t.rank))
                          .c_str());
      return nullptr;
    }
    return PyNumber_Index(Number(self, "index").ptr());
  });
}

// ---- as a container

Py_ssize_t LengthSlot(PyObject* self) {
  return Guarded<Py_ssize_t>(-1, [&]() -> Py_ssize_t {
    const Tensor& t = *TensorOf(self);
    if (t.rank == 0) {
      PyErr_SetString(
          PyExc_TypeError,
          "len() of a Tensor without axes, wanted one axis or more; reshape it to (1,)");
      return -1;
    }
    if (t.dims[0] >= 0) return t.dims[0];
    return PyNumber_AsSsize_t(AskTraced(self, "len").ptr(), PyExc_OverflowError);
  });
}

// One of an eager Tensor along its first axis; not valid for other keys.
nb::object Row(const Tensor& t, PyObject* key) {
  const uint32_t bits = ElementOf(t.dtype)->bits;
  if (!PyLong_CheckExact(key) || t.symbol || t.rank == 0 || bits < 8 || ActiveTrace()) return {};
  Py_ssize_t i = PyLong_AsSsize_t(key);
  if (i == -1 && PyErr_Occurred()) {
    PyErr_Clear();
    return {};
  }
  if (i < 0) i += t.dims[0];
  if (i < 0 || i >= t.dims[0]) {
    PyErr_SetString(
        PyExc_IndexError,
        ("found the index " + nb::cast<std::string>(nb::str(nb::handle(key))) + ", wanted " +
         std::to_string(-t.dims[0]) + " to " + std::to_string(t.dims[0] - 1) + " along axis 0 of " +
         std::to_string(t.dims[0]) + " elements; take an index inside it, or a slice")
            .c_str());
    nb::raise_python_error();
  }
  const uint64_t bytes = t.bytes / static_cast<uint64_t>(t.dims[0]);
  MemoryRef memory = MakeMemory(bytes);
  const char* from = static_cast<const char*>(t.memory->data) + static_cast<uint64_t>(i) * bytes;
  if (bytes > 0) std::memcpy(memory.data(), from, bytes);
  PyObject* made = NewTensor(t.dtype, t.rank - 1, t.dims + 1, bytes, std::move(memory));
  if (!made) nb::raise_python_error();
  return nb::steal(made);
}

PyObject* GetItemSlot(PyObject* self, PyObject* key) {
  return Guarded<PyObject*>(nullptr, [&] {
    nb::object row = Row(*TensorOf(self), key);
    return (row.is_valid() ? row : Call(kGetItem, self, key)).release().ptr();
  });
}

int SetItemSlot(PyObject* self, PyObject* key, PyObject* value) {
  return Guarded<int>(-1, [&] {
    if (!value) {
      PyErr_SetString(
          PyExc_TypeError,
          "del of elements of a Tensor, wanted an assignment; take the others by an index instead");
      return -1;
    }
    const nb::object out = Call(kSetItem, self, key, value);
    const Tensor* next = TensorOf(out);
    if (!next) Raise(GE_STATUS_INTERNAL, "setitem gave a " + TypeName(out));
    ReplaceValue(*TensorOf(self), *next);
    return 0;
  });
}

// By identity: equal Tensors are found by comparing, which gives a Tensor.
Py_hash_t HashSlot(PyObject* self) {
  const auto address = static_cast<Py_hash_t>(reinterpret_cast<uintptr_t>(self) >> 4);
  return address == -1 ? -2 : address;
}

template <typename F>
PyType_Slot Slot(int id, F* function) {
  return {id, reinterpret_cast<void*>(function)};
}

}  // namespace

void AddOperatorSlots(std::vector<PyType_Slot>& slots) {
  const PyType_Slot all[] = {
      Slot(Py_nb_add, BinarySlot<kAdd>),
      Slot(Py_nb_subtract, BinarySlot<kSubtract>),
      Slot(Py_nb_multiply, BinarySlot<kMultiply>),
      Slot(Py_nb_true_divide, BinarySlot<kDivide>),
      Slot(Py_nb_floor_divide, BinarySlot<kFloorDivide>),
      Slot(Py_nb_remainder, BinarySlot<kRemainder>),
      Slot(Py_nb_power, PowSlot),
      Slot(Py_nb_matrix_multiply, BinarySlot<kMatmul>),
      Slot(Py_nb_and, BinarySlot<kAnd>),
      Slot(Py_nb_or, BinarySlot<kOr>),
      Slot(Py_nb_xor, BinarySlot<kXor>),
      Slot(Py_nb_lshift, BinarySlot<kLeft>),
      Slot(Py_nb_rshift, BinarySlot<kRight>),
      Slot(Py_nb_inplace_add, InPlaceSlot<kAdd>),
      Slot(Py_nb_inplace_subtract, InPlaceSlot<kSubtract>),
      Slot(Py_nb_inplace_multiply, InPlaceSlot<kMultiply>),
      Slot(Py_nb_inplace_true_divide, InPlaceSlot<kDivide>),
      Slot(Py_nb_inplace_floor_divide, InPlaceSlot<kFloorDivide>),
      Slot(Py_nb_inplace_remainder, InPlaceSlot<kRemainder>),
      Slot(Py_nb_inplace_power, InPlacePowSlot),
      Slot(Py_nb_inplace_matrix_multiply, InPlaceSlot<kMatmul>),
      Slot(Py_nb_inplace_and, InPlaceSlot<kAnd>),
      Slot(Py_nb_inplace_or, InPlaceSlot<kOr>),
      Slot(Py_nb_inplace_xor, InPlaceSlot<kXor>),
      Slot(Py_nb_inplace_lshift, InPlaceSlot<kLeft>),
      Slot(Py_nb_inplace_rshift, InPlaceSlot<kRight>),
      Slot(Py_nb_negative, UnarySlot<kNegative>),
      Slot(Py_nb_positive, UnarySlot<kPositive>),
      Slot(Py_nb_absolute, UnarySlot<kAbs>),
      Slot(Py_nb_invert, UnarySlot<kInvert>),
      Slot(Py_nb_bool, BoolSlot),
      Slot(Py_nb_int, IntSlot),
      Slot(Py_nb_float, FloatSlot),
      Slot(Py_nb_index, IndexSlot),
      Slot(Py_tp_richcompare, CompareSlot),
      Slot(Py_tp_hash, HashSlot),
      Slot(Py_mp_length, LengthSlot),
      Slot(Py_mp_subscript, GetItemSlot),
      Slot(Py_mp_ass_subscript, SetItemSlot),
  };
  slots.insert(slots.end(), std::begin(all), std::end(all));
}

}  // namespace graphengine
