#include "ge/ops/families/loss.h"

namespace ge {
namespace {

Status InferSoftmaxCrossEntropyLoss(InferContext& c) {
  GE_RETURN_IF_ERROR(InferLoss(c, "labels", "weights"));
  if (c.output_count() > 1 && c.has_output(1)) {
    c.SetOutput(1, Type(c.input_type(0)));
  }
  return {};
}

OpDef SoftmaxCrossEntropyLossRecord() {
  OpDef op{"", "SoftmaxCrossEntropyLoss",    13,          {}, {},
           {}, InferSoftmaxCrossEntropyLoss, PerInput<14>};
  op.inputs = {{"scores", kFloats, "T"},
               {"labels", kIndex, "Tind"},
               {"weights", kFloats, "T", Arity::kOptional}};
  op.outputs = {{"output", kFloats, "T"}, {"log_prob", kFloats, "T", Arity::kOptional}};
  op.attrs = {{"ignore_index", AttrKind::kInt}, {"reduction", AttrKind::kString, "mean"}};
  return op;
}

}  // namespace

// NegativeLogLikelihoodLoss of the logarithm of Softmax over the classes.
GE_OP(softmax_cross_entropy_loss) = SoftmaxCrossEntropyLossRecord();

}  // namespace ge
