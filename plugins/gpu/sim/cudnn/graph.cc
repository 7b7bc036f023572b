#include "plugins/gpu/sim/cudnn/graph.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace ge_engines::gpu::sim::dnn {
namespace {

using namespace cudnn;  // NOLINT: this file is that interface

[[noreturn]] void Refuse(Status status, const char* text) { throw Fault{status, text}; }

struct Names {
  Attribute alpha, beta, shape, x, w, y;
};
Names NamesOf(DescriptorType type) {
  if (type == kOperationForward) {
    return {kForwardAlpha, kForwardBeta, kForwardConvDesc, kForwardX, kForwardW, kForwardY};
  }
  if (type == kOperationBackwardData) {
    return {kBackwardDataAlpha, kBackwardDataBeta, kBackwardDataConvDesc,
            kBackwardDataDx,    kBackwardDataW,    kBackwardDataDy};
  }
  return {kBackwardFilterAlpha, kBackwardFilterBeta, kBackwardFilterConvDesc,
          kBackwardFilterX,     kBackwardFilterDw,   kBackwardFilterDy};
}

std::vector<int64_t> DimsOf(const Descriptor& operation, Attribute tensor) {
  return operation.Part(tensor, kTensor).All<int64_t>(kTensorDimensions);
}

void CheckTensor(const Descriptor& d) {
  const auto dims = d.All<int64_t>(kTensorDimensions), strides = d.All<int64_t>(kTensorStrides);
  if (dims.size() != strides.size()) Refuse(kBadParam, "a tensor with strides of another rank");
  const auto positive = [](int64_t n) { return n > 0; };
  if (!std::all_of(dims.begin(), dims.end(), positive) ||
      !std::all_of(strides.begin(), strides.end(), positive)) {
    Refuse(kBadParam, "a tensor with dims or strides below 1");
  }
  const int64_t align = d.One<int64_t>(kTensorByteAlignment);
  if (align < 1 || (align & (align - 1)) != 0) Refuse(kBadParam, "an alignment of no power of 2");
  const auto type = d.One<DataType>(kTensorDataType);
  if (type != kFloat && type != kHalf && type != kBFloat16) {
    Refuse(kUnsupportedDataType, "tensors are float32, float16 or bfloat16 here");
  }
}

void CheckConvolution(const Descriptor& d) {
  const auto axes = static_cast<size_t>(d.One<int64_t>(kConvolutionSpatialDims));
  for (const Attribute a : {kConvolutionDilations, kConvolutionFilterStrides,
                            kConvolutionPrePaddings, kConvolutionPostPaddings}) {
    const bool pad = a == kConvolutionPrePaddings || a == kConvolutionPostPaddings;
    const auto values = d.All<int64_t>(a);
    if (values.size() != axes) Refuse(kBadParam, "a convolution with another number of axes");
    for (const int64_t v : values) {
      if (v < (pad ? 0 : 1)) Refuse(kBadParam, "a stride, dilation or pad that is too small");
    }
  }
  if (d.One<DataType>(kConvolutionCompType) != kFloat) {
    Refuse(kUnsupportedDataType, "sums are float32 here");
  }
}

// Image, weights and windows fit each other.
void CheckShapes(const Descriptor& d) {
  const Names names = NamesOf(d.type());
  const Descriptor& shape = d.Part(names.shape, kConvolution);
  const auto x = DimsOf(d, names.x), w = DimsOf(d, names.w), y = DimsOf(d, names.y);
  const auto axes = static_cast<size_t>(shape.One<int64_t>(kConvolutionSpatialDims));
  if (x.size() != axes + 2 || w.size() != x.size() || y.size() != x.size()) {
    Refuse(kBadParam, "a convolution of tensors of other ranks");
  }
  if (axes < 2) Refuse(kUnsupportedShape, "a convolution of one spatial axis");
  const bool groups = x[1] % w[1] == 0 && w[0] % (x[1] / w[1]) == 0;
  if (y[0] != x[0] || y[1] != w[0] || !groups) {
    Refuse(kBadParam, "images or channels that do not fit");
  }
  const auto pre = shape.All<int64_t>(kConvolutionPrePaddings),
             post = shape.All<int64_t>(kConvolutionPostPaddings),
             stride = shape.All<int64_t>(kConvolutionFilterStrides),
             dilation = shape.All<int64_t>(kConvolutionDilations);
  for (size_t k = 0; k < axes; ++k) {
    const int64_t room = x[k + 2] + pre[k] + post[k] - dilation[k] * (w[k + 2] - 1) - 1;
    if (room < 0 || room / stride[k] + 1 != y[k + 2]) {
      Refuse(kBadParam, "windows that do not fit the image");
    }
  }
}

void CheckPointwise(const Descriptor& d) {
  const Descriptor& function = d.Part(kOperationPointwisePwDescriptor, kPointwise);
  const bool two = function.One<PointwiseMode>(cudnn::kPointwiseMode) == kAdd;
  if (two != d.Has(kOperationPointwiseB)) Refuse(kBadParam, "another number of operands");
  const auto x = DimsOf(d, kOperationPointwiseX), y = DimsOf(d, kOperationPointwiseY);
  if (x != y) Refuse(kBadParam, "a pointwise result of other dims");
  if (!two) return;
  const auto b = DimsOf(d, kOperationPointwiseB);
  if (b.size() != y.size()) Refuse(kBadParam, "an operand of another rank");
  for (size_t k = 0; k < b.size(); ++k) {
    if (b[k] != 1 && b[k] != y[k]) Refuse(kBadParam, "an operand that does not repeat");
  }
}

}  // namespace

void CheckValues(const Descriptor& d) {
  switch (d.type()) {
    case kTensor:
      return CheckTensor(d);
    case kConvolution:
      return CheckConvolution(d);
    case kOperationForward:
    case kOperationBackwardData:
    case kOperationBackwardFilter:
      return CheckShapes(d);
    case kOperationPointwise:
      return CheckPointwise(d);
    case kVariantPack:
      if (d.All<int64_t>(kVariantPackUniqueIds).size() !=
          d.All<void*>(kVariantPackDataPointers).size()) {
        Refuse(kBadParam, "another number of addresses than of ids");
      }
      return;
    default:
      return;
  }
}

int64_t TensorValues::elements() const {
  int64_t n = 1;
  for (const int64_t d : dims) n *= d;
  return n;
}

uint64_t TensorValues::bytes() const {
  int64_t last = 0;
  for (size_t k = 0; k < dims.size(); ++k) last += (dims[k] - 1) * strides[k];
  return static_cast<uint64_t>(last + 1) * (type == kFloat ? 4 : 2);
}

// ---- from descriptors --------------------------------------------------------------------------

size_t Graph::Add(const Descriptor& tensor) {
  TensorValues t;
  t.uid = tensor.One<int64_t>(kTensorUniqueId);
  t.type = tensor.One<DataType>(kTensorDataType);
  t.dims = tensor.All<int64_t>(kTensorDimensions);
  t.strides = tensor.All<int64_t>(kTensorStrides);
  t.alignment = tensor.One<int64_t>(kTensorByteAlignment);
  t.is_virtual = tensor.One<char>(kTensorIsVirtual) != 0;
  for (size_t k = 0; k < tensors.size(); ++k) {
    if (tensors[k].uid != t.uid) continue;
    const bool same = tensors[k].dims == t.dims && tensors[k].strides == t.strides &&
                      tensors[k].type == t.type && tensors[k].is_virtual == t.is_virtual;
    if (!same) Refuse(kDuplicatedEntries, "two tensors of one id");
    return k;
  }
  tensors.push_back(std::move(t));
  return tensors.size() - 1;
}

void Graph::AddOperation(const Descriptor& d) {
  OperationValues o;
  o.type = d.type();
  if (o.pointwise()) {
    const Descriptor& f = d.Part(kOperationPointwisePwDescriptor, kPointwise);
    o.mode = f.One<PointwiseMode>(cudnn::kPointwiseMode);
    o.nan = f.Has(kPointwiseNanPropagation);
    o.low = f.One<double>(kPointwiseReluLowerClip);
    o.bounded = f.Has(kPointwiseReluUpperClip);
    o.high = f.One<double>(kPointwiseReluUpperClip);
    o.slope = f.One<double>(kPointwiseReluLowerClipSlope);
    o.elu = f.One<double>(kPointwiseEluAlpha, 1);
    o.swish = f.One<double>(kPointwiseSwishBeta, 1);
    o.x = Add(d.Part(kOperationPointwiseX, kTensor));
    o.has_b = d.Has(kOperationPointwiseB);
    if (o.has_b) o.w = Add(d.Part(kOperationPointwiseB, kTensor));
    o.y = Add(d.Part(kOperationPointwiseY, kTensor));
  } else {
    const Names names = NamesOf(o.type);
    const Descriptor& shape = d.Part(names.shape, kConvolution);
    o.stride = shape.All<int64_t>(kConvolutionFilterStrides);
    o.dilation = shape.All<int64_t>(kConvolutionDilations);
    o.pre = shape.All<int64_t>(kConvolutionPrePaddings);
    o.post = shape.All<int64_t>(kConvolutionPostPaddings);
    if (d.One<float>(names.alpha) != 1 || d.One<float>(names.beta) != 0) {
      Refuse(kNotSupported, "an alpha other than 1, or a beta other than 0");
    }
    o.x = Add(d.Part(names.x, kTensor));
    o.w = Add(d.Part(names.w, kTensor));
    o.y = Add(d.Part(names.y, kTensor));
  }
  operations.push_back(std::move(o));
}

// Each tensor is made once at most; what is virtual is made before it is read.
void Graph::Sort() {
  std::vector<bool> made(tensors.size(), false), has(tensors.size());
  for (size_t k = 0; k < tensors.size(); ++k) has[k] = !tensors[k].is_virtual;
  for (const OperationValues& o : operations) {
    if (made[o.result()]) Refuse(kBadParam, "two operations with one result");
    made[o.result()] = true;
    has[o.result()] = false;
  }
  std::vector<OperationValues> left = std::move(operations);
  operations.clear();
  while (!left.empty()) {
    const auto ready = std::find_if(left.begin(), left.end(), [&](const OperationValues& o) {
      for (const size_t k : {o.x, o.w, o.y}) {
        const bool reads = k != o.result() && (k != o.w || !o.pointwise() || o.has_b);
        if (reads && !has[k]) return false;
      }
      return true;
    });
    if (ready == left.end()) Refuse(kBadParam, "a virtual tensor that nothing makes, or a cycle");
    has[ready->result()] = true;
    operations.push_back(std::move(*ready));
    left.erase(ready);
  }
}

std::shared_ptr<const Graph> Graph::Of(const Descriptor& given) {
  auto graph = std::make_shared<Graph>();
  for (const auto at : given.All<cudnn::Descriptor>(kOperationGraphOps)) {
    const Descriptor& operation = Descriptor::At(at);
    switch (operation.type()) {
      case kOperationForward:
      case kOperationBackwardData:
      case kOperationBackwardFilter:
      case kOperationPointwise:
        break;
      default:
        Refuse(kBadParam, "a graph of something else than operations");
    }
    graph->AddOperation(operation);
  }
  graph->Sort();
  return graph;
}

// ---- engines -----------------------------------------------------------------------------------

// One convolution and pointwise operations behind it. Of float32 only what is added of the result's
// dims, then to each channel, then a plain ReLU: a fused kernel made beforehand has no more.
bool Graph::RunsDirectly() const {
  const OperationValues& first = operations[0];
  if (first.pointwise()) return false;
  const bool exact = tensors[first.x].type == kFloat && tensors[first.w].type == kFloat;
  const bool filter = first.type == kOperationBackwardFilter;
  if (operations.size() > 1 && filter) return false;
  bool bias = false, relu = false;
  size_t at = first.result();
  for (size_t k = 1; k < operations.size(); ++k) {
    const OperationValues& o = operations[k];
    if (!o.pointwise() || o.x != at || !tensors[at].is_virtual) return false;
    at = o.y;
    if (!exact) continue;
    if (first.type != kOperationForward || relu) return false;
    if (o.mode == kAdd) {
      const bool whole = tensors[o.w].dims == tensors[o.y].dims;
      if (bias || (whole && k != 1)) return false;
      bias = !whole;
    } else {
      relu = o.mode == kReluForward && !o.bounded && o.slope == 0 && o.low == 0;
      if (!relu || !bias) return false;
    }
  }
  return operations.size() == 1 || !exact || bias;
}

std::vector<int> Graph::EnginesOf(HeurMode mode) const {
  const bool exact = tensors[operations[0].x].type == kFloat;
  std::vector<int> engines;
  if (mode == kModeA) {
    if (exact) engines.push_back(kRounding);
    if (operations[0].type == kOperationBackwardFilter) engines.push_back(kUnordered);
    engines.push_back(kRefusing);
  }
  if (RunsDirectly()) engines.push_back(kDirect);
  return engines;
}

std::vector<NumericalNote> Graph::NotesOf(int engine) const {
  if (engine == kRounding) return {kNoteTensorCore, kNoteDownConvertInputs};
  if (engine == kUnordered) return {kNoteNondeterministic};
  if (tensors[operations[0].x].type != kFloat) return {kNoteTensorCore};
  return {};
}

void Graph::CheckEngine(int engine) const {
  if (engine == kRefusing) Refuse(kNotSupported, "an engine that refuses this device");
  for (const OperationValues& o : operations) {
    if (!o.pointwise() && o.pre != o.post) {
      Refuse(kUnsupportedPadding, "pads that differ at the two ends");
    }
  }
}

uint64_t Graph::WorkspaceOf(int) const {
  // Small convolutions with one operation need none.
  const TensorValues& result = tensors[operations[0].result()];
  if (operations.size() == 1 && result.elements() < 64) return 0;
  return 256 + 4 * static_cast<uint64_t>(result.elements());
}

}  // namespace ge_engines::gpu::sim::dnn
