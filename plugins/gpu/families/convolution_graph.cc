#include "plugins/gpu/families/convolution_graph.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "plugins/units/conv/conv.h"
#include "plugins/units/conv/conv_grad.h"
#include "plugins/units/parser.h"

namespace ge_engines::gpu {
namespace {

using Operation = CudnnGraph::Operation;

const ConvSpec& SpecOf(const Unit& unit) {
  const auto* grad = As<ConvGradSpec>(unit);
  return grad != nullptr ? grad->conv : *As<ConvSpec>(unit);
}

// Axes of size `one` in front of the spatial ones.
Dims Spatial(Dims dims, size_t first, int64_t one) {
  while (dims.size() - first < 2) dims.insert(dims.begin() + first, one);
  return dims;
}

// Values added to each channel, in their order.
Ids BiasesOf(const Unit& unit) {
  Ids biases;
  if (Is<ConvSpec>(unit)) biases.assign(unit.in.begin() + 2, unit.in.end());
  for (const uint32_t v : unit.bias) biases.push_back(v);
  return biases;
}

// False: the library has no such function.
bool FindOperation(const PostOp& post, Operation* o) {
  switch (post.fn) {
    case Fn::kAdd:
      return o->mode = cudnn::kAdd, post.operand != 0;
    case Fn::kRelu:
      o->slope = static_cast<double>(post.a);
      return o->mode = cudnn::kReluForward, true;
    case Fn::kClip:
      // From a to b: a bounded Relu where a is 0.
      o->bounded = true;
      o->high = static_cast<double>(post.b);
      return o->mode = cudnn::kReluForward, post.a == 0 && post.b >= 0 && std::isfinite(post.b);
    case Fn::kSigmoid:
      return o->mode = cudnn::kSigmoidForward, true;
    case Fn::kTanh:
      return o->mode = cudnn::kTanhForward, true;
    case Fn::kElu:
      o->alpha = static_cast<double>(post.a);
      return o->mode = cudnn::kEluForward, true;
    case Fn::kSwish:
      return o->mode = cudnn::kSwishForward, true;
    case Fn::kGelu:
      return o->mode = cudnn::kGeluForward, true;
    case Fn::kGeluTanh:
      return o->mode = cudnn::kGeluTanhForward, true;
    default:
      return false;
  }
}

}  // namespace

bool FindCudnnType(int32_t dtype, cudnn::DataType* type) {
  switch (dtype) {
    case GE_F32:
      return *type = cudnn::kFloat, true;
    case GE_F16:
      return *type = cudnn::kHalf, true;
    case GE_BF16:
      return *type = cudnn::kBFloat16, true;
    default:
      return false;
  }
}

ConvolutionShape ConvolutionShape::Of(const Unit& unit) {
  const ConvSpec& spec = SpecOf(unit);
  const auto* grad = As<ConvGradSpec>(unit);
  const bool back = spec.transposed || (grad != nullptr && !grad->of_weights);
  ConvolutionShape s;
  if (back) s.direction = cudnn::kOperationBackwardData;
  if (grad != nullptr && grad->of_weights) s.direction = cudnn::kOperationBackwardFilter;
  s.x = Spatial(spec.transposed ? spec.dst : spec.src, 2, 1);
  s.y = Spatial(spec.transposed ? spec.src : spec.dst, 2, 1);
  s.w = {s.y[1], s.x[1] / spec.groups};
  const Dims kernel(spec.weights.begin() + (spec.groups > 1 ? 3 : 2), spec.weights.end());
  s.w.insert(s.w.end(), kernel.begin(), kernel.end());
  s.w = Spatial(s.w, 2, 1);
  s.stride = Spatial(spec.stride, 0, 1);
  s.dilation = Spatial(spec.dilation, 0, 1);
  s.pad = Spatial(spec.pad_l, 0, 0);
  s.PutInFrame();
  return s;
}

uint64_t ConvolutionShape::MostWorkspace() const {
  constexpr uint64_t kAlways = 1 << 20;  // tables, whatever the size
  const int64_t elements = Product(frame.empty() ? x : frame) + Product(w) + Product(y);
  return kAlways + 2 * sizeof(float) * static_cast<uint64_t>(elements);
}

void ConvolutionShape::PutInFrame() {
  bool alike = true;
  Dims whole = x, first(x.size(), 0), more = y;
  for (size_t k = 0; k < pad.size(); ++k) {
    const int64_t reach = dilation[k] * (w[k + 2] - 1) + 1;
    const int64_t room = x[k + 2] + 2 * pad[k] - reach;
    alike = alike && room >= 0 && room / stride[k] + 1 == y[k + 2];
    first[k + 2] = pad[k];
    const int64_t end = pad[k] + x[k + 2], last = (y[k + 2] - 1) * stride[k] + reach;
    whole[k + 2] = last;
    if (direction != cudnn::kOperationBackwardData || end <= last) continue;
    // The image goes on in the last window's stride, or in that of windows of zeros.
    more[k + 2] += (end - last) / stride[k];
    whole[k + 2] = end;
  }
  if (alike) return;
  frame = whole;
  before = first;
  std::fill(pad.begin(), pad.end(), 0);
  if (more != y) windows = std::exchange(y, more);
}

std::vector<ConvolutionStep> ConvolutionSteps(const Unit& unit, const Parser& parser) {
  std::vector<ConvolutionStep> steps;
  const int32_t dtype = parser.dtype(unit.out[0]);
  const auto same = [&](uint32_t v) { return parser.dtype(v) == dtype; };
  for (const uint32_t v : BiasesOf(unit)) {
    if (!same(v) || Product(parser.dims(v)) != unit.dims[1]) return steps;
    steps.push_back({v, 0, {}});
  }
  for (const PostOp& post : unit.post_ops) {
    ConvolutionStep step{0, post.operand, {}};
    if (!FindOperation(post, &step.operation)) return steps;
    const uint32_t v = post.operand;
    if (v != 0 && (!same(v) || parser.dims(v) != unit.dims)) return steps;
    steps.push_back(step);
  }
  return steps;
}

Unit BehindSteps(const Unit& unit, size_t done) {
  Unit rest = unit;
  const Ids biases = BiasesOf(unit);
  const size_t of_biases = std::min(done, biases.size());
  rest.bias.assign(biases.begin() + of_biases, biases.end());
  rest.post_ops.erase(rest.post_ops.begin(),
                      rest.post_ops.begin() + static_cast<int64_t>(done - of_biases));
  return rest;
}

ConvolutionGraph::ConvolutionGraph(const ConvolutionShape& shape, cudnn::DataType type,
                                   std::vector<ConvolutionStep> steps) {
  graph.most_workspace = shape.MostWorkspace();
  Operation convolution;
  convolution.type = shape.direction;
  convolution.x = graph.Add(type, shape.frame.empty() ? shape.x : shape.frame);
  convolution.w = graph.Add(type, shape.w);
  convolution.y = graph.Add(type, shape.y);
  convolution.stride = shape.stride;
  convolution.dilation = shape.dilation;
  convolution.pad = shape.pad;
  result = shape.direction == cudnn::kOperationForward        ? convolution.y
           : shape.direction == cudnn::kOperationBackwardData ? convolution.x
                                                              : convolution.w;
  graph.operations.push_back(convolution);
  // The library's own fused convolutions add what has the result's dims before the bias.
  for (size_t k = 0; k + 1 < steps.size(); ++k) {
    if (steps[k].bias != 0 && steps[k + 1].operand != 0) std::swap(steps[k], steps[k + 1]);
  }
  for (const ConvolutionStep& step : steps) Append(step, type);
}

// What was the result becomes virtual, and the step's is the result.
void ConvolutionGraph::Append(const ConvolutionStep& step, cudnn::DataType type) {
  const Dims dims = graph.tensors[result].dims;
  Operation next = step.operation;
  next.x = graph.AddVirtual(dims);
  next.y = result;
  Operation& last = graph.operations.back();
  (last.type == cudnn::kOperationBackwardData ? last.x : last.y) = next.x;
  if (step.bias != 0 || step.operand != 0) {
    Dims operand = dims;
    if (step.bias != 0) {
      std::fill(operand.begin(), operand.end(), 1);
      operand[1] = dims[1];
    }
    next.w = graph.Add(type, operand);
    operands.push_back(step.bias != 0 ? step.bias : step.operand);
  }
  graph.operations.push_back(next);
}

}  // namespace ge_engines::gpu
