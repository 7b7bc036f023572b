#include "ge/ops/microsoft/activation.h"
#include "ge/ops/onnx/conv.h"

namespace ge {
namespace {

std::vector<double> FusedConvParams(const Node& n) {
  const Attr* a = n.attr("activation_params");
  const auto* list = a ? std::get_if<std::vector<double>>(&a->value) : nullptr;
  return list ? *list : std::vector<double>();
}

// Z is added to the convolution before the activation; its shape is the result's.
Status InferFusedConv(InferContext& c) {
  GE_RETURN_IF_ERROR(CheckActivation(c.node(), FusedConvParams(c.node())));
  return InferConvolution(c, {}, c.input_type(0).dtype);
}

std::vector<ValueId> DecomposeFusedConv(Transaction& t, FunctionId fn, const Node& node) {
  if (!Steps::Ready(t, fn, node)) return {};
  Steps s(t, fn, node);
  const Steps::Shape shape = s.OutShape(0);
  if (s.Has(3) && s.ShapeOf(s.In(3)) != shape) return {};
  const DType wanted = s.DTypeOf(s.In(0));
  const bool alone = !s.Has(3) && AttrString(node, "activation").empty();
  const DType step = alone ? wanted : StepDType(wanted);
  std::vector<ValueId> inputs;
  for (size_t i = 0; i < 3 && s.Has(i); ++i) inputs.push_back(s.Cast(s.In(i), step));
  std::vector<Attr> attrs;
  for (const Attr& a : node.attrs) {
    if (a.name != "activation" && a.name != "activation_params") attrs.push_back(a);
  }
  ValueId y = s.Node1("Conv", std::move(inputs), step, shape, std::move(attrs));
  y = AddActivation(&s, node, s.PairIf("Add", y, s.In(3)), FusedConvParams(node));
  return {s.Cast(y, wanted)};
}

OpDef FusedConvRecord() {
  OpDef op = MicrosoftRecord("FusedConv", InferFusedConv, DecomposeFusedConv);
  const Arity opt = Arity::kOptional;
  op.inputs = {
      {"X", kFloats, "T"}, {"W", kFloats, "T"}, {"B", kFloats, "T", opt}, {"Z", kFloats, "T", opt}};
  op.outputs = {{"Y", kFloats, "T"}};
  op.attrs = ConvAttrs();
  op.attrs.push_back({"activation", AttrKind::kString, ""});
  op.attrs.push_back({"activation_params", AttrKind::kFloats});
  return op;
}

}  // namespace

// A convolution, plus Z, with an activation.
GE_OP(microsoft_fused_conv) = FusedConvRecord();

}  // namespace ge
