#include "ge/ops/microsoft/q_linear_map.h"

namespace ge {
namespace {

Status InferQLinearGlobalPool(InferContext& c) {
  GE_RETURN_IF_ERROR(CheckQLinearMap(c));
  GE_RETURN_IF_ERROR(WantFlag(c.node(), "channels_last"));
  const Type& x = c.input_type(0);
  GE_RETURN_IF_ERROR(WantRank(x, 3, "QLinearGlobalAveragePool: input 'X'"));
  if (!x.ranked) {
    c.SetOutput(0, UnrankedTensor(x.dtype));
    return {};
  }
  const size_t first = AttrInt(c.node(), "channels_last") != 0 ? 1 : 2;
  std::vector<Dim> dims = x.dims;
  for (size_t i = 0; i + 2 < dims.size(); ++i) {
    if (dims[first + i] == KnownDim(0)) {
      return Bad(c.node(), fmt::format("input 'X' has shape {}, wanted no empty spatial axis",
                                       Show(c.dims(), x.dims)));
    }
    dims[first + i] = KnownDim(1);
  }
  return SetTensor(c, 0, x.dtype, std::move(dims));
}

std::vector<ValueId> DecomposeQLinearGlobalPool(Transaction& t, FunctionId fn, const Node& node) {
  if (!Steps::Ready(t, fn, node)) return {};
  Steps s(t, fn, node);
  const bool last = AttrInt(node, "channels_last") != 0;
  Steps::Shape axes;
  for (int64_t a = 2, rank = s.Rank(s.In(0)); a < rank; ++a) axes.push_back(last ? a - 1 : a);
  return {QLinearMapOut(&s, s.Reduce("ReduceMean", QLinearMapIn(&s), axes))};
}

OpDef QLinearGlobalPoolRecord() {
  OpDef op = QLinearMapRecord("QLinearGlobalAveragePool", InferQLinearGlobalPool,
                              DecomposeQLinearGlobalPool);
  op.attrs = {{"channels_last", AttrKind::kInt, 0}};
  return op;
}

}  // namespace

// The mean of each channel of a quantized tensor, quantized again.
GE_OP(microsoft_q_linear_global_average_pool) = QLinearGlobalPoolRecord();

}  // namespace ge
