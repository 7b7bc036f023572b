#include "graph_attributes.h"

#include <nanobind/stl/string.h>

#include "dtype.h"
#include "raise.h"
#include "tensor.h"
#include "tensor_import.h"

namespace nb = nanobind;

namespace graphengine {
namespace {

bool IsInt(nb::handle v) {
  return PyLong_Check(v.ptr()) || PyObject_TypeCheck(v.ptr(), DTypeType());
}
bool IsText(nb::handle v) { return PyUnicode_Check(v.ptr()) || PyBytes_Check(v.ptr()); }

int64_t IntOf(nb::handle v) {
  return PyLong_Check(v.ptr()) ? nb::cast<int64_t>(v) : ElementFor(v, "dtype").number;
}

std::string StringOf(nb::handle v) {
  if (PyUnicode_Check(v.ptr())) return nb::cast<std::string>(v);
  char* data = nullptr;
  Py_ssize_t n = 0;
  if (PyBytes_AsStringAndSize(v.ptr(), &data, &n) != 0) nb::raise_python_error();
  return {data, static_cast<size_t>(n)};
}

}  // namespace

ge_str GraphAttributes::Keep(std::string text) {
  const std::string& kept = texts_.emplace_back(std::move(text));
  return {kept.data(), kept.size()};
}

GraphAttributes::GraphAttributes(std::string_view op, nb::dict attributes) {
  for (auto [name, value] : attributes) {
    if (value.is_none()) continue;
    ge_attr attr{};
    attr.name = Keep(nb::cast<std::string>(name));
    if (!SetOne(value, &attr) && !SetList(value, &attr) && !SetTensor(value, &attr)) {
      Raise(GE_STATUS_INVALID_ARGUMENT,
            "attribute " + texts_.back() + " of " + std::string(op) + " is a " + TypeName(value) +
                ", wanted a number, a str, a list of one of them, or an array");
    }
    attrs_.push_back(attr);
  }
}

bool GraphAttributes::SetOne(nb::handle value, ge_attr* attr) {
  if (IsInt(value)) {
    attr->kind = GE_ATTR_INT;
    attr->i = IntOf(value);
  } else if (PyFloat_Check(value.ptr())) {
    attr->kind = GE_ATTR_FLOAT;
    attr->f = PyFloat_AsDouble(value.ptr());
  } else if (IsText(value)) {
    attr->kind = GE_ATTR_STRING;
    attr->s = Keep(StringOf(value));
  } else {
    return false;
  }
  return true;
}

bool GraphAttributes::SetList(nb::handle value, ge_attr* attr) {
  if (!PyList_Check(value.ptr()) && !PyTuple_Check(value.ptr())) return false;
  bool ints = true, texts = true;
  size_t n = 0;
  const nb::iterable all = nb::borrow<nb::iterable>(value);
  for (nb::handle each : all) {
    ints = ints && IsInt(each);
    texts = texts && IsText(each);
    if (!IsInt(each) && !IsText(each) && !PyFloat_Check(each.ptr())) return false;
    ++n;
  }
  attr->n = static_cast<uint32_t>(n);
  if (ints) {
    std::vector<int64_t>& kept = ints_.emplace_back();
    for (nb::handle each : all) kept.push_back(IntOf(each));
    attr->kind = GE_ATTR_INTS;
    attr->ints = kept.data();
  } else if (texts) {
    std::vector<ge_str>& kept = strings_.emplace_back();
    for (nb::handle each : all) kept.push_back(Keep(StringOf(each)));
    attr->kind = GE_ATTR_STRINGS;
    attr->strings = kept.data();
  } else {
    std::vector<double>& kept = floats_.emplace_back();
    for (nb::handle each : all) kept.push_back(nb::cast<double>(each));
    attr->kind = GE_ATTR_FLOATS;
    attr->floats = kept.data();
  }
  return true;
}

bool GraphAttributes::SetTensor(nb::handle value, ge_attr* attr) {
  nb::object made = nb::borrow(value);
  if (!TensorOf(value)) {
    if (!nb::hasattr(value, "__array__") && !nb::hasattr(value, "__dlpack__")) return false;
    made = MakeTensor(value, nb::none(), nb::none());
  }
  Tensor& t = *TensorOf(made);
  if (t.symbol) return false;
  attr->kind = GE_ATTR_TENSOR;
  attr->tensor_type.dtype = t.dtype;
  attr->tensor_type.rank = t.rank;
  attr->tensor_type.dims = t.dims;
  attr->tensor_type.bits = ElementOf(t.dtype)->bits;
  attr->tensor = t.memory->data;
  attr->tensor_bytes = t.bytes;
  tensors_.push_back(std::move(made));
  return true;
}

}  // namespace graphengine
