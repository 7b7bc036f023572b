#include "ge/ops/microsoft/experts.h"

namespace ge {
namespace {

constexpr ExpertPorts kMoePorts = {{2, 4, 6}, {3, 5, 7}};

Status InferMoe(InferContext& c) {
  const Type& second = c.input_type(4);
  GE_RETURN_IF_ERROR(WantRankOf(c, 4, "fc2_experts_weights", 3, 3));
  const Dim inter = second.ranked ? second.dims[2] : c.FreshDim("inter", false);
  GE_ASSIGN_OR_RETURN(const ExpertDims d, CheckExperts(c, kMoePorts, inter));
  GE_RETURN_IF_ERROR(WantShape(c, 2, "fc1_experts_weights", {{d.experts, d.wide, d.hidden}}));
  GE_RETURN_IF_ERROR(WantShape(c, 4, "fc2_experts_weights", {{d.experts, d.hidden, d.inter}}));
  if (HasInput(c, 6)) {
    GE_RETURN_IF_ERROR(WantShape(c, 6, "fc3_experts_weights", {{d.experts, d.inter, d.hidden}}));
  }
  return InferSame(c);
}

std::vector<ValueId> DecomposeMoe(Transaction& t, FunctionId fn, const Node& node) {
  if (!Steps::Ready(t, fn, node)) return {};
  Steps s(t, fn, node);
  const Steps::Shape router = s.ShapeOf(s.In(1)), second = s.ShapeOf(s.In(4));
  Experts e{router[0], router[1], second[1], second[2], s.Size(s.In(2), 1), AttrInt(node, "k")};
  if (e.tokens == 0 || e.hidden == 0 || e.inter == 0) return {};
  const ValueId scores = s.Cast(s.In(1), e.step);
  const ValueId shares = s.Map("Softmax", {scores}, {{"axis", int64_t{1}}});
  e.picks = AddPicks(&s, shares, e.experts, e.k);
  e.shares = AtPicks(&s, e, shares);
  if (AttrInt(node, "normalize_routing_weights") != 0) e.shares = AddSumOne(&s, e.shares);
  std::vector<ValueId> weights;
  for (size_t i : kMoePorts.weights) {
    weights.push_back(s.Has(i) ? s.Cast(OfGroups(&s, e, s.In(i)), e.step) : 0);
  }
  return {AddExperts(&s, e, node, kMoePorts, weights)};
}

OpDef MoeRecord() {
  OpDef op = MicrosoftRecord("MoE", InferMoe, DecomposeMoe);
  const Arity opt = Arity::kOptional;
  constexpr DTypeSet kReal = kFloats & ~Bit(DType::kDouble);
  op.inputs = {{"input", kReal, "T"},
               {"router_probs", kReal, "T"},
               {"fc1_experts_weights", kReal, "T"},
               {"fc1_experts_bias", kReal, "T", opt},
               {"fc2_experts_weights", kReal, "T"},
               {"fc2_experts_bias", kReal, "T", opt},
               {"fc3_experts_weights", kReal, "T", opt},
               {"fc3_experts_bias", kReal, "T", opt}};
  op.outputs = {{"output", kReal, "T"}};
  op.attrs = ExpertAttrs();
  return op;
}

}  // namespace

// Tokens go through the few of many small networks that a router picks for each.
GE_OP(microsoft_moe) = MoeRecord();

}  // namespace ge
