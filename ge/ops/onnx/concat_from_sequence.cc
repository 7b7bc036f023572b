#include <fmt/format.h>

#include "ge/ops/families/sequences.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferConcatFromSequence(InferContext& c) {
  GE_ASSIGN_OR_RETURN(const Type element, ElementOfSequence(c, 0));
  if (!element.is_tensor() || !element.ranked) {
    c.SetOutput(0, UnrankedTensor(element.dtype));
    return {};
  }
  const bool fresh = AttrInt(c.node(), "new_axis") != 0;
  const auto rank = static_cast<int64_t>(element.rank()) + (fresh ? 1 : 0);
  const auto axis = NormalizeAxis(AttrInt(c.node(), "axis"), rank, "attribute 'axis'");
  if (!axis.ok()) return Bad(c.node(), axis.status().message());
  std::vector<Dim> dims = element.dims;
  if (fresh) dims.insert(dims.begin() + *axis, Dim());
  dims[static_cast<size_t>(*axis)] = c.FreshDim("joined", true);
  return SetTensor(c, 0, element.dtype, std::move(dims));
}

}  // namespace

// The elements put together along an axis, which is a new one with new_axis = 1.
GE_OP(concat_from_sequence) = {"",
                               "ConcatFromSequence",
                               11,
                               {{"input_sequence", kAnyType}},
                               {{"concat_result", kAnyDType}},
                               {{"axis", AttrKind::kInt, true}, {"new_axis", AttrKind::kInt, 0}},
                               InferConcatFromSequence,
                               PerOutput<0>};

}  // namespace ge
