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
// How much padding windows reach behind an axis of the image.
int64_t PadBehind(const PoolSpec& spec, size_t axis);
// Whether one number an axis tells its pads; see window.h.
bool HasEvenPads(const PoolSpec& spec);
// Whether each window ends where the padding does, or before.
bool EndsInside(const PoolSpec& spec);
bool ParsePool(const Parser& parser, uint32_t node, Unit* unit, Why* why);

}  // namespace ge_engines
