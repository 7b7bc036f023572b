#include "element.h"

#include <iterator>

namespace graphengine {
namespace {

using Code = nanobind::dlpack::dtype_code;
constexpr uint8_t kInt = static_cast<uint8_t>(Code::Int), kUint = static_cast<uint8_t>(Code::UInt),
                  kFloat = static_cast<uint8_t>(Code::Float),
                  kComplex = static_cast<uint8_t>(Code::Complex),
                  kBool = static_cast<uint8_t>(Code::Bool);

// In the order of their numbers, from 1.
constexpr Element kElements[] = {
    {1, "float32", kFloat, 32, true},
    {2, "uint8", kUint, 8, true},
    {3, "int8", kInt, 8, true},
    {4, "uint16", kUint, 16, true},
    {5, "int16", kInt, 16, true},
    {6, "int32", kInt, 32, true},
    {7, "int64", kInt, 64, true},
    {8, "string", 0, 0, false},
    {9, "bool", kBool, 8, true},
    {10, "float16", kFloat, 16, true},
    {11, "float64", kFloat, 64, true},
    {12, "uint32", kUint, 32, true},
    {13, "uint64", kUint, 64, true},
    {14, "complex64", kComplex, 64, true},
    {15, "complex128", kComplex, 128, true},
    {16, "bfloat16", static_cast<uint8_t>(Code::Bfloat), 16, false},
    {17, "float8_e4m3fn", static_cast<uint8_t>(Code::Float8_E4M3FN), 8, false},
    {18, "float8_e4m3fnuz", static_cast<uint8_t>(Code::Float8_E4M3FNUZ), 8, false},
    {19, "float8_e5m2", static_cast<uint8_t>(Code::Float8_E5M2), 8, false},
    {20, "float8_e5m2fnuz", static_cast<uint8_t>(Code::Float8_E5M2FNUZ), 8, false},
    {21, "uint4", kUint, 4, false},
    {22, "int4", kInt, 4, false},
    {23, "float4_e2m1fn", static_cast<uint8_t>(Code::Float4_E2M1FN), 4, false},
    {24, "float8_e8m0fnu", static_cast<uint8_t>(Code::Float8_E8M0FNU), 8, false},
    {25, "uint2", kUint, 2, false},
    {26, "int2", kInt, 2, false},
    {27, "float6_e2m3fn", static_cast<uint8_t>(Code::Float6_E2M3FN), 6, false},
    {28, "float6_e3m2fn", static_cast<uint8_t>(Code::Float6_E3M2FN), 6, false},
};

uint8_t CodeOfLetter(char letter) {
  switch (letter) {
    case '?':
      return kBool;
    case 'b':
    case 'h':
    case 'i':
    case 'l':
    case 'q':
    case 'n':
      return kInt;
    case 'B':
    case 'H':
    case 'I':
    case 'L':
    case 'Q':
    case 'N':
      return kUint;
    case 'e':
    case 'f':
    case 'd':
      return kFloat;
    default:
      return 0xff;
  }
}

}  // namespace

const Element* ElementOf(int32_t number) {
  const bool known = number >= 1 && number <= static_cast<int32_t>(std::size(kElements));
  return known ? &kElements[number - 1] : nullptr;
}

const Element* ElementNamed(std::string_view name) {
  for (const Element& e : kElements) {
    if (name == e.name) return &e;
  }
  return nullptr;
}

const Element* ElementOf(nanobind::dlpack::dtype dtype) {
  for (const Element& e : kElements) {
    if (dtype == DlpackType(e) && e.bits != 0) return &e;
  }
  return nullptr;
}

const Element* ElementOfFormat(const char* format, int64_t bytes, bool* swapped) {
  static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
  *swapped = false;
  if (!format) return ElementOf(2);  // plain bytes
  if (*format == '@' || *format == '=' || *format == '<') {
    ++format;
  } else if (*format == '>' || *format == '!') {
    ++format;
    *swapped = bytes > 1;
  }
  const bool complex = *format == 'Z';
  if (complex) ++format;
  if (format[0] == 0 || format[1] != 0 || bytes < 1 || bytes > 16) return nullptr;
  uint8_t code = CodeOfLetter(*format);
  if (complex) code = code == kFloat ? kComplex : uint8_t{0xff};
  return ElementOf(nanobind::dlpack::dtype{code, static_cast<uint8_t>(bytes * 8), 1});
}

}  // namespace graphengine
