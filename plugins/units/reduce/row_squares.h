// ReduceL2 and ReduceSumSquare of whole rows. Pure; any thread.
#pragma once

#include <cstdint>

#include "plugins/units/parser.h"

namespace ge_engines {

struct RowSquareSpec {  // of each row of in[0] the sum of its squares, or the root of that
  bool root = false;
  int64_t rows = 0, n = 0;
  static const UnitKind kKind;
};
bool ParseRowSquares(const Parser& parser, uint32_t i, Unit* unit, Why* why);

}  // namespace ge_engines
