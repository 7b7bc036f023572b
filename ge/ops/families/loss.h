// Rule shared by the losses over class labels. Any thread may call.
#pragma once

#include <fmt/format.h>

#include "ge/ops/infer_shapes.h"
#include "ge/ops/work.h"

namespace ge {

// Input 0 is N x C x spatial, input 1 N x spatial, input 2 (optional) C; output 0 has the shape of
// input 1, or is a scalar. The names are those of the inputs.
inline Status InferLoss(InferContext& context, const char* labels, const char* weights) {
  const Type &x = context.input_type(0), &t = context.input_type(1);
  const std::string_view how = AttrString(context.node(), "reduction");
  if (how != "mean" && how != "sum" && how != "none") {
    return Bad(context.node(),
               fmt::format("attribute 'reduction' is '{:.64}', wanted none, sum or mean", how));
  }
  if (x.ranked && x.rank() < 2) {
    return Bad(context.node(), fmt::format("input 0 has shape {}, wanted N x C or N x C x spatial",
                                           Show(context.dims(), x.dims)));
  }
  std::vector<Dim> each;
  if (x.ranked) {
    each = x.dims;
    each.erase(each.begin() + 1);
    GE_RETURN_IF_ERROR(WantShape(context, 1, labels, each));
    for (size_t i = 0; t.ranked && i < each.size(); ++i) {
      if (!each[i].known()) each[i] = t.dims[i];
    }
    if (context.input_count() > 2 && context.has_input(2)) {
      GE_RETURN_IF_ERROR(WantShape(context, 2, weights, {{x.dims[1]}}));
    }
  } else {
    each = t.dims;
  }
  if (how != "none") return SetTensor(context, 0, x.dtype, {});
  if (x.ranked || t.ranked) return SetTensor(context, 0, x.dtype, std::move(each));
  context.SetOutput(0, UnrankedTensor(x.dtype));
  return {};
}

}  // namespace ge
