#include "ge/ops/microsoft/q_linear_map.h"

namespace ge {
namespace {

// Before opset 13 Softmax saw a matrix: the axes from `axis` on were one.
constexpr int64_t kSoftmaxAlongAxis = 13;

Status InferQLinearSoftmax(InferContext& c) {
  const int64_t opset = AttrInt(c.node(), "opset");
  if (opset < 1) {
    return Bad(c.node(), fmt::format("attribute 'opset' is {}, wanted the opset whose Softmax is "
                                     "meant, at least 1",
                                     opset));
  }
  const Type& x = c.input_type(0);
  if (x.ranked) {
    GE_RETURN_IF_ERROR(WantRank(x, 1, "QLinearSoftmax: input 'X'"));
    const auto axis = NormalizeAxis(AttrInt(c.node(), "axis"), static_cast<int64_t>(x.rank()),
                                    "attribute 'axis'");
    if (!axis.ok()) return Bad(c.node(), axis.status().message());
  }
  return InferQLinearMap(c);
}

std::vector<ValueId> DecomposeQLinearSoftmax(Transaction& t, FunctionId fn, const Node& node) {
  if (!Steps::Ready(t, fn, node)) return {};
  Steps s(t, fn, node);
  ValueId x = QLinearMapIn(&s);
  const Steps::Shape shape = s.ShapeOf(x);
  const auto rank = static_cast<int64_t>(shape.size());
  int64_t axis = AttrInt(node, "axis");
  axis += axis < 0 ? rank : 0;
  if (AttrInt(node, "opset", kSoftmaxAlongAxis) < kSoftmaxAlongAxis) {
    int64_t rows = 1, columns = 1;
    for (int64_t a = 0; a < rank; ++a) (a < axis ? rows : columns) *= shape[static_cast<size_t>(a)];
    x = s.Reshape(x, {rows, columns});
    axis = 1;
  }
  x = s.Map("Softmax", {x}, {{"axis", axis}});
  return {QLinearMapOut(&s, s.Reshape(x, shape))};
}

OpDef QLinearSoftmaxRecord() {
  OpDef op = QLinearMapRecord("QLinearSoftmax", InferQLinearSoftmax, DecomposeQLinearSoftmax);
  op.attrs = {{"axis", AttrKind::kInt, -1}, {"opset", AttrKind::kInt, true}};
  return op;
}

}  // namespace

// Softmax of a quantized tensor, quantized again.
GE_OP(microsoft_q_linear_softmax) = QLinearSoftmaxRecord();

}  // namespace ge
