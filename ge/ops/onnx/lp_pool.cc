#include <fmt/format.h>

#include "ge/ops/families/pooling.h"

namespace ge {
namespace {

Status InferLpPool(InferContext& c) {
  const int64_t p = AttrInt(c.node(), "p");
  if (p < 1) return Bad(c.node(), fmt::format("attribute 'p' is {}, wanted at least 1", p));
  return InferPool(c);
}

}  // namespace

// (sum of |x|^p)^(1/p) of each window; padding counts as zeros.
GE_OP(lp_pool) = {"",
                  "LpPool",
                  22,
                  {{"X", kFloats, "T"}},
                  {{"Y", kFloats, "T"}},
                  PoolAttrs({"p", AttrKind::kInt, 2}),
                  InferLpPool,
                  PoolWork};

}  // namespace ge
