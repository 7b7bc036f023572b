#include "one_node.h"

#include <nanobind/stl/string.h>

#include <charconv>
#include <cmath>
#include <iterator>

#include "dtype.h"
#include "raise.h"
#include "tensor_import.h"

namespace nb = nanobind;

namespace graphengine {
namespace {

constexpr int64_t kMostConstant = 64;  // elements; pads of a tensor of any rank are 32

// With them known an operator has one plan, without them each run is planned by its data.
struct ShapeInputs {
  std::string_view op;
  uint32_t inputs;
};
constexpr ShapeInputs kShapeInputs[] = {
    {"AffineGrid", 2},
    {"BlackmanWindow", 1},
    {"CenterCropPad", 2},
    {"Col2Im", 6},
    {"ConstantOfShape", 1},
    {"CumProd", 2},
    {"CumSum", 2},
    {"DFT", 6},
    {"Expand", 2},
    {"HammingWindow", 1},
    {"HannWindow", 1},
    {"MaxUnpool", 4},
    {"MelWeightMatrix", 7},
    {"OneHot", 2},
    {"Pad", 10},
    {"Range", 7},
    {"ReduceL1", 2},
    {"ReduceL2", 2},
    {"ReduceLogSum", 2},
    {"ReduceLogSumExp", 2},
    {"ReduceMax", 2},
    {"ReduceMean", 2},
    {"ReduceMin", 2},
    {"ReduceProd", 2},
    {"ReduceSum", 2},
    {"ReduceSumSquare", 2},
    {"Reshape", 2},
    {"Resize", 14},
    {"STFT", 10},
    {"Slice", 30},
    {"Split", 2},
    {"Squeeze", 2},
    {"Tile", 2},
    {"TopK", 2},
    {"Trilu", 2},
    {"Unsqueeze", 2},
    {"Upsample", 2},
};

void AppendRaw(std::string* out, const void* data, size_t bytes) {
  out->append(static_cast<const char*>(data), bytes);
}
template <typename T>
void AppendRaw(std::string* out, T value) {
  AppendRaw(out, &value, sizeof value);
}
void AppendText(std::string* out, std::string_view text) {
  AppendRaw(out, static_cast<uint32_t>(text.size()));
  out->append(text);
}

std::string_view Utf8Of(nb::handle text) {
  Py_ssize_t n = 0;
  const char* data = PyUnicode_AsUTF8AndSize(text.ptr(), &n);
  if (!data) nb::raise_python_error();
  return {data, static_cast<size_t>(n)};
}

std::string_view BytesOf(nb::handle bytes) {
  char* data = nullptr;
  Py_ssize_t n = 0;
  if (PyBytes_AsStringAndSize(bytes.ptr(), &data, &n) != 0) nb::raise_python_error();
  return {data, static_cast<size_t>(n)};
}

[[noreturn]] void RefuseAttribute(const OneNode& node, nb::handle name, nb::handle value) {
  Raise(GE_STATUS_INVALID_ARGUMENT,
        "attribute " + std::string(Utf8Of(name)) + " of " + std::string(node.op) + " is a " +
            TypeName(value) +
            ", wanted a number, a str, a list of one of them, or an array; bodies take jit");
}

// ---- keys

bool IsPlain(nb::handle value) {
  PyObject* v = value.ptr();
  return PyLong_Check(v) || PyFloat_Check(v) || PyUnicode_Check(v) || PyBytes_Check(v) ||
         PyObject_TypeCheck(v, DTypeType());
}

// One value, or one of a list, as bytes; false for another type.
bool AppendValue(nb::handle value, std::string* key) {
  if (PyBool_Check(value.ptr()) || PyLong_Check(value.ptr())) {
    const long long number = PyLong_AsLongLong(value.ptr());
    if (number == -1 && PyErr_Occurred()) nb::raise_python_error();
    key->push_back('i');
    AppendRaw(key, number);
  } else if (PyFloat_Check(value.ptr())) {
    key->push_back('f');
    AppendRaw(key, PyFloat_AsDouble(value.ptr()));
  } else if (PyUnicode_Check(value.ptr())) {
    key->push_back('s');
    AppendText(key, Utf8Of(value));
  } else if (PyBytes_Check(value.ptr())) {
    key->push_back('s');
    AppendText(key, BytesOf(value));
  } else if (PyObject_TypeCheck(value.ptr(), DTypeType())) {
    key->push_back('i');
    AppendRaw(key, static_cast<long long>(ElementFor(value, "dtype").number));
  } else {
    return false;
  }
  return true;
}

void AppendTensor(const Tensor& t, std::string* key) {
  key->push_back('t');
  AppendRaw(key, t.dtype);
  AppendRaw(key, t.rank);
  AppendRaw(key, t.dims, sizeof(int64_t) * static_cast<size_t>(t.rank));
  AppendRaw(key, t.memory->data, t.bytes);
}

bool IsList(nb::handle value) { return PyList_Check(value.ptr()) || PyTuple_Check(value.ptr()); }

// The array of a tensor attribute; not valid for another type.
nb::object TensorAttribute(nb::handle value) {
  if (TensorOf(value)) return nb::borrow(value);
  if (!nb::hasattr(value, "__array__") && !nb::hasattr(value, "__dlpack__")) return {};
  return MakeTensor(value, nb::none(), nb::none());
}

// Numbers of numpy as Python's; all else as it is.
nb::object AsPlain(nb::handle value) {
  const bool numpys = !IsPlain(value) && !TensorOf(value) && nb::hasattr(value, "item") &&
                      nb::hasattr(value, "dtype") && !nb::hasattr(value, "__setitem__");
  return numpys ? nb::object(value.attr("item")()) : nb::borrow(value);
}

void AppendAttribute(const OneNode& node, nb::handle name, nb::handle given, std::string* key) {
  const nb::object value = AsPlain(given);
  AppendText(key, Utf8Of(name));
  if (AppendValue(value, key)) return;
  if (IsList(value)) {
    key->push_back('[');
    for (nb::handle each : nb::borrow<nb::iterable>(value)) {
      if (!AppendValue(AsPlain(each), key)) RefuseAttribute(node, name, each);
    }
    key->push_back(']');
    return;
  }
  const nb::object tensor = TensorAttribute(value);
  if (!tensor.is_valid() || TensorOf(tensor)->symbol) RefuseAttribute(node, name, value);
  AppendTensor(*TensorOf(tensor), key);
}

// ---- text

void Quote(std::string_view text, std::string* out) {
  constexpr char kDigits[] = "0123456789abcdef";
  out->push_back('"');
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out->push_back('\\');
      out->push_back(c);
    } else if (byte < 0x20 || byte >= 0x7f) {
      out->append("\\x");
      out->push_back(kDigits[byte >> 4]);
      out->push_back(kDigits[byte & 15]);
    } else {
      out->push_back(c);
    }
  }
  out->push_back('"');
}

void PrintFloat(double value, std::string* out) {
  if (std::isnan(value)) {
    out->append("nan");
    return;
  }
  if (std::isinf(value)) {
    out->append(value < 0 ? "-inf" : "inf");
    return;
  }
  char text[40];
  char* end = std::to_chars(text, text + sizeof text, value).ptr;
  const std::string_view digits(text, static_cast<size_t>(end - text));
  out->append(digits);
  if (digits.find_first_of(".e") == std::string_view::npos) out->append(".0");
}

void PrintValue(nb::handle given, std::string* out) {
  const nb::object value = AsPlain(given);
  if (PyFloat_Check(value.ptr())) return PrintFloat(PyFloat_AsDouble(value.ptr()), out);
  if (PyUnicode_Check(value.ptr())) return Quote(Utf8Of(value), out);
  if (PyBytes_Check(value.ptr())) return Quote(BytesOf(value), out);
  const long long number = PyLong_Check(value.ptr()) ? PyLong_AsLongLong(value.ptr())
                                                     : ElementFor(value, "dtype").number;
  out->append(std::to_string(number));
}

// The text form's words of element types, by ONNX's number.
constexpr std::string_view kTypeWords[] = {
    "",       "f32",      "u8",         "i8",     "u16",        "i16", "i32", "i64",
    "str",    "bool",     "f16",        "f64",    "u32",        "u64", "c64", "c128",
    "bf16",   "f8e4m3fn", "f8e4m3fnuz", "f8e5m2", "f8e5m2fnuz", "u4",  "i4",  "f4e2m1",
    "f8e8m0", "u2",       "i2",         "f6e2m3", "f6e3m2"};

void PrintType(const Tensor& t, bool sizes, size_t input, std::string* out) {
  out->append(kTypeWords[t.dtype]);
  out->push_back('[');
  for (int32_t i = 0; i < t.rank; ++i) {
    if (i > 0) out->append(",");
    out->append(sizes ? std::to_string(t.dims[i])
                      : "d" + std::to_string(input) + "_" + std::to_string(i));
  }
  out->push_back(']');
}

void PrintConstant(const std::string& name, const Tensor& t, std::string* out) {
  constexpr char kDigits[] = "0123456789abcdef";
  out->append("const " + name + " : ");
  PrintType(t, true, 0, out);
  out->append(" = hex\"");
  const auto* bytes = static_cast<const unsigned char*>(t.memory->data);
  for (uint64_t i = 0; i < t.bytes; ++i) {
    out->push_back(kDigits[bytes[i] >> 4]);
    out->push_back(kDigits[bytes[i] & 15]);
  }
  out->append("\"\n");
}

// `constants` stand above the function.
void PrintAttribute(nb::handle name, nb::handle given, std::string* constants, std::string* out) {
  const nb::object value = AsPlain(given);
  out->append(Utf8Of(name));
  out->push_back('=');
  if (IsList(value)) {
    bool first = true;
    out->push_back('[');
    for (nb::handle each : nb::borrow<nb::iterable>(value)) {
      if (!first) out->append(", ");
      PrintValue(each, out);
      first = false;
    }
    out->push_back(']');
  } else if (!IsPlain(value)) {
    const nb::object tensor = TensorAttribute(value);
    const std::string constant = "a_" + std::string(Utf8Of(name));
    PrintConstant(constant, *TensorOf(tensor), constants);
    out->append("const " + constant);
  } else {
    PrintValue(value, out);
  }
}

}  // namespace

uint32_t ShapeInputsOf(std::string_view domain, std::string_view op) {
  if (!domain.empty()) return 0;
  for (const ShapeInputs& each : kShapeInputs) {
    if (each.op == op) return each.inputs;
  }
  return 0;
}

bool IsConstant(const OneNode& node, size_t i) {
  return i < 32 && (node.shape_inputs >> i & 1) && node.inputs[i] &&
         ElementsOf(*node.inputs[i]) <= kMostConstant;
}

void AppendKey(const OneNode& node, std::string* key) {
  AppendText(key, node.domain);
  AppendText(key, node.op);
  AppendRaw(key, node.outputs);
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const Tensor* t = node.inputs[i];
    if (!t) {
      key->push_back('-');
    } else if (IsConstant(node, i)) {
      AppendTensor(*t, key);
    } else {
      key->push_back('x');
      key->push_back(static_cast<char>(t->dtype));
      key->push_back(static_cast<char>(t->rank));
    }
  }
  if (!node.attributes || PyDict_Size(node.attributes) == 0) return;
  key->push_back('{');
  for (auto [name, value] : nb::borrow<nb::dict>(node.attributes)) {
    if (!PyUnicode_Check(name.ptr())) {
      Raise(GE_STATUS_INVALID_ARGUMENT, "an attribute's name is a " + TypeName(name));
    }
    if (!value.is_none()) AppendAttribute(node, name, value, key);
  }
}

std::string ModelText(const OneNode& node, bool sizes) {
  std::string constants, parameters, arguments, attributes, results;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (i > 0) arguments += ", ";
    const Tensor* t = node.inputs[i];
    if (!t) {
      arguments += "_";
      continue;
    }
    const bool constant = IsConstant(node, i);
    const std::string name = (constant ? "c" : "x") + std::to_string(i);
    arguments += name;
    if (constant) {
      PrintConstant(name, *t, &constants);
      continue;
    }
    parameters += (parameters.empty() ? "" : ", ") + name + ": ";
    PrintType(*t, sizes, i, &parameters);
  }
  if (node.attributes) {
    for (auto [name, value] : nb::borrow<nb::dict>(node.attributes)) {
      if (value.is_none()) continue;
      attributes += attributes.empty() ? " {" : ", ";
      PrintAttribute(name, value, &constants, &attributes);
    }
    if (!attributes.empty()) attributes += "}";
  }
  for (uint32_t i = 0; i < node.outputs; ++i) {
    results += (i > 0 ? ", y" : "y") + std::to_string(i);
  }
  std::string text = "ge 1\nopset \"\" 28\n";
  if (!node.domain.empty() && node.domain != "ge") {
    text += "opset ";
    Quote(node.domain, &text);
    text += " 1\n";
  }
  const std::string op = node.domain.empty()
                             ? std::string(node.op)
                             : std::string(node.domain) + "." + std::string(node.op);
  text += constants + "fn main(" + parameters + ") -> (" + results + ") {\n  " + results + " = " +
          op + "(" + arguments + ")" + attributes + "\n}\nentry infer \"main\" = main\n";
  return text;
}

}  // namespace graphengine
