#include "ge/ir/dtype.h"

#include <array>

#include "ge/base/checked.h"

namespace ge {
namespace {

struct DTypeInfo {
  std::string_view name;
  int bits;
  char kind;  // 'f' float, 'i' integer, 'b' bool, 'c' complex, 's' string, '-' undefined
};

constexpr std::array<DTypeInfo, kDTypeCount> kInfo = {{
    {"undefined", 0, '-'},  {"f32", 32, 'f'},     {"u8", 8, 'i'},         {"i8", 8, 'i'},
    {"u16", 16, 'i'},       {"i16", 16, 'i'},     {"i32", 32, 'i'},       {"i64", 64, 'i'},
    {"str", 0, 's'},        {"bool", 8, 'b'},     {"f16", 16, 'f'},       {"f64", 64, 'f'},
    {"u32", 32, 'i'},       {"u64", 64, 'i'},     {"c64", 64, 'c'},       {"c128", 128, 'c'},
    {"bf16", 16, 'f'},      {"f8e4m3fn", 8, 'f'}, {"f8e4m3fnuz", 8, 'f'}, {"f8e5m2", 8, 'f'},
    {"f8e5m2fnuz", 8, 'f'}, {"u4", 4, 'i'},       {"i4", 4, 'i'},         {"f4e2m1", 4, 'f'},
    {"f8e8m0", 8, 'f'},     {"u2", 2, 'i'},       {"i2", 2, 'i'},         {"f6e2m3", 6, 'f'},
    {"f6e3m2", 6, 'f'},
}};

const DTypeInfo& Info(DType t) {
  const auto i = static_cast<int32_t>(t);
  return kInfo[i > 0 && i < kDTypeCount ? i : 0];
}

}  // namespace

bool IsKnown(DType dtype) { return Info(dtype).kind != '-'; }
std::string_view DTypeName(DType dtype) { return Info(dtype).name; }

std::optional<DType> DTypeFromName(std::string_view n) {
  for (int i = 1; i < kDTypeCount; ++i) {
    if (kInfo[i].name == n) return static_cast<DType>(i);
  }
  return std::nullopt;
}

int DTypeBits(DType dtype) { return Info(dtype).bits; }
bool IsFloat(DType dtype) { return Info(dtype).kind == 'f'; }
bool IsInteger(DType dtype) { return Info(dtype).kind == 'i'; }

std::optional<int64_t> DTypeBytes(DType dtype, int64_t count) {
  const int bits = DTypeBits(dtype);
  if (bits == 0 || count < 0) return std::nullopt;
  if (bits >= 8) return CheckedMul(count, bits / 8);
  // Eight elements are `bits` bytes.
  return count / 8 * bits + (count % 8 * bits + 7) / 8;
}

}  // namespace ge
