#include <algorithm>

#include "ge/ops/infer_shapes.h"
#include "ge/ops/known_ints.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferShape(InferContext& c) {
  const Type& x = c.input_type(0);
  if (!x.ranked) {
    return SetTensor(c, 0, DType::kInt64, {c.FreshDim("rank", false)});
  }
  const auto rank = static_cast<int64_t>(x.rank());
  const auto clamp = [&](int64_t v) { return std::clamp<int64_t>(v < 0 ? v + rank : v, 0, rank); };
  const int64_t start = clamp(AttrInt(c.node(), "start"));
  const int64_t end = std::max(start, clamp(AttrInt(c.node(), "end", rank)));
  GE_RETURN_IF_ERROR(SetTensor(c, 0, DType::kInt64, {KnownDim(end - start)}));
  SetContent(c, 0, DType::kInt64, {x.dims.begin() + start, x.dims.begin() + end});
  return {};
}

}  // namespace

// The sizes of a tensor, or those of its axes from start to end; both are clamped to the rank.
GE_OP(shape) = {"",
                "Shape",
                25,
                {{"data", kAnyDType, "T"}},
                {{"shape", Bit(DType::kInt64), "T1"}},
                {{"start", AttrKind::kInt, 0}, {"end", AttrKind::kInt}},
                InferShape,
                PerOutput<0>};

}  // namespace ge
