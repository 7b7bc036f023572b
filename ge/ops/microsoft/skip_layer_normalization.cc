#include "ge/ops/microsoft/skip_normalization.h"

namespace ge {
namespace {

Status InferSkipLayerNormalization(InferContext& c) {
  return InferSkipNormalization(c, {"gamma", "beta", "bias"});
}

std::vector<ValueId> DecomposeSkipLayerNormalization(Transaction& t, FunctionId fn,
                                                     const Node& node) {
  if (!Steps::Ready(t, fn, node)) return {};
  Steps s(t, fn, node);
  const DType wanted = s.DTypeOf(s.In(0));
  const ValueId sum = AddSkipSum(&s, 4);
  const DType step = s.DTypeOf(sum);
  std::vector<ValueId> inputs = {sum, s.Cast(s.In(2), step)}, out = s.NoOutputs();
  if (s.Has(3)) inputs.push_back(s.Cast(s.In(3), step));
  const double epsilon = AttrFloat(node, "epsilon");
  const auto type = [&](ValueId v) { return t.graph().fn(fn).value(v).type; };
  std::vector<Type> types = {type(sum)};
  const bool rows = s.Wants(1) || s.Wants(2);
  Type row = type(sum);
  row.dims.back() = KnownDim(1);
  row.dtype = DType::kFloat;
  if (rows) types.insert(types.end(), {row, row});
  const std::vector<ValueId> made =
      t.AddNode(fn, node.id, "", "LayerNormalization", inputs,
                {{"axis", int64_t{-1}}, {"epsilon", epsilon}}, types, {&node});
  out[0] = s.Cast(made[0], wanted);
  for (size_t i : {1u, 2u}) {
    if (s.Wants(i)) out[i] = made[i];
  }
  if (s.Wants(3)) out[3] = s.Cast(sum, wanted);
  return out;
}

}  // namespace

// LayerNormalization of input + skip + bias over the last axis.
GE_OP(microsoft_skip_layer_normalization) =
    SkipNormalizationRecord("SkipLayerNormalization", {"gamma", "beta", "bias"},
                            InferSkipLayerNormalization, DecomposeSkipLayerNormalization);

}  // namespace ge
