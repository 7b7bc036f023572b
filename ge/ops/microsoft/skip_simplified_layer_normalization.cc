#include "ge/ops/microsoft/skip_normalization.h"

namespace ge {
namespace {

Status InferSkipSimplified(InferContext& c) {
  // Nothing is subtracted, so no mean is there to save.
  GE_RETURN_IF_ERROR(RefuseOutput(c, 1, "mean"));
  return InferSkipNormalization(c, {"gamma", "bias"});
}

std::vector<ValueId> DecomposeSkipSimplified(Transaction& t, FunctionId fn, const Node& node) {
  if (!Steps::Ready(t, fn, node)) return {};
  Steps s(t, fn, node);
  const DType wanted = s.DTypeOf(s.In(0));
  const double epsilon = AttrFloat(node, "epsilon");
  const ValueId sum = AddSkipSum(&s, 3);
  std::vector<ValueId> out = s.NoOutputs();
  const ValueId y = s.Map("RMSNormalization", {sum, s.Cast(s.In(2), s.DTypeOf(sum))},
                          {{"axis", int64_t{-1}}, {"epsilon", epsilon}});
  out[0] = s.Cast(y, wanted);
  if (s.Wants(2)) {
    out[2] = s.Cast(s.Map("Reciprocal", {AddRootMeanSquare(&s, sum, epsilon)}), DType::kFloat);
  }
  if (s.Wants(3)) out[3] = s.Cast(sum, wanted);
  return out;
}

}  // namespace

// RMSNormalization of input + skip + bias over the last axis.
GE_OP(microsoft_skip_simplified_layer_normalization) =
    SkipNormalizationRecord("SkipSimplifiedLayerNormalization", {"gamma", "bias"},
                            InferSkipSimplified, DecomposeSkipSimplified);

}  // namespace ge
