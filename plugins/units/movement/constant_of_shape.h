// ConstantOfShape. Pure; any thread.
#pragma once

#include <array>
#include <cstdint>

#include "plugins/units/unit.h"

namespace ge_engines {

struct FillSpec {  // ConstantOfShape; its shape is not read
  std::array<uint8_t, 8> element{};
  static const UnitKind kKind;
};
// The element as a number; false: it is no float of 16 or 32 bits, nor a whole number of 32 or 64
// that a double holds.
bool NumberOf(const FillSpec& fill, int32_t dtype, double* number);

}  // namespace ge_engines
