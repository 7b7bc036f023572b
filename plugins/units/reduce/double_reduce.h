// Reductions of float64. Pure; any thread.
#pragma once

#include "plugins/units/unit.h"

namespace ge_engines {

enum class DoubleReduce {
  kSum,
  kMean,
  kMax,
  kMin,
  kProd,
  kL1,
  kL2,
  kSumSquare,
  kLogSum,
  kLogSumExp
};
struct DoubleReduceSpec {  // in: x
  DoubleReduce reduce = DoubleReduce::kSum;
  Dims axes;  // ascending
  static const UnitKind kKind;
};

}  // namespace ge_engines
