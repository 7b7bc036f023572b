#include <fmt/format.h>

#include "ge/ops/along_axis.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferLpNormalization(InferContext& c) {
  const int64_t p = AttrInt(c.node(), "p", 2);
  if (p != 1 && p != 2) {
    return Bad(c.node(), fmt::format("attribute 'p' is {}, wanted 1 or 2", p));
  }
  return InferAlongAxis(c);
}

}  // namespace

// x over its 1- or 2-norm along one axis; 0 where the norm is 0.
GE_OP(lp_normalization) = {"",
                           "LpNormalization",
                           22,
                           {{"input", kFloats, "T"}},
                           {{"output", kFloats, "T"}},
                           {{"axis", AttrKind::kInt}, {"p", AttrKind::kInt}},
                           InferLpNormalization,
                           PerOutput<4>};

}  // namespace ge
