// Pointwise functions of one or two float32 tensors. Other units take them along as post-ops. Pure;
// any thread.
#pragma once

#include <cstdint>

#include "plugins/units/parser.h"

namespace ge_engines {

// in[0], then post-ops
struct PointwiseSpec {
  static const UnitKind kKind;
};
// Of float32: functions of one number, of two, the remainder of a division (Mod), Clip.
bool ParseUnary(const Parser& parser, uint32_t i, Unit* unit, Why* why);
bool ParseBinary(const Parser& parser, uint32_t i, Unit* unit, Why* why);
bool ParseRemainder(const Parser& parser, uint32_t i, Unit* unit, Why* why);
bool ParseClip(const Parser& parser, uint32_t i, Unit* unit, Why* why);

// What a BatchNormalization does to a channel: x * scale + shift.
struct ChannelFactors {
  float scale = 1, shift = 0;
};
ChannelFactors FactorsOfNorm(float scale, float bias, float mean, float variance, double epsilon);

}  // namespace ge_engines
