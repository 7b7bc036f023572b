#include <fmt/format.h>

#include "ge/ops/families/along_axis.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferLpNormalization(InferContext& c) {
  const int64_t p = AttrInt(c.node(), "p");
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
                           {{"axis", AttrKind::kInt, -1}, {"p", AttrKind::kInt, 2}},
                           InferLpNormalization,
                           PerOutput<4>};

}  // namespace ge
