#include "ge/ops/elementwise.h"

namespace ge {
namespace {

Status InferPow(InferContext& c) { return InferBroadcast(c); }

}  // namespace

// x^y with broadcasting; the result has x's dtype.
GE_OP(pow) = {"",
              "Pow",
              15,
              {{"X", kFloats | kIndex, "T"}, {"Y", kNumeric, "T1"}},
              {{"Z", kFloats | kIndex, "T"}},
              {},
              InferPow,
              PerOutput<20>};

}  // namespace ge
