#include "ge/ops/decompose.h"
#include "ge/ops/elementwise.h"

namespace ge {
namespace {

Status InferStopGradient(InferContext& c) {
  GE_RETURN_IF_ERROR(InferSame(c));
  PassContent(c);
  return {};
}

std::vector<ValueId> DecomposeStopGradient(Transaction& t, FunctionId fn, const Node& node) {
  Parts p(&t, fn, node);
  return {p.Add("Identity", {node.inputs[0]}, p.TypeOf(node.inputs[0]))};
}

OpDef StopGradientRecord() {
  OpDef op{"ge",
           "StopGradient",
           1,
           {{"X", kAnyDType | kFloat6s, "T"}},
           {{"Y", kAnyDType | kFloat6s, "T"}},
           {},
           InferStopGradient};
  op.work = PerOutput<0>;
  op.decompose = DecomposeStopGradient;
  return op;
}

}  // namespace

// The same tensor, which derivatives take for a constant. Not Identity, so that it is there still
// when they are built.
GE_OP(stop_gradient) = StopGradientRecord();

}  // namespace ge
