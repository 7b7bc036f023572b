#include <fmt/format.h>

#include "ge/ops/elementwise.h"

namespace ge {
namespace {

Status InferLrn(InferContext& c) {
  const Type& x = c.input_type(0);
  const int64_t size = AttrInt(c.node(), "size");
  if (size < 1)
    return Bad(c.node(), fmt::format("attribute 'size' is {}, wanted at least 1", size));
  if (x.ranked && x.rank() < 2) {
    return Bad(c.node(), fmt::format("input 'X' has shape {}, wanted rank 2 or more (N x C x "
                                     "spatial)",
                                     Show(c.dims(), x.dims)));
  }
  return InferSame(c);
}

OpDef LrnRecord() {
  OpDef op = Unary<25>("LRN", 13);
  op.attrs = {{"alpha", AttrKind::kFloat, 0.0001f},
              {"beta", AttrKind::kFloat, 0.75f},
              {"bias", AttrKind::kFloat, 1.0f},
              {"size", AttrKind::kInt, true}};
  op.infer = InferLrn;
  return op;
}

}  // namespace

// x / (bias + alpha / size * sum of squares over `size` neighbouring channels) ^ beta.
GE_OP(lrn) = LrnRecord();

}  // namespace ge
