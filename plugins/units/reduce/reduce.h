// ReduceSum, ReduceMean, ReduceMax, ReduceMin and global pools. Pure; any thread.
#pragma once

#include <cstdint>

#include "plugins/units/parser.h"

namespace ge_engines {

struct ReduceSpec {
  Reduce reduce = Reduce::kSum;
  Dims axes;
  bool keep_dims = true;
  static const UnitKind kKind;
};
// ReduceMean, ReduceSum, ReduceMax and ReduceMin of float32.
// The dims with these axes kept as one element.
Dims KeptDims(Dims dims, const Dims& axes);
bool ParseReduce(const Parser& parser, uint32_t i, Unit* unit, Why* why);
// The axes of a reduction, ascending: one at least.
bool ReducedAxes(const Parser& parser, const ge_node& n, Dims* axes, Why* why);
bool Axes(const Parser& parser, const ge_node& n, uint32_t input, Dims* out, Why* why);

}  // namespace ge_engines
