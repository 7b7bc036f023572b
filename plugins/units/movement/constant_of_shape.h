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

}  // namespace ge_engines
