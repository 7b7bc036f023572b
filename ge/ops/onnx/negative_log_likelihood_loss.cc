#include "ge/ops/families/loss.h"

namespace ge {
namespace {

Status InferNegativeLogLikelihoodLoss(InferContext& c) { return InferLoss(c, "target", "weight"); }

OpDef NegativeLogLikelihoodLossRecord() {
  OpDef op{"", "NegativeLogLikelihoodLoss",    22,          {}, {},
           {}, InferNegativeLogLikelihoodLoss, PerOutput<2>};
  op.inputs = {{"input", kFloats, "T"},
               {"target", kIndex, "Tind"},
               {"weight", kFloats, "T", Arity::kOptional}};
  op.outputs = {{"loss", kFloats, "T"}};
  op.attrs = {{"ignore_index", AttrKind::kInt}, {"reduction", AttrKind::kString, "mean"}};
  return op;
}

}  // namespace

// Minus the log-probability of each target, weighted by its class; as it is, summed or averaged.
GE_OP(negative_log_likelihood_loss) = NegativeLogLikelihoodLossRecord();

}  // namespace ge
