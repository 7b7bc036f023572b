#include "ge/ops/onnx/conv.h"

namespace ge {
namespace {

Status InferConv(InferContext& c) { return InferConvolution(c, {}, c.input_type(0).dtype); }

OpDef ConvRecord() {
  OpDef op{"", "Conv", 22, {}, {{"Y", kFloats, "T"}}, {}, InferConv, EffortConvolution<1>};
  op.inputs = {{"X", kFloats, "T"}, {"W", kFloats, "T"}, {"B", kFloats, "T", Arity::kOptional}};
  op.attrs = ConvAttrs();
  return op;
}

}  // namespace

// Grouped, dilated cross-correlation over any number of spatial axes.
GE_OP(conv) = ConvRecord();

}  // namespace ge
