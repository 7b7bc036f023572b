#include "ge/ops/infer_shapes.h"
#include "ge/ops/known_ints.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferFlatten(InferContext& c) {
  const Type& x = c.input_type(0);
  if (!x.ranked) {
    return SetTensor(c, 0, x.dtype, {c.FreshDim("flatten", false), c.FreshDim("flatten", false)});
  }
  const auto rank = static_cast<int64_t>(x.rank());
  int64_t axis = AttrInt(c.node(), "axis");
  if (axis < -rank || axis > rank) {
    return Bad(c.node(), "attribute 'axis' is " + std::to_string(axis) + ", wanted " +
                             std::to_string(-rank) + " to " + std::to_string(rank) +
                             ": the input has rank " + std::to_string(rank));
  }
  if (axis < 0) axis += rank;
  std::vector<Dim> dims(2, KnownDim(1));
  for (int64_t i = 0; i < rank; ++i) {
    Dim& side = dims[i < axis ? 0 : 1];
    GE_ASSIGN_OR_RETURN(side, Checked(c.node(), c.dims().Mul(side, x.dims[static_cast<size_t>(i)]),
                                      "a flattened size"));
  }
  GE_RETURN_IF_ERROR(SetTensor(c, 0, x.dtype, std::move(dims)));
  PassContent(c);
  return {};
}

}  // namespace

// A matrix: the axes before `axis` and those from it on.
GE_OP(flatten) = {"",
                  "Flatten",
                  25,
                  {{"input", kAnyDType, "T"}},
                  {{"output", kAnyDType, "T"}},
                  {{"axis", AttrKind::kInt, 1}},
                  InferFlatten,
                  PerOutput<0>};

}  // namespace ge
