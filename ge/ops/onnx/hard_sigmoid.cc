#include <cmath>

#include "ge/ops/elementwise.h"

namespace ge {
namespace {

Status InferHardSigmoid(InferContext& c) {
  if (!std::isfinite(AttrFloat(c.node(), "alpha", 0.2)) ||
      !std::isfinite(AttrFloat(c.node(), "beta", 0.5))) {
    return Bad(c.node(), "attribute 'alpha' or 'beta' is not finite, wanted finite numbers");
  }
  return InferSame(c);
}

}  // namespace

// max(0, min(1, alpha * x + beta)).
GE_OP(hard_sigmoid) = {"",
                       "HardSigmoid",
                       22,
                       {{"X", kFloats, "T"}},
                       {{"Y", kFloats, "T"}},
                       {{"alpha", AttrKind::kFloat}, {"beta", AttrKind::kFloat}},
                       InferHardSigmoid,
                       PerOutput<4>};

}  // namespace ge
