#include "plugins/ascend/api/data_types.h"

#include <algorithm>
#include <iterator>
#include <span>

namespace ge_engines::ascend {
namespace {

constexpr struct {
  int32_t dtype;
  acl::DataType type;
  uint64_t size;
} kTypes[] = {
    {GE_F32, acl::kF32, 4}, {GE_F16, acl::kF16, 2},   {GE_BF16, acl::kBf16, 2},
    {GE_I8, acl::kI8, 1},   {GE_U8, acl::kU8, 1},     {GE_I32, acl::kI32, 4},
    {GE_I64, acl::kI64, 8}, {GE_BOOL, acl::kBool, 1},
};

// Ascend910B without a digit is an old one.
constexpr std::string_view kWithoutBf16[] = {"Ascend910PremiumA", "Ascend910ProA", "Ascend910A",
                                             "Ascend910ProB",     "Ascend910B",    "Ascend310P1",
                                             "Ascend310P2",       "Ascend310P3",   "Ascend310P4",
                                             "Ascend310P5",       "Ascend310P7"};
constexpr std::string_view kWithBf16[] = {
    "Ascend910B1",    "Ascend910B2",    "Ascend910B2C",   "Ascend910B3",    "Ascend910B4",
    "Ascend910B4-1",  "Ascend310B1",    "Ascend310B2",    "Ascend310B3",    "Ascend310B4",
    "Ascend910_9391", "Ascend910_9392", "Ascend910_9381", "Ascend910_9382", "Ascend910_9372",
    "Ascend910_9362", "Ascend910_9363"};
constexpr std::string_view kNewest = "Ascend950";  // with anything behind it

bool Has(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

bool FindDataType(int32_t dtype, acl::DataType* type) {
  const auto* known = std::find_if(std::begin(kTypes), std::end(kTypes),
                                   [&](const auto& t) { return t.dtype == dtype; });
  if (known == std::end(kTypes)) return false;
  *type = known->type;
  return true;
}

uint64_t SizeOf(acl::DataType type) {
  return std::find_if(std::begin(kTypes), std::end(kTypes),
                      [&](const auto& t) { return t.type == type; })
      ->size;
}

Chip ChipOf(std::string_view name) {
  if (Has(kWithBf16, name) || name.starts_with(kNewest)) return {true, true};
  return {Has(kWithoutBf16, name), false};
}

}  // namespace ge_engines::ascend
