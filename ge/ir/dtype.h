// Element types, with ONNX's numbers. Data only.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace ge {

enum class DType : int32_t {
  kUndefined = 0,
  kFloat = 1,
  kUint8 = 2,
  kInt8 = 3,
  kUint16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kDouble = 11,
  kUint32 = 12,
  kUint64 = 13,
  kComplex64 = 14,
  kComplex128 = 15,
  kBfloat16 = 16,
  kFloat8e4m3fn = 17,
  kFloat8e4m3fnuz = 18,
  kFloat8e5m2 = 19,
  kFloat8e5m2fnuz = 20,
  kUint4 = 21,
  kInt4 = 22,
  kFloat4e2m1 = 23,
  kFloat8e8m0 = 24,
  kUint2 = 25,
  kInt2 = 26,
  kFloat6e2m3 = 27,
  kFloat6e3m2 = 28,
};
inline constexpr int kDTypeCount = 29;

bool IsKnown(DType dtype);                // In the list above and not kUndefined.
std::string_view DTypeName(DType dtype);  // "f32", "i64", "bool", "str" ... as .gt prints it.
std::optional<DType> DTypeFromName(std::string_view n);  // Inverse of DTypeName.
int DTypeBits(DType dtype);                              // Bits of an element; 0 for strings.
bool IsFloat(DType dtype);                               // Any floating type, complex not included.
bool IsInteger(DType dtype);                             // Signed or unsigned, bool not included.
// Bytes of `count` elements, sub-byte types packed and rounded up to a byte; nullopt on overflow.
std::optional<int64_t> DTypeBytes(DType dtype, int64_t count);

}  // namespace ge
