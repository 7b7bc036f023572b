#include <fmt/format.h>

#include "ge/ops/families/pooling.h"

namespace ge {
namespace {

Status InferGlobalLpPool(InferContext& c) {
  const int64_t p = AttrInt(c.node(), "p");
  if (p < 1) return Bad(c.node(), fmt::format("attribute 'p' is {}, wanted at least 1", p));
  return InferGlobalPool(c);
}

}  // namespace

// (sum of |x|^p)^(1/p) over all spatial axes.
GE_OP(global_lp_pool) = {"",
                         "GlobalLpPool",
                         22,
                         {{"X", kFloats, "T"}},
                         {{"Y", kFloats, "T"}},
                         {{"p", AttrKind::kInt, 2}},
                         InferGlobalLpPool,
                         PerInput<2>};

}  // namespace ge
