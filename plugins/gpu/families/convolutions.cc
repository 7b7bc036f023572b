#include "plugins/gpu/families/convolutions.h"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "plugins/gpu/families/convolution_graph.h"
#include "plugins/gpu/kernel_call.h"
#include "plugins/gpu/kernels/moves.h"
#include "plugins/gpu/numbers_of.h"
#include "plugins/gpu/strides.h"
#include "plugins/units/conv/conv.h"
#include "plugins/units/conv/conv_grad.h"

namespace ge_engines::gpu {
namespace {

using device::Reads;
using device::Recorder;
using device::Ref;
using device::Use;
using device::Writes;

// Launches a plan. Its places are the plan's, then the workspace.
class CudnnCall final : public device::Kernel {
 public:
  explicit CudnnCall(std::shared_ptr<const CudnnPlan> plan) : plan_(std::move(plan)) {}
  Result Queue(const device::Call& call) const override {
    return plan_->Queue(reinterpret_cast<cuda::Stream>(call.stream), call.at);
  }

 private:
  const std::shared_ptr<const CudnnPlan> plan_;
};

// y[i] = x[i - before], and zero where x has no such element.
void RecordFrame(const Dims& y_dims, const Dims& x_dims, const Dims& before, int bytes,
                 const Ref& y, const Ref& x, Recorder* recorder) {
  PadArgs args;
  args.axes = AxesOf(y_dims);
  args.from = StridesFor(StridesOf(x_dims));
  std::copy(before.begin(), before.end(), args.before);
  std::copy(x_dims.begin(), x_dims.end(), args.size);
  AddKernel(BySize(KernelId::pad_1, bytes), args, Product(y_dims), {Writes(y), Reads(x)}, recorder);
}

bool TakesWithout(const Unit&, const Parser&, Why* why) {
  return why->Say(GE_WHY_OP, "no kernel but cuDNN's");
}

constexpr GpuKind kKinds[] = {
    {&ConvGradSpec::kKind, TakesWithout, nullptr, nullptr},
    {&kConvGradWeight, TakesWithout, nullptr, nullptr},
};

// One unit's kernels.
class Convolution {
 public:
  Convolution(const Unit& unit, Recorder* recorder)
      : unit_(unit),
        recorder_(*recorder),
        shape_(ConvolutionShape::Of(unit)),
        bytes_(recorder->parser().size(unit.out[0])),
        cut_(!shape_.frame.empty() && shape_.direction == cudnn::kOperationBackwardData) {
    if (!FindCudnnType(recorder_.parser().dtype(unit.out[0]), &type_)) {
      throw std::runtime_error("no convolution of such a dtype");
    }
  }

  // The plan that takes as many of the unit's functions as one does.
  void Plan(int device, bool may_round, CudnnPlans* plans) {
    steps_ = ConvolutionSteps(unit_, recorder_.parser());
    if (cut_) {
      // What is added of the image's dims does not fit its frame.
      const auto end = std::find_if(steps_.begin(), steps_.end(),
                                    [](const ConvolutionStep& s) { return s.operand != 0; });
      steps_.erase(end, steps_.end());
    }
    for (;;) {
      std::string why;
      graph_ = std::make_unique<ConvolutionGraph>(shape_, type_, steps_);
      graph_->graph.may_round = may_round;
      plan_ = plans->For(device, graph_->graph, &why);
      if (plan_ != nullptr) return;
      if (steps_.empty()) throw std::runtime_error(why);
      steps_.pop_back();
    }
  }

  void Record() {
    // All is read before the result gets its place: it may take the place of one of them.
    std::vector<Use> uses;
    for (size_t k = 0, from = 0; k < 3; ++k) {  // image, weights, windows
      const bool made = k == graph_->result;
      uses.push_back(made ? Use() : Reads(recorder_.Read(unit_.in[InputOf(from++)])));
    }
    if (!cut_ && !shape_.frame.empty()) {
      uses[0] = Framed(shape_.frame, shape_.x, shape_.before, uses[0].ref);
    }
    if (!shape_.windows.empty()) {
      uses[2] = Framed(shape_.y, shape_.windows, Dims(shape_.y.size(), 0), uses[2].ref);
    }
    for (const uint32_t v : graph_->operands) uses.push_back(Reads(recorder_.Read(v)));
    const Ref result = recorder_.Write(unit_.out[0]);
    uses[graph_->result] = Writes(cut_ ? Between(shape_.frame) : result);
    uses.push_back(Writes(recorder_.Workspace(plan_->workspace())));
    const Ref made = uses[graph_->result].ref;
    recorder_.Add(std::make_unique<CudnnCall>(plan_), std::move(uses));
    if (cut_) {
      Dims back = shape_.before;
      for (int64_t& at : back) at = -at;
      RecordFrame(shape_.x, shape_.frame, back, bytes_, result, made, &recorder_);
    }
    RecordPostOps(BehindSteps(unit_, steps_.size()), result, &recorder_);
  }

 private:
  // Of the two tensors that are read, in the order of the graph's, the unit's input: those that go
  // back to the image read the windows first.
  size_t InputOf(size_t k) const {
    return shape_.direction == cudnn::kOperationBackwardData ? 1 - k : k;
  }
  Ref Between(const Dims& dims) {
    return recorder_.Between(static_cast<uint64_t>(Product(dims) * bytes_));
  }
  Use Framed(const Dims& frame, const Dims& dims, const Dims& before, const Ref& x) {
    const Ref made = Between(frame);
    RecordFrame(frame, dims, before, bytes_, made, x, &recorder_);
    return Reads(made);
  }

  const Unit& unit_;
  Recorder& recorder_;
  const ConvolutionShape shape_;
  const int bytes_;
  const bool cut_;  // its result is cut out of a frame
  cudnn::DataType type_ = cudnn::kFloat;
  std::vector<ConvolutionStep> steps_;
  std::unique_ptr<ConvolutionGraph> graph_;
  std::shared_ptr<const CudnnPlan> plan_;
};

}  // namespace

std::span<const GpuKind> ConvolutionKinds() { return kKinds; }

bool Convolutions::Knows(const Unit& unit) { return Is<ConvSpec, ConvGradSpec>(unit); }

bool Convolutions::Takes(const Unit& unit, const Parser& parser, Why* why) const {
  const int32_t dtype = parser.dtype(unit.out[0]);
  cudnn::DataType type;
  if (!FindCudnnType(dtype, &type)) {
    return why->Say(GE_WHY_DTYPE, std::string("no convolution of ") + gp::DTypeName(dtype));
  }
  return std::all_of(unit.in.begin(), unit.in.end(),
                     [&](uint32_t v) { return parser.dtype(v) == dtype; }) ||
         why->Say(GE_WHY_DTYPE, "a convolution of two dtypes");
}

device::Work Convolutions::WorkFor(const Unit& unit, const Parser& parser,
                                   device::Work work) const {
  // Tensor cores multiply 16-bit numbers 15 times as fast as others multiply float32, and what they
  // round of it half as fast as those; about half of that is reached.
  constexpr double kHalves = 8, kRounded = 4;
  if (parser.dtype(unit.out[0]) != GE_F32) work.flops /= kHalves;
  if (Rounds(unit, parser)) work.flops /= kRounded;
  const ConvolutionShape shape = ConvolutionShape::Of(unit);
  work.workspace = shape.MostWorkspace();
  if (!shape.frame.empty()) {
    ++work.kernels;
    work.kernels += shape.windows.empty() ? 0 : 1;
    work.bytes += 2.0 * static_cast<double>(Product(shape.frame)) * parser.size(unit.out[0]);
  }
  const Unit rest = BehindSteps(unit, ConvolutionSteps(unit, parser).size());
  if (!rest.bias.empty() || !rest.post_ops.empty()) {
    work.kernels += PostOpKernels(rest);
    work.bytes += 2 * device::BytesOf(parser, unit.out[0]);
  }
  return work;
}

bool Convolutions::Rounds(const Unit& unit, const Parser& parser) const {
  const auto* spec = As<ConvSpec>(unit);
  return may_round_ && spec != nullptr && !spec->transposed && Has(unit) &&
         parser.dtype(unit.out[0]) == GE_F32;
}

device::Work Convolutions::PlainWork(device::Work work) const {
  // A thread a pixel, which reads every number of its window for one multiplication.
  constexpr double kPlain = 20;
  work.flops *= kPlain;
  return work;
}

void Convolutions::Record(const Unit& unit, int device, Recorder* recorder) {
  Convolution convolution(unit, recorder);
  convolution.Plan(device, Rounds(unit, recorder->parser()), &plans_);
  convolution.Record();
}

}  // namespace ge_engines::gpu
