// What the engine knows of chips, by the names that aclrtGetSocName gives. Pure.
#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>

namespace ascend_check {

struct Chip {
  std::string_view name;
  bool bf16;  // rule:soc-bf16
};
inline constexpr Chip kChips[] = {
    {"Ascend910PremiumA", false}, {"Ascend910ProA", false}, {"Ascend910A", false},
    {"Ascend910ProB", false},     {"Ascend910B", false},    {"Ascend310P1", false},
    {"Ascend310P2", false},       {"Ascend310P3", false},   {"Ascend310P4", false},
    {"Ascend310P5", false},       {"Ascend310P7", false},   {"Ascend910B1", true},
    {"Ascend910B2", true},        {"Ascend910B2C", true},   {"Ascend910B3", true},
    {"Ascend910B4", true},        {"Ascend910B4-1", true},  {"Ascend310B1", true},
    {"Ascend310B2", true},        {"Ascend310B3", true},    {"Ascend310B4", true},
    {"Ascend910_9391", true},     {"Ascend910_9392", true}, {"Ascend910_9381", true},
    {"Ascend910_9382", true},     {"Ascend910_9372", true}, {"Ascend910_9362", true},
    {"Ascend910_9363", true},
};
inline constexpr Chip kFamily = {"Ascend950", true};  // all names that begin so

// nullptr: none that the engine knows.
inline const Chip* FindChip(const char* name) {
  const std::string_view asked = name == nullptr ? "" : name;
  if (asked.substr(0, kFamily.name.size()) == kFamily.name) return &kFamily;
  const auto* it = std::find_if(std::begin(kChips), std::end(kChips),
                                [&](const Chip& chip) { return chip.name == asked; });
  return it == std::end(kChips) ? nullptr : it;
}

}  // namespace ascend_check
