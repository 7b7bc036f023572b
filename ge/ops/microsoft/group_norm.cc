#include "ge/ops/microsoft/checks.h"
#include "ge/ops/microsoft/steps.h"

namespace ge {
namespace {

Status InferGroupNorm(InferContext& c) {
  const Node& n = c.node();
  GE_RETURN_IF_ERROR(WantNotNegative(n, "epsilon"));
  GE_RETURN_IF_ERROR(WantFlag(n, "channels_last"));
  GE_RETURN_IF_ERROR(WantFlag(n, "activation"));
  const int64_t groups = AttrInt(n, "groups");
  if (groups < 1) {
    return Bad(n, fmt::format("attribute 'groups' is {}, wanted at least 1", groups));
  }
  GE_RETURN_IF_ERROR(WantRankOf(c, 0, "X", 4, 4));
  const Type& x = c.input_type(0);
  if (!x.ranked) return InferSame(c);
  const Dim channels = x.dims[AttrInt(n, "channels_last") != 0 ? 3 : 1];
  if (channels.known() && channels.value % groups != 0) {
    return Bad(n, fmt::format("input 'X' has {} channels, wanted a multiple of groups {}",
                              channels.value, groups));
  }
  GE_RETURN_IF_ERROR(WantVector(c, 1, "gamma", channels));
  GE_RETURN_IF_ERROR(WantVector(c, 2, "beta", channels));
  return InferSame(c);
}

// ONNX's GroupNormalization between transpositions where channels are last, and x * sigmoid(x).
std::vector<ValueId> DecomposeGroupNorm(Transaction& t, FunctionId fn, const Node& node) {
  if (!Steps::Ready(t, fn, node)) return {};
  Steps s(t, fn, node);
  const bool last = AttrInt(node, "channels_last") != 0;
  const DType wanted = s.DTypeOf(s.In(0)), step = StepDType(wanted);
  ValueId x = s.Cast(s.In(0), step);
  if (last) x = s.Transpose(x, {0, 3, 1, 2});
  x = s.Map("GroupNormalization", {x, s.Cast(s.In(1), step), s.Cast(s.In(2), step)},
            {{"num_groups", AttrInt(node, "groups", 1)}, {"epsilon", AttrFloat(node, "epsilon")}});
  if (last) x = s.Transpose(x, {0, 2, 3, 1});
  if (AttrInt(node, "activation") != 0) x = s.Map("Swish", {x});
  return {s.Cast(x, wanted)};
}

OpDef GroupNormRecord() {
  OpDef op = MicrosoftRecord("GroupNorm", InferGroupNorm, DecomposeGroupNorm);
  op.inputs = {{"X", kFloats, "T"}, {"gamma", kFloats, "M"}, {"beta", kFloats, "M"}};
  op.outputs = {{"Y", kFloats, "T"}};
  op.attrs = {{"activation", AttrKind::kInt, true},
              {"channels_last", AttrKind::kInt, 1},
              {"epsilon", AttrKind::kFloat, 1e-5f},
              {"groups", AttrKind::kInt, true}};
  return op;
}

}  // namespace

// Group normalisation of images whose channels stand last by default, with SiLU on demand.
GE_OP(microsoft_group_norm) = GroupNormRecord();

}  // namespace ge
