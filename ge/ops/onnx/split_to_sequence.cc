#include <fmt/format.h>

#include "ge/ops/families/sequences.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferSplitToSequence(InferContext& c) {
  Type element = c.input_type(0);
  if (!element.ranked) {
    c.SetOutput(0, SequenceType(UnrankedTensor(element.dtype)));
    return {};
  }
  const auto axis = NormalizeAxis(AttrInt(c.node(), "axis"), static_cast<int64_t>(element.rank()),
                                  "attribute 'axis'");
  if (!axis.ok()) return Bad(c.node(), axis.status().message());
  if (c.has_input(1)) {
    element.dims[static_cast<size_t>(*axis)] = c.FreshDim("part", true);
  } else if (AttrInt(c.node(), "keepdims") != 0) {
    element.dims[static_cast<size_t>(*axis)] = KnownDim(1);
  } else {
    element.dims.erase(element.dims.begin() + *axis);
  }
  c.SetOutput(0, SequenceType(std::move(element)));
  return {};
}

}  // namespace

// Parts of a tensor along an axis: of given sizes, of one size, or single slices.
GE_OP(split_to_sequence) = {"",
                            "SplitToSequence",
                            24,
                            {{"input", kClassic, "T"}, {"split", kIndex, "I", Arity::kOptional}},
                            {{"output_sequence", kAnyType}},
                            {{"axis", AttrKind::kInt, 0}, {"keepdims", AttrKind::kInt, 1}},
                            InferSplitToSequence,
                            PerOutput<0>};

}  // namespace ge
