#include <fmt/format.h>

#include "ge/ops/decompose.h"
#include "ge/ops/elementwise.h"

namespace ge {
namespace {

Status InferGelu(InferContext& c) {
  const std::string_view how = AttrString(c.node(), "approximate");
  if (how != "none" && how != "tanh") {
    return Bad(c.node(),
               fmt::format("attribute 'approximate' is '{:.64}', wanted 'none' or 'tanh'", how));
  }
  return InferSame(c);
}

// x/2 * (1 + erf(x / sqrt 2)), or x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3))).
std::vector<ValueId> DecomposeGelu(Transaction& t, FunctionId fn, const Node& node) {
  constexpr double kRootHalf = 0.70710678118654752, kRootTwoByPi = 0.79788456080286536;
  Parts p(&t, fn, node);
  const DType wanted = p.TypeOf(node.inputs[0]).dtype, step = StepDType(wanted);
  const ValueId x = p.Cast(node.inputs[0], step);
  const Type type = p.TypeOf(x);
  ValueId f = 0;
  if (AttrString(node, "approximate") == "tanh") {
    const ValueId cube = p.Add("Mul", {p.Add("Mul", {x, x}, type), x}, type);
    const ValueId bent = p.Add("Mul", {cube, p.Scalar(step, 0.044715)}, type);
    const ValueId sum = p.Add("Add", {x, bent}, type);
    f = p.Add("Tanh", {p.Add("Mul", {sum, p.Scalar(step, kRootTwoByPi)}, type)}, type);
  } else {
    f = p.Add("Erf", {p.Add("Mul", {x, p.Scalar(step, kRootHalf)}, type)}, type);
  }
  const ValueId up = p.Add("Add", {f, p.Scalar(step, 1)}, type);
  const ValueId half = p.Add("Mul", {x, p.Scalar(step, 0.5)}, type);
  return {p.Cast(p.Add("Mul", {half, up}, type), wanted)};
}

OpDef GeluRecord() {
  OpDef op = Unary<25>("Gelu", 20);
  op.attrs = {{"approximate", AttrKind::kString, "none"}};
  op.infer = InferGelu;
  op.decompose = DecomposeGelu;
  return op;
}

}  // namespace

// The Gaussian error linear unit: x times the normal distribution's share below x.
GE_OP(gelu) = GeluRecord();

}  // namespace ge
