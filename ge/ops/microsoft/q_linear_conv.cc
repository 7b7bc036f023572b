#include "ge/ops/microsoft/channels_last.h"
#include "ge/ops/onnx/conv.h"

namespace ge {
namespace {

// The weight is [filters, channels / group, kernel] wherever the image's channels are.
Status InferQLinearConvMs(InferContext& c) {
  GE_RETURN_IF_ERROR(WantFlag(c.node(), "channels_last"));
  const std::pair<size_t, const char*> single[] = {
      {1, "x_scale"}, {2, "x_zero_point"}, {6, "y_scale"}, {7, "y_zero_point"}};
  for (const auto& [i, name] : single) GE_RETURN_IF_ERROR(WantOne(c, i, name));
  for (size_t i : {size_t{4}, size_t{5}})
    GE_RETURN_IF_ERROR(WantOneOrFilters(c, i, "w", c.input_type(3)));
  const ConvPorts ports = {0, 3, 8, "x", "w"};
  if (AttrInt(c.node(), "channels_last") == 0) {
    return InferConvolution(c, ports, c.input_type(7).dtype);
  }
  ChannelsFirst first(&c, 0);
  return InferConvolution(first, ports, c.input_type(7).dtype);
}

std::vector<ValueId> DecomposeQLinearConvMs(Transaction& t, FunctionId fn, const Node& node) {
  if (!Steps::Ready(t, fn, node)) return {};
  Steps s(t, fn, node);
  const bool last = AttrInt(node, "channels_last") != 0;
  std::vector<ValueId> inputs = node.inputs;
  Steps::Shape shape = s.OutShape(0);
  if (last) {
    inputs[0] = WithChannelsFirst(&s, inputs[0]);
    shape = ChannelsFirstShape(std::move(shape));
  }
  std::vector<Attr> attrs;
  for (const Attr& a : node.attrs) {
    if (a.name != "channels_last") attrs.push_back(a);
  }
  const ValueId y =
      s.Node1("QLinearConv", std::move(inputs), s.OutDType(0), shape, std::move(attrs));
  return {last ? WithChannelsLast(&s, y) : y};
}

OpDef QLinearConvMsRecord() {
  OpDef op = MicrosoftRecord("QLinearConv", InferQLinearConvMs, DecomposeQLinearConvMs);
  constexpr DTypeSet kScale = Bit(DType::kFloat);
  op.inputs = {{"x", kBytes, "T1"},
               {"x_scale", kScale},
               {"x_zero_point", kBytes, "T1"},
               {"w", kBytes, "T2"},
               {"w_scale", kScale},
               {"w_zero_point", kBytes, "T2"},
               {"y_scale", kScale},
               {"y_zero_point", kBytes, "T3"},
               {"B", Bit(DType::kInt32), "T4", Arity::kOptional}};
  op.outputs = {{"y", kBytes, "T3"}};
  op.work = EffortConvolution<3>;
  op.attrs = ConvAttrs();
  op.attrs.push_back({"channels_last", AttrKind::kInt, 0});
  return op;
}

}  // namespace

// ONNX's convolution of quantized tensors, whose image may have its channels last.
GE_OP(microsoft_q_linear_conv) = QLinearConvMsRecord();

}  // namespace ge
