#include "ge/ops/families/indexing.h"

#include <fmt/format.h>

#include "ge/ops/infer_shapes.h"
#include "ge/ops/known_ints.h"

namespace ge {

Result<size_t> IndexedAxis(InferContext& context) {
  const Type& x = context.input_type(0);
  if (x.rank() == 0) return Bad(context.node(), "input 'data' is a scalar, wanted rank 1 or more");
  const auto axis = NormalizeAxis(AttrInt(context.node(), "axis"), static_cast<int64_t>(x.rank()),
                                  "attribute 'axis'");
  if (!axis.ok()) return Bad(context.node(), axis.status().message());
  return static_cast<size_t>(*axis);
}

Status CheckIndexContent(InferContext& context, Dim size) {
  const auto indices = Content(context, 1);
  if (!indices || !size.known()) return {};
  for (const Dim& d : *indices) {
    if (d.known() && (d.value < -size.value || d.value >= size.value)) {
      return Bad(context.node(),
                 fmt::format("input 'indices' holds {}, wanted {} to {}: the axis has "
                             "size {}",
                             d.value, -size.value, size.value - 1, size.value));
    }
  }
  return {};
}

Status CheckElementIndices(InferContext& context, size_t axis) {
  const Type& x = context.input_type(0);
  const Type& indices = context.input_type(1);
  if (!x.ranked || !indices.ranked) return {};
  if (x.rank() != indices.rank()) {
    return Bad(
        context.node(),
        fmt::format("input 'indices' has shape {}, wanted rank {} as 'data' of "
                    "shape {}",
                    Show(context.dims(), indices.dims), x.rank(), Show(context.dims(), x.dims)));
  }
  for (size_t d = 0; d < x.rank(); ++d) {
    const Dim have = indices.dims[d], most = x.dims[d];
    if (d == axis || !have.known() || !most.known() || have.value <= most.value) continue;
    return Bad(context.node(),
               fmt::format("input 'indices' has size {} at axis {}, wanted at most {} as "
                           "'data' of shape {}",
                           have.value, d, most.value, Show(context.dims(), x.dims)));
  }
  return CheckIndexContent(context, x.dims[axis]);
}

Status CheckReduction(InferContext& context) {
  const std::string_view how = AttrString(context.node(), "reduction");
  for (const char* known : {"none", "add", "mul", "max", "min"}) {
    if (how == known) return {};
  }
  return Bad(context.node(),
             fmt::format("attribute 'reduction' is '{:.64}', wanted none, add, mul, max "
                         "or min",
                         how));
}

Result<std::optional<size_t>> TupleLength(InferContext& context, size_t most) {
  const Type& indices = context.input_type(1);
  if (!indices.ranked) return std::optional<size_t>();
  if (indices.rank() == 0)
    return Bad(context.node(), "input 'indices' is a scalar, wanted rank 1 or more");
  const Dim length = indices.dims.back();
  if (!length.known()) return std::optional<size_t>();
  if (length.value > static_cast<int64_t>(most)) {
    return Bad(context.node(),
               fmt::format("input 'indices' has shape {}: its last axis holds {} entries, "
                           "wanted at most {}, one for each axis that it indexes",
                           Show(context.dims(), indices.dims), length.value, most));
  }
  return std::optional(static_cast<size_t>(length.value));
}

}  // namespace ge
