#include "ge/ops/microsoft/checks.h"
#include "ge/ops/microsoft/steps.h"

namespace ge {
namespace {

Status InferGatedRms(InferContext& c) {
  const Node& n = c.node();
  const std::string_view activation = AttrString(n, "activation");
  if (activation != "silu" && activation != "swish" && activation != "sigmoid") {
    return Bad(n, fmt::format("attribute 'activation' is '{:.64}', wanted silu, swish or sigmoid",
                              activation));
  }
  GE_RETURN_IF_ERROR(WantNotNegative(n, "epsilon"));
  GE_RETURN_IF_ERROR(WantRankOf(c, 1, "scale", 1, 1));
  const Type &x = c.input_type(0), &scale = c.input_type(1);
  GE_RETURN_IF_ERROR(WantRank(x, 1, "GatedRMSNorm: input 'X'"));
  if (x.ranked) GE_RETURN_IF_ERROR(WantShape(c, 2, "gate", x.dims));
  if (x.ranked && scale.ranked && x.dims.back().known() && scale.dims[0].known()) {
    const int64_t last = x.dims.back().value, group = scale.dims[0].value;
    if (group < 1 || last % group != 0) {
      return Bad(n, fmt::format("input 'X' has shape {}, wanted a last axis that is a multiple of "
                                "the length of 'scale', {}",
                                Show(c.dims(), x.dims), group));
    }
  }
  return InferSame(c);
}

// RMSNormalization of groups as long as the scale.
std::vector<ValueId> DecomposeGatedRms(Transaction& t, FunctionId fn, const Node& node) {
  if (!Steps::Ready(t, fn, node)) return {};
  Steps s(t, fn, node);
  const DType wanted = s.DTypeOf(s.In(0)), step = StepDType(wanted);
  const Steps::Shape whole = s.ShapeOf(s.In(0));
  Steps::Shape grouped = whole;
  grouped.back() = s.Size(s.In(1), 0);
  grouped.insert(grouped.end() - 1, whole.back() / grouped.back());
  const ValueId x = s.Reshape(s.Cast(s.In(0), step), grouped);
  const ValueId y = s.Map("RMSNormalization", {x, s.Cast(s.In(1), step)},
                          {{"axis", int64_t{-1}}, {"epsilon", AttrFloat(node, "epsilon")}});
  const bool plain = AttrString(node, "activation") == "sigmoid";
  const ValueId gate = s.Map(plain ? "Sigmoid" : "Swish", {s.Cast(s.In(2), step)});
  return {s.Cast(s.Pair("Mul", s.Reshape(y, whole), gate), wanted)};
}

OpDef GatedRmsRecord() {
  constexpr DTypeSet kReal = kFloats & ~Bit(DType::kDouble);
  OpDef op = MicrosoftRecord("GatedRMSNorm", InferGatedRms, DecomposeGatedRms);
  op.inputs = {{"X", kReal, "T"}, {"scale", kReal, "T"}, {"gate", kReal, "T"}};
  op.outputs = {{"Y", kReal, "T"}};
  op.attrs = {{"activation", AttrKind::kString, "silu"}, {"epsilon", AttrKind::kFloat, 1e-5f}};
  return op;
}

}  // namespace

// Groups of the last axis over the root of their mean square, scaled, times an activation of gate.
GE_OP(microsoft_gated_rms_norm) = GatedRmsRecord();

}  // namespace ge
