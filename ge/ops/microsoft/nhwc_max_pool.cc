#include "ge/ops/families/pooling.h"
#include "ge/ops/microsoft/channels_last.h"

namespace ge {
namespace {

Status InferNhwcMaxPool(InferContext& c) {
  GE_RETURN_IF_ERROR(WantFlag(c.node(), "ceil_mode"));
  ChannelsFirst first(&c, 0);
  return InferPool(first);
}

std::vector<ValueId> DecomposeNhwcMaxPool(Transaction& t, FunctionId fn, const Node& node) {
  if (!Steps::Ready(t, fn, node)) return {};
  Steps s(t, fn, node);
  const ValueId y = s.Node1("MaxPool", {WithChannelsFirst(&s, s.In(0))}, s.DTypeOf(s.In(0)),
                            ChannelsFirstShape(s.OutShape(0)), node.attrs);
  return {WithChannelsLast(&s, y)};
}

OpDef NhwcMaxPoolRecord() {
  OpDef op = MicrosoftRecord("NhwcMaxPool", InferNhwcMaxPool, DecomposeNhwcMaxPool);
  op.inputs = {{"x", kBytes, "T"}};
  op.outputs = {{"y", kBytes, "T"}};
  op.work = PoolWork;
  op.attrs = {{"auto_pad", AttrKind::kString, "NOTSET"},
              {"ceil_mode", AttrKind::kInt, 0},
              {"dilations", AttrKind::kInts},
              {"kernel_shape", AttrKind::kInts, true},
              {"pads", AttrKind::kInts},
              {"strides", AttrKind::kInts}};
  return op;
}

}  // namespace

// The greatest code of each window, with the channels last.
GE_OP(microsoft_nhwc_max_pool) = NhwcMaxPoolRecord();

}  // namespace ge
