#include <cmath>

#include "ge/ops/elementwise.h"

namespace ge {
namespace {

Status InferHardSigmoid(InferContext& c) {
  if (!std::isfinite(AttrFloat(c.node(), "alpha")) || !std::isfinite(AttrFloat(c.node(), "beta"))) {
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
                       {{"alpha", AttrKind::kFloat, 0.2f}, {"beta", AttrKind::kFloat, 0.5f}},
                       InferHardSigmoid,
                       PerOutput<4>};

}  // namespace ge
