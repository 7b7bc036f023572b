#include "tensor_import.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "array.h"
#include "dtype.h"
#include "eager.h"
#include "raise.h"
#include "trace.h"

namespace nb = nanobind;

namespace graphengine {
namespace {

using Code = nb::dlpack::dtype_code;
const std::string kWhat = "the array";  // in messages

// Writes a number in as many bytes as `element` has; false where it is of another kind or range.
bool WriteFloat(const Element& element, PyObject* number, void* out) {
  const double value = PyFloat_AsDouble(number);
  if (value == -1 && PyErr_Occurred()) {
    PyErr_Clear();
    return false;
  }
  if (element.bits == 64) {
    std::memcpy(out, &value, sizeof value);
    return true;
  }
  if (element.bits != 32) return false;
  const auto single = static_cast<float>(value);
  std::memcpy(out, &single, sizeof single);
  return true;
}

bool WriteInt(const Element& element, PyObject* number, void* out) {
  if (!PyLong_Check(number) || element.bits < 8) return false;
  const bool sign = static_cast<Code>(element.code) == Code::Int;
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(number, &overflow);
  if (overflow > 0 && !sign && element.bits == 64) {
    const uint64_t large = PyLong_AsUnsignedLongLong(number);
    if (PyErr_Occurred()) {
      PyErr_Clear();
      return false;
    }
    std::memcpy(out, &large, sizeof large);
    return true;
  }
  const int bits = element.bits - (sign ? 1 : 0);
  const bool fits =
      overflow == 0 && (sign || value >= 0) &&
      (bits >= 63 || (value < (int64_t{1} << bits) && value >= -(int64_t{1} << bits)));
  if (!fits) return false;
  std::memcpy(out, &value, element.bits / 8);  // the lowest bytes come first
  return true;
}

bool Write(const Element& element, PyObject* number, void* out) {
  switch (static_cast<Code>(element.code)) {
    case Code::Float:
      return (PyFloat_Check(number) || PyLong_Check(number)) && WriteFloat(element, number, out);
    case Code::Int:
    case Code::UInt:
      return WriteInt(element, number, out);
    case Code::Bool: {
      if (!PyBool_Check(number)) return false;
      *static_cast<uint8_t*>(out) = number == Py_True;
      return true;
    }
    default:
      return false;
  }
}

// The type that the standard gives to a number of Python; null for another object.
const Element* DefaultOf(PyObject* object) {
  if (PyFloat_CheckExact(object)) return ElementNamed("float32");
  if (PyBool_Check(object)) return ElementNamed("bool");
  if (PyLong_CheckExact(object)) return ElementNamed("int64");
  return nullptr;
}

[[noreturn]] void RefuseCopy() {
  nb::module_::import_("graphengine._error")
      .attr("raise_bad_value")("copy is False, and " + kWhat +
                               " cannot be shared as it is: give copy=None");
  nb::raise_python_error();
}

// Lists of Python's numbers have the standard's default types, numpy's are wider.
nb::object NumpyOf(nb::handle object, const Element* wanted) {
  nb::object numpy = nb::module_::import_("numpy");
  try {
    if (wanted && wanted->numpy) return numpy.attr("asarray")(object, wanted->name);
    nb::object array = numpy.attr("asarray")(object);
    const auto name = nb::cast<std::string>(nb::str(nb::object(array.attr("dtype"))));
    if (name == "float64") return array.attr("astype")("float32");
    if (name == "complex128") return array.attr("astype")("complex64");
    return array;
  } catch (nb::python_error& error) {
    Raise(GE_STATUS_INVALID_ARGUMENT,
          kWhat + " is a " + TypeName(object) +
              " that numpy makes no array of: " + nb::cast<std::string>(nb::str(error.value())));
  }
}

void ReleaseArray(void* context) {
  // After the interpreter's end nobody reads it, and nobody may have the GIL.
  if (!Py_IsInitialized()) return;
  const PyGILState_STATE state = PyGILState_Ensure();
  delete static_cast<BorrowedArray*>(context);
  PyGILState_Release(state);
}

nb::object Shared(nb::handle object, bool may_copy, bool copy) {
  auto array = std::make_unique<BorrowedArray>();
  array->Read(object, kWhat, nullptr);
  const ge_tensor& view = array->tensor();
  if (array->copied() && !may_copy) RefuseCopy();
  TensorValue value{view.dtype, view.rank, view.bytes, {}, {}};
  std::copy_n(view.dims, view.rank, value.dims);
  if (copy && !array->copied()) {
    value.memory = MakeMemory(view.bytes);
    if (view.bytes > 0) std::memcpy(value.memory.data(), view.data, view.bytes);
    return NewTensor(std::move(value));
  }
  value.memory = MemoryRef(NewMemory(view.data, view.bytes, ReleaseArray, array.get()));
  if (!value.memory) {
    PyErr_NoMemory();
    nb::raise_python_error();
  }
  (void)array.release();
  return NewTensor(std::move(value));
}

nb::object OfTensor(nb::handle object, const Element* wanted, bool may_copy, bool copy) {
  Tensor& t = *TensorOf(object);
  if (wanted && wanted->number != t.dtype) {
    if (!may_copy) RefuseCopy();
    return Cast(object, *wanted);
  }
  if (!copy || t.symbol) return nb::borrow(object);
  TensorValue value{t.dtype, t.rank, t.bytes, {}, MakeMemory(t.bytes)};
  std::copy_n(t.dims, t.rank, value.dims);
  if (t.bytes > 0) std::memcpy(value.memory.data(), t.memory->data, t.bytes);
  return NewTensor(std::move(value));
}

// Null where it takes more than writing the number down.
nb::object OfNumber(nb::handle object, const Element* wanted) {
  const Element* element = DefaultOf(object.ptr());
  if (!element) return {};
  PyObject* made = TensorOfNumber(wanted ? *wanted : *element, object.ptr());
  if (!made && PyErr_Occurred()) nb::raise_python_error();
  return nb::steal(made);
}

}  // namespace

PyObject* TensorOfNumber(const Element& element, PyObject* number) {
  uint64_t bits = 0;
  if (!Write(element, number, &bits)) return nullptr;
  const uint64_t bytes = (element.bits + 7) / 8;
  MemoryRef memory(NewMemory(bytes));
  if (!memory) return PyErr_NoMemory();
  std::memcpy(memory.data(), &bits, bytes);
  return NewTensor(element.number, 0, nullptr, bytes, std::move(memory));
}

nb::object MakeTensor(nb::handle object, nb::handle dtype, nb::handle copy) {
  const Element* wanted = dtype.is_none() ? nullptr : &ElementFor(dtype, "dtype");
  const bool may_copy = copy.ptr() != Py_False, must_copy = copy.ptr() == Py_True;
  if (TensorOf(object)) return OfTensor(object, wanted, may_copy, must_copy);
  const bool plain = PyList_Check(object.ptr()) || PyTuple_Check(object.ptr()) ||
                     PyComplex_CheckExact(object.ptr()) || DefaultOf(object.ptr());
  if (!plain) {
    const nb::object made = Shared(object, may_copy, must_copy);
    if (!wanted || wanted->number == TensorOf(made)->dtype) return made;
    if (!may_copy) RefuseCopy();
    return Cast(made, *wanted);
  }
  if (!may_copy) RefuseCopy();
  if (nb::object made = OfNumber(object, wanted); made.is_valid()) return made;
  const nb::object made = Shared(NumpyOf(object, wanted), true, false);
  return !wanted || wanted->number == TensorOf(made)->dtype ? made : Cast(made, *wanted);
}

}  // namespace graphengine
