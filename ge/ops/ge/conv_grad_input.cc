#include <algorithm>

#include "ge/ops/families/conv_grad.h"
#include "ge/ops/onnx/conv.h"

namespace ge {
namespace {

Status InferConvGradInput(InferContext& c) {
  const Type &dy = c.input_type(0), &w = c.input_type(1);
  GE_RETURN_IF_ERROR(WantRank(dy, 3, "ge.ConvGradInput: input 'dY' (N x M x windows)"));
  GE_RETURN_IF_ERROR(WantRank(w, 3, "ge.ConvGradInput: input 'W' (M x C / group x kernel)"));
  GE_ASSIGN_OR_RETURN(const auto x, ShapeInput(c, w.ranked ? w : dy, "image"));
  return x && w.ranked && dy.ranked ? WantConvGrad(c, *x, w.dims, dy) : Status();
}

// The transposed convolution; what no window reaches comes back by output_padding.
std::vector<ValueId> DecomposeConvGradInput(Transaction& t, FunctionId fn, const Node& node) {
  Parts p(&t, fn, node);
  const Type to = p.TypeOf(node.outputs[0]);
  const auto s = ReadConvGrad(node, to, p.TypeOf(node.inputs[1]), p.TypeOf(node.inputs[0]));
  if (!s) return {};
  if (s->empty()) return {AddZeros(&p, to)};
  std::vector<int64_t> pads = s->begin, more;
  for (const int64_t end : s->end) {
    pads.push_back(std::max<int64_t>(0, end));
    more.push_back(std::max<int64_t>(0, -end));
  }
  return {p.Add("ConvTranspose", {node.inputs[0], node.inputs[1]}, to,
                {{"strides", s->strides},
                 {"dilations", s->dilations},
                 {"group", s->group},
                 {"pads", std::move(pads)},
                 {"output_padding", std::move(more)}})};
}

// A multiply and an add for each weight of a filter, per element of dY.
Work WorkOfConvGradInput(const Node&, std::span<const Type> in, std::span<const Type> out) {
  double filter = 0;
  if (in.size() > 1 && in[1].is_static() && in[1].rank() > 0 && in[1].dims[0].value > 0) {
    filter = ElementsOf(in[1]) / static_cast<double>(in[1].dims[0].value);
  }
  return {in.empty() ? 0 : 2 * filter * ElementsOf(in[0]), BytesOf(in, out)};
}

OpDef ConvGradInputRecord() {
  OpDef op{"ge", "ConvGradInput", 1, {}, {{"dX", kFloats, "T"}}, ConvAttrs(), InferConvGradInput};
  op.inputs = {{"dY", kFloats, "T"}, {"W", kFloats, "T"}, {"shape", Bit(DType::kInt64)}};
  op.work = WorkOfConvGradInput;
  op.decompose = DecomposeConvGradInput;
  return op;
}

}  // namespace

// How Conv's result dY changes with its image, whose shape is given, added up over all windows.
GE_OP(conv_grad_input) = ConvGradInputRecord();

}  // namespace ge
