// MaxPool and AveragePool of float32. Pure; any thread.
#pragma once

#include <cstdint>

#include "plugins/units/parser.h"

namespace ge_engines {

struct PoolSpec {
  bool max = true, count_pad = false;
  Dims src, dst, kernel, stride, pad_l, pad_r;
  static const UnitKind kKind;
};
// Whether each window ends where the padding does, or before.
bool EndsInside(const PoolSpec& spec);
bool ParsePool(const Parser& parser, uint32_t node, Unit* unit, Why* why);

}  // namespace ge_engines
