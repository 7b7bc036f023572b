#include "ge/ops/decompose.h"
#include "ge/ops/elementwise.h"
#include "ge/ops/finite_attrs.h"

namespace ge {
namespace {

// Of equal shape: neither input is repeated.
Status InferSwiGlu(InferContext& c) {
  GE_RETURN_IF_ERROR(WantFinite(c.node(), {"alpha"}));
  const Type& a = c.input_type(0);
  if (a.ranked) GE_RETURN_IF_ERROR(WantShape(c, 1, "B", a.dims));
  return InferSame(c);
}

// Swish(A) * B.
std::vector<ValueId> DecomposeSwiGlu(Transaction& t, FunctionId fn, const Node& node) {
  Parts p(&t, fn, node);
  const DType wanted = p.TypeOf(node.inputs[0]).dtype, step = StepDType(wanted);
  const ValueId a = p.Cast(node.inputs[0], step), b = p.Cast(node.inputs[1], step);
  const Type type = p.TypeOf(a);
  const ValueId gate = p.Add("Swish", {a}, type, {{"alpha", AttrFloat(node, "alpha")}});
  return {p.Cast(p.Add("Mul", {gate, b}, type), wanted)};
}

OpDef SwiGluRecord() {
  OpDef op{"", "SwiGLU", 28, {}, {{"Y", kFloats, "T"}}, {{"alpha", AttrKind::kFloat, 1.0f}}};
  op.inputs = {{"A", kFloats, "T"}, {"B", kFloats, "T"}};
  op.infer = InferSwiGlu;
  op.work = PerOutput<13>;
  op.decompose = DecomposeSwiGlu;
  return op;
}

}  // namespace

// A * sigmoid(alpha * A) * B.
GE_OP(swi_glu) = SwiGluRecord();

}  // namespace ge
