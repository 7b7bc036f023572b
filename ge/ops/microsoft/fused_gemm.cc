#include "ge/ops/microsoft/activation.h"

namespace ge {
namespace {

// activation_alpha and activation_beta, as far as they are given.
std::vector<double> FusedGemmParams(const Node& n) {
  std::vector<double> params;
  for (const char* name : {"activation_alpha", "activation_beta"}) {
    if (!HasAttr(n, name)) break;
    params.push_back(AttrFloat(n, name));
  }
  return params;
}

Status InferFusedGemm(InferContext& c) {
  const Node& n = c.node();
  GE_RETURN_IF_ERROR(CheckActivation(n, FusedGemmParams(n)));
  const bool beta_alone = HasAttr(n, "activation_beta") && !HasAttr(n, "activation_alpha");
  if (beta_alone || HasAttr(n, "activation_gamma")) {
    return NotComputed(n,
                       "attribute 'activation_gamma', or 'activation_beta' without "
                       "'activation_alpha', is not computed here; wanted alpha, or alpha and "
                       "beta");
  }
  return FindOp("", "Gemm")->infer(c);
}

std::vector<ValueId> DecomposeFusedGemm(Transaction& t, FunctionId fn, const Node& node) {
  if (!Steps::Ready(t, fn, node)) return {};
  Steps s(t, fn, node);
  const DType wanted = s.DTypeOf(s.In(0)), step = StepDType(wanted);
  std::vector<ValueId> inputs;
  for (size_t i = 0; i < 3 && s.Has(i); ++i) inputs.push_back(s.Cast(s.In(i), step));
  std::vector<Attr> attrs;
  for (const Attr& a : node.attrs) {
    if (a.name.rfind("activation", 0) != 0) attrs.push_back(a);
  }
  const ValueId y = s.Node1("Gemm", std::move(inputs), step, s.OutShape(0), std::move(attrs));
  return {s.Cast(AddActivation(&s, node, y, FusedGemmParams(node)), wanted)};
}

OpDef FusedGemmRecord() {
  OpDef op = MicrosoftRecord("FusedGemm", InferFusedGemm, DecomposeFusedGemm);
  op.inputs = {{"A", kFloats, "T"}, {"B", kFloats, "T"}, {"C", kFloats, "T", Arity::kOptional}};
  op.outputs = {{"Y", kFloats, "T"}};
  op.attrs = {{"activation", AttrKind::kString, ""}, {"activation_alpha", AttrKind::kFloat},
              {"activation_beta", AttrKind::kFloat}, {"activation_gamma", AttrKind::kFloat},
              {"alpha", AttrKind::kFloat, 1.0f},     {"beta", AttrKind::kFloat, 1.0f},
              {"transA", AttrKind::kInt, 0},         {"transB", AttrKind::kInt, 0}};
  return op;
}

}  // namespace

// Gemm with an activation.
GE_OP(microsoft_fused_gemm) = FusedGemmRecord();

}  // namespace ge
