#include <algorithm>

#include "ge/ops/families/conv_grad.h"
#include "ge/ops/onnx/conv.h"

namespace ge {
namespace {

Status InferConvGradWeight(InferContext& c) {
  const Type &x = c.input_type(0), &dy = c.input_type(1);
  GE_RETURN_IF_ERROR(WantRank(x, 3, "ge.ConvGradWeight: input 'X' (N x C x spatial)"));
  GE_RETURN_IF_ERROR(WantRank(dy, 3, "ge.ConvGradWeight: input 'dY' (N x M x windows)"));
  GE_ASSIGN_OR_RETURN(const auto w, ShapeInput(c, x.ranked ? x : dy, "weight"));
  return w && x.ranked && dy.ranked ? WantConvGrad(c, x.dims, *w, dy) : Status();
}

std::vector<int64_t> Order(size_t rank, std::vector<int64_t> front) {
  for (size_t i = front.size(); i < rank; ++i) front.push_back(static_cast<int64_t>(i));
  return front;
}

class WeightParts {
 public:
  WeightParts(Parts* p, const ConvGradShape& s, DType dtype) : p_(*p), s_(s), dtype_(dtype) {}

  ValueId Turned(ValueId v, const std::vector<int64_t>& sizes, const std::vector<int64_t>& perm) {
    std::vector<int64_t> turned;
    for (const int64_t axis : perm) turned.push_back(sizes[static_cast<size_t>(axis)]);
    return p_.Add("Transpose", {v}, TensorType(dtype_, turned), {{"perm", perm}});
  }

  // [N, C, ...] as [C / group, group * N, ...]: each channel of a group is an image now, and a
  // group's channels are the old images.
  ValueId Images(ValueId x) {
    const int64_t n = s_.x[0], each = s_.x[1] / s_.group;
    const size_t rank = s_.x.size();
    if (s_.group == 1) return Turned(x, s_.x, Order(rank, {1, 0}));
    std::vector<int64_t> parts = {n, s_.group, each}, merged = {each, s_.group * n};
    parts.insert(parts.end(), s_.x.begin() + 2, s_.x.end());
    merged.insert(merged.end(), s_.x.begin() + 2, s_.x.end());
    const ValueId cut = p_.Add("Reshape", {x, p_.Ints(parts)}, TensorType(dtype_, parts));
    const ValueId turned = Turned(cut, parts, Order(rank + 1, {2, 1, 0}));
    return p_.Add("Reshape", {turned, p_.Ints(merged)}, TensorType(dtype_, merged));
  }

  // A convolution by dY for a kernel, whose steps are the dilations and the other way round. What
  // is left over of an axis lets it make more taps than there are.
  ValueId Weight(ValueId x, ValueId dy) {
    const size_t rank = s_.x.size(), axes = rank - 2;
    std::vector<int64_t> pads = s_.begin, made = {s_.x[1] / s_.group, s_.dy[1]}, start, end, axis;
    for (size_t i = 0; i < axes; ++i) {
      pads.push_back(std::max<int64_t>(0, s_.end[i]));
      made.push_back(s_.kernel[i] + std::max<int64_t>(0, -s_.end[i]) / s_.dilations[i]);
      if (made.back() == s_.kernel[i]) continue;
      start.push_back(0);
      end.push_back(s_.kernel[i]);
      axis.push_back(static_cast<int64_t>(2 + i));
    }
    const std::vector<int64_t> swap = Order(rank, {1, 0});
    ValueId w = p_.Add("Conv", {Images(x), Turned(dy, s_.dy, swap)}, TensorType(dtype_, made),
                       {{"strides", s_.dilations},
                        {"dilations", s_.strides},
                        {"group", s_.group},
                        {"pads", std::move(pads)}});
    if (!axis.empty()) {
      for (size_t i = 0; i < axes; ++i) made[2 + i] = s_.kernel[i];
      w = p_.Add("Slice", {w, p_.Ints(start), p_.Ints(end), p_.Ints(axis)},
                 TensorType(dtype_, made));
    }
    return Turned(w, made, swap);
  }

 private:
  Parts& p_;
  const ConvGradShape& s_;
  const DType dtype_;
};

std::vector<ValueId> DecomposeConvGradWeight(Transaction& t, FunctionId fn, const Node& node) {
  Parts p(&t, fn, node);
  const Type to = p.TypeOf(node.outputs[0]);
  const auto s = ReadConvGrad(node, p.TypeOf(node.inputs[0]), to, p.TypeOf(node.inputs[1]));
  if (!s) return {};
  if (s->empty()) return {AddZeros(&p, to)};
  return {WeightParts(&p, *s, to.dtype).Weight(node.inputs[0], node.inputs[1])};
}

// A multiply and an add for each weight of a filter, per element of dY.
Work WorkOfConvGradWeight(const Node&, std::span<const Type> in, std::span<const Type> out) {
  double filter = 0;
  if (!out.empty() && out[0].is_static() && out[0].rank() > 0 && out[0].dims[0].value > 0) {
    filter = ElementsOf(out[0]) / static_cast<double>(out[0].dims[0].value);
  }
  return {in.size() < 2 ? 0 : 2 * filter * ElementsOf(in[1]), BytesOf(in, out)};
}

OpDef ConvGradWeightRecord() {
  OpDef op{"ge", "ConvGradWeight", 1, {}, {{"dW", kFloats, "T"}}, ConvAttrs(), InferConvGradWeight};
  op.inputs = {{"X", kFloats, "T"}, {"dY", kFloats, "T"}, {"shape", Bit(DType::kInt64)}};
  op.work = WorkOfConvGradWeight;
  op.decompose = DecomposeConvGradWeight;
  return op;
}

}  // namespace

// How Conv's result dY changes with its weight, whose shape is given, added up over all windows.
GE_OP(conv_grad_weight) = ConvGradWeightRecord();

}  // namespace ge
