#include "ge/ops/microsoft/channels_last.h"
#include "ge/ops/microsoft/q_linear_map.h"

namespace ge {
namespace {

Status InferQLinearAveragePool(InferContext& c) {
  GE_RETURN_IF_ERROR(CheckQLinearMap(c));
  for (const char* flag : {"ceil_mode", "channels_last", "count_include_pad"}) {
    GE_RETURN_IF_ERROR(WantFlag(c.node(), flag));
  }
  const Type& x = c.input_type(0);
  GE_RETURN_IF_ERROR(WantRank(x, 3, "QLinearAveragePool: input 'X'"));
  if (!x.ranked) {
    c.SetOutput(0, UnrankedTensor(x.dtype));
    return {};
  }
  const size_t first = AttrInt(c.node(), "channels_last") != 0 ? 1 : 2;
  std::vector<Dim> dims = x.dims;
  const auto begin = dims.begin() + static_cast<ptrdiff_t>(first);
  const std::vector<Dim> spatial(begin, begin + static_cast<ptrdiff_t>(dims.size() - 2));
  GE_ASSIGN_OR_RETURN(const Window w,
                      ReadWindow(c.node(), spatial, AttrInts(c.node(), "kernel_shape")));
  const bool ceil_mode = AttrInt(c.node(), "ceil_mode") != 0;
  for (size_t i = 0; i < spatial.size(); ++i) {
    GE_ASSIGN_OR_RETURN(dims[first + i], WindowOutput(c.dims(), spatial[i], w, i, ceil_mode));
  }
  return SetTensor(c, 0, x.dtype, std::move(dims));
}

std::vector<ValueId> DecomposeQLinearAveragePool(Transaction& t, FunctionId fn, const Node& node) {
  if (!Steps::Ready(t, fn, node)) return {};
  Steps s(t, fn, node);
  const bool last = AttrInt(node, "channels_last") != 0;
  ValueId x = QLinearMapIn(&s);
  Steps::Shape shape = s.OutShape(0);
  if (last) {
    x = WithChannelsFirst(&s, x);
    shape = ChannelsFirstShape(std::move(shape));
  }
  std::vector<Attr> attrs;
  for (const Attr& a : node.attrs) {
    if (a.name != "channels_last") attrs.push_back(a);
  }
  x = s.Node1("AveragePool", {x}, DType::kFloat, shape, std::move(attrs));
  if (last) x = WithChannelsLast(&s, x);
  return {QLinearMapOut(&s, x)};
}

OpDef QLinearAveragePoolRecord() {
  OpDef op =
      QLinearMapRecord("QLinearAveragePool", InferQLinearAveragePool, DecomposeQLinearAveragePool);
  op.attrs = {{"auto_pad", AttrKind::kString, "NOTSET"},
              {"ceil_mode", AttrKind::kInt, 0},
              {"channels_last", AttrKind::kInt, 0},
              {"count_include_pad", AttrKind::kInt, 0},
              {"kernel_shape", AttrKind::kInts, true},
              {"pads", AttrKind::kInts},
              {"strides", AttrKind::kInts}};
  return op;
}

}  // namespace

// The mean of each window of a quantized tensor, quantized again.
GE_OP(microsoft_q_linear_average_pool) = QLinearAveragePoolRecord();

}  // namespace ge
