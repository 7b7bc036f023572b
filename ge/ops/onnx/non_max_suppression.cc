#include <fmt/format.h>

#include "ge/ops/families/sequences.h"
#include "ge/ops/scalar_inputs.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferNonMaxSuppression(InferContext& c) {
  const Type &boxes = c.input_type(0), &scores = c.input_type(1);
  const Dim batch = c.FreshDim("batch", false), number = c.FreshDim("boxes", false);
  const Dim first = boxes.ranked && boxes.rank() == 3 ? boxes.dims[0] : batch;
  const Dim second = boxes.ranked && boxes.rank() == 3 ? boxes.dims[1] : number;
  GE_RETURN_IF_ERROR(WantShape(c, 0, "boxes", std::vector<Dim>{first, second, KnownDim(4)}));
  const Dim classes =
      scores.ranked && scores.rank() == 3 ? scores.dims[1] : c.FreshDim("classes", false);
  GE_RETURN_IF_ERROR(WantShape(c, 1, "scores", std::vector<Dim>{first, classes, second}));
  const char* limits[] = {"max_output_boxes_per_class", "iou_threshold", "score_threshold"};
  for (size_t i = 2; i < 5; ++i) {
    if (c.input_count() > i && c.has_input(i)) {
      GE_RETURN_IF_ERROR(WantScalar(c, i, limits[i - 2]));
    }
  }
  return SetTensor(c, 0, DType::kInt64, {c.FreshDim("selected", true), KnownDim(3)});
}

}  // namespace

// Boxes of the highest scores that do not overlap a better one of their class too much, as rows of
// (batch, class, box).
GE_OP(non_max_suppression) = {
    "",
    "NonMaxSuppression",
    11,
    {{"boxes", Bit(DType::kFloat)},
     {"scores", Bit(DType::kFloat)},
     {"max_output_boxes_per_class", Bit(DType::kInt64), "", Arity::kOptional},
     {"iou_threshold", Bit(DType::kFloat), "", Arity::kOptional},
     {"score_threshold", Bit(DType::kFloat), "", Arity::kOptional}},
    {{"selected_indices", Bit(DType::kInt64)}},
    {{"center_point_box", AttrKind::kInt, 0}},
    InferNonMaxSuppression,
    PerOutput<0>};

}  // namespace ge
