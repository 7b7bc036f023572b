#include "tensor_number.h"

#include <cmath>
#include <complex>
#include <cstring>
#include <iterator>
#include <limits>

#include "model.h"
#include "raise.h"

namespace nb = nanobind;

namespace graphengine {
namespace {

enum class Special { kIeee, kOneNan, kNegativeZeroNan, kNone };

// A floating type of at most 16 bits: IEEE 754 for float16, OCP's papers for those of 8 bits and
// less, ONNX's text for the "uz" ones.
struct SmallFloat {
  int32_t number;  // ONNX's
  int exponent, mantissa, bias;
  Special special;
};
constexpr SmallFloat kSmallFloats[] = {
    {10, 5, 10, 15, Special::kIeee}, {16, 8, 7, 127, Special::kIeee},
    {17, 4, 3, 7, Special::kOneNan}, {18, 4, 3, 8, Special::kNegativeZeroNan},
    {19, 5, 2, 15, Special::kIeee},  {20, 5, 2, 16, Special::kNegativeZeroNan},
    {23, 2, 1, 1, Special::kNone},   {27, 2, 3, 1, Special::kNone},
    {28, 3, 2, 3, Special::kNone},
};
constexpr int32_t kFloat8E8m0 = 24;  // an exponent alone

double FloatOf(const SmallFloat& type, uint32_t bits) {
  const uint32_t mantissa = bits & ((1u << type.mantissa) - 1);
  const uint32_t most = (1u << type.exponent) - 1, exponent = (bits >> type.mantissa) & most;
  const bool negative = (bits >> (type.mantissa + type.exponent)) & 1;
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  if (type.special == Special::kIeee && exponent == most) {
    if (mantissa != 0) return kNan;
    return negative ? -std::numeric_limits<double>::infinity()
                    : std::numeric_limits<double>::infinity();
  }
  const bool ones = exponent == most && mantissa == (1u << type.mantissa) - 1;
  if (type.special == Special::kOneNan && ones) return kNan;
  if (type.special == Special::kNegativeZeroNan && negative && exponent == 0 && mantissa == 0) {
    return kNan;
  }
  const double fraction =
      exponent == 0 ? mantissa : static_cast<double>(mantissa + (1u << type.mantissa));
  const int power = static_cast<int>(exponent == 0 ? 1 : exponent) - type.bias - type.mantissa;
  const double value = std::ldexp(fraction, power);
  return negative ? -value : value;
}

template <typename T>
T Read(const void* data) {
  T value;
  std::memcpy(&value, data, sizeof value);
  return value;
}

nb::object FloatObject(const Element& element, const void* data) {
  if (element.bits == 64) return nb::float_(Read<double>(data));
  if (element.number == 1) return nb::float_(Read<float>(data));
  const uint32_t bits =
      element.bits == 16 ? Read<uint16_t>(data) : Read<uint8_t>(data) & ((1u << element.bits) - 1);
  if (element.number == kFloat8E8m0) {
    return nb::float_(bits == 255 ? std::numeric_limits<double>::quiet_NaN()
                                  : std::ldexp(1.0, static_cast<int>(bits) - 127));
  }
  for (const SmallFloat& type : kSmallFloats) {
    if (type.number == element.number) return nb::float_(FloatOf(type, bits));
  }
  Raise(GE_STATUS_UNSUPPORTED, std::string("numbers of ") + element.name + " are not read");
}

nb::object IntObject(const Element& element, const void* data, bool sign) {
  uint64_t bits = 0;
  std::memcpy(&bits, data, (element.bits + 7) / 8);
  const int unused = 64 - element.bits;
  bits <<= unused;
  if (sign) return nb::int_(static_cast<int64_t>(bits) >> unused);
  return nb::int_(bits >> unused);
}

}  // namespace

nb::object NumberOf(const Tensor& tensor, const char* wanted) {
  if (ElementsOf(tensor) != 1) {
    Raise(GE_STATUS_INVALID_ARGUMENT, std::string(wanted) + "() of a Tensor of shape " +
                                          ShapeText(tensor.dims, tensor.rank) +
                                          ", wanted one of one element; reduce it first, as by "
                                          "any(), all() or sum()");
  }
  using Code = nb::dlpack::dtype_code;
  const Element& element = *ElementOf(tensor.dtype);
  const void* data = tensor.memory->data;
  switch (static_cast<Code>(element.code)) {
    case Code::Bool:
      return nb::bool_(Read<uint8_t>(data) != 0);
    case Code::Int:
      return IntObject(element, data, true);
    case Code::UInt:
      return IntObject(element, data, false);
    case Code::Complex: {
      const auto value = element.bits == 64 ? std::complex<double>(Read<std::complex<float>>(data))
                                            : Read<std::complex<double>>(data);
      PyObject* made = PyComplex_FromDoubles(value.real(), value.imag());
      if (!made) nb::raise_python_error();
      return nb::steal(made);
    }
    default:
      return FloatObject(element, data);
  }
}

}  // namespace graphengine
