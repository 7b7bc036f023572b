#include "ge/ops/decompose.h"
#include "ge/ops/families/along_axis.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

// By reductions along the axis. 16-bit floats are computed in float32.
std::vector<ValueId> DecomposeLogSoftmax(Transaction& t, FunctionId fn, const Node& node) {
  Parts p(&t, fn, node);
  const DType wanted = p.TypeOf(node.inputs[0]).dtype, step = StepDType(wanted);
  if (!p.TypeOf(node.inputs[0]).ranked || p.TypeOf(node.inputs[0]).dims.empty()) return {};
  const ValueId x = p.Cast(node.inputs[0], step);
  const Type type = p.TypeOf(x);
  int64_t axis = AttrInt(node, "axis", -1);
  if (axis < 0) axis += static_cast<int64_t>(type.dims.size());
  Type one = type;
  one.dims[static_cast<size_t>(axis)] = KnownDim(1);
  const ValueId axes = p.Ints({axis});
  const ValueId moved = p.Add("Sub", {x, p.Add("ReduceMax", {x, axes}, one)}, type);
  const ValueId sum = p.Add("ReduceSum", {p.Add("Exp", {moved}, type), axes}, one);
  return {p.Cast(p.Add("Sub", {moved, p.Add("Log", {sum}, one)}, type), wanted)};
}

OpDef LogSoftmaxRecord() {
  OpDef op{"", "LogSoftmax", 13, {{"input", kFloats, "T"}}, {{"output", kFloats, "T"}}, {}};
  op.attrs = {{"axis", AttrKind::kInt, -1}};
  op.infer = InferAlongAxis;
  op.work = PerOutput<14>;
  op.decompose = DecomposeLogSoftmax;
  return op;
}

}  // namespace

// x - m - log(sum e^(x - m)) along one axis, m its largest element (the meaning since opset 13).
GE_OP(log_softmax) = LogSoftmaxRecord();

}  // namespace ge
