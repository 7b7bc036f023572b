// Pointwise functions, comparisons, choices and casts.
#include "plugins/units/elementwise/pointwise.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <stdexcept>
#include <string>

#include "plugins/device/channel_pack.h"
#include "plugins/gpu/families/family.h"
#include "plugins/gpu/kernel_call.h"
#include "plugins/gpu/kernels/chain.h"
#include "plugins/gpu/kernels/moves.h"
#include "plugins/gpu/kernels/numbers.h"
#include "plugins/gpu/numbers_of.h"
#include "plugins/gpu/strides.h"
#include "plugins/units/elementwise/cast.h"
#include "plugins/units/elementwise/relation.h"
#include "plugins/units/elementwise/where.h"
#include "plugins/units/half.h"

namespace ge_engines::gpu {
namespace {

using device::ChannelNumber;
using device::Reads;
using device::Recorder;
using device::Ref;
using device::Use;
using device::Writes;

// A tensor of a chain: where it lies and its strides along the result's axes.
struct Operand {
  Ref place;
  Dims strides;
  Number of = Number::kF32;
};

// A bias times the unit's factor, in float32.
Ref BiasPack(uint32_t value, float factor, Recorder* recorder) {
  const Parser& p = recorder->parser();
  const auto n = static_cast<size_t>(Product(p.dims(value)));
  const int32_t dtype = p.dtype(value);
  const auto fill = [factor, n, dtype](const void* const* from, void* to) {
    for (size_t i = 0; i < n; ++i) {
      static_cast<float*>(to)[i] = factor * ElementAsFloat(from[0], dtype, i);
    }
  };
  return recorder->Pack({value},
                        "times " + std::to_string(std::bit_cast<uint32_t>(factor)) + " of " +
                            std::to_string(n) + " " + std::to_string(dtype),
                        4 * n, fill, 0);
}

// Where the launch ends that begins with step `first` of so many.
template <class HasOperand>
size_t EndOfLaunch(size_t first, size_t steps, const HasOperand& has_operand) {
  size_t end = first, operands = 0;
  for (; end < steps && end - first < kMostChainSteps; ++end) {
    operands += has_operand(end);
    if (operands > kMostChainOperands) break;
  }
  return end;
}

// How a tensor of these strides along a chain's axes is read.
Meets MeetsOf(const Dims& dims, const Dims& strides) {
  const auto stands = [](int64_t s) { return s == 0; };
  if (std::all_of(strides.begin(), strides.end(), stands)) return Meets::kOne;
  if (dims.back() % kWidth != 0 || strides.back() > 1) return Meets::kStrided;
  if (strides.back() == 0) return Meets::kSame;
  return std::all_of(strides.begin(), strides.end() - 1, [](int64_t s) { return s % kWidth == 0; })
             ? Meets::kBeside
             : Meets::kStrided;
}

// The unit's bias and post-ops as steps of a chain over places.
class Chain {
 public:
  Chain(const Unit& unit, Recorder* recorder) : unit_(unit), recorder_(*recorder) {}

  void Record(const Operand& x, const Ref& result) {
    AddBias();
    size_t norm = 0;
    bool shift = false;
    for (const PostOp& q : unit_.post_ops) {
      ChainStep step{q.fn, q.a, q.b, 0};
      if (q.binary() && q.operand != 0) {
        const Parser& p = recorder_.parser();
        Add(step, {recorder_.Read(q.operand), BroadcastStrides(p.dims(q.operand), unit_.dims),
                   NumberOf(p.dtype(q.operand))});
      } else if (q.binary()) {
        Add(step,
            {device::ChannelPack(unit_, norm, shift ? ChannelNumber::kShift : ChannelNumber::kScale,
                                 &recorder_),
             Along(1)});
        norm += shift;
        shift = !shift;
      } else {
        steps_.push_back({step, kNone});
      }
    }
    if (steps_.empty()) steps_.push_back({ChainStep{Fn::kLinear, 1, 0, 0}, kNone});
    Emit(x, result);
  }

 private:
  static constexpr size_t kNone = SIZE_MAX;
  struct StepOf {
    ChainStep step;
    size_t operand;
  };

  Dims Along(size_t axis) const {
    Dims s(unit_.dims.size(), 0);
    s[axis] = 1;
    return s;
  }
  void Add(const ChainStep& step, Operand operand) {
    steps_.push_back({step, operands_.size()});
    operands_.push_back(std::move(operand));
  }
  void AddBias() {
    const size_t axis = unit_.kind().post_ops == PostOps::kChannels ? 1 : unit_.dims.size() - 1;
    for (const uint32_t v : unit_.bias) {
      const Parser& p = recorder_.parser();
      const bool one = Product(p.dims(v)) == 1, plain = unit_.bias_factor == 1;
      Add({Fn::kAdd, 0, 0, 0},
          {plain ? recorder_.Read(v) : BiasPack(v, unit_.bias_factor, &recorder_),
           one ? Dims(unit_.dims.size(), 0) : Along(axis),
           plain ? NumberOf(p.dtype(v)) : Number::kF32});
    }
  }
  // As many kernels as the steps need; each goes on over what the one before made, in float32.
  void Emit(const Operand& x, const Ref& result) {
    Operand from = x;
    const Number of = NumberOf(recorder_.parser().dtype(unit_.out[0]));
    for (size_t first = 0; first < steps_.size();) {
      std::vector<size_t> taken;
      const size_t end =
          EndOfLaunch(first, steps_.size(), [&](size_t s) { return steps_[s].operand != kNone; });
      for (size_t s = first; s < end; ++s) {
        if (steps_[s].operand != kNone) taken.push_back(steps_[s].operand);
      }
      const bool last = end == steps_.size();
      Operand to = {result, StridesOf(unit_.dims), last ? of : Number::kF32};
      if (to.of != of) to.place = Between();
      EmitOne(from, to, first, end, taken);
      from = to;
      first = end;
    }
  }
  // The result in float32.
  Ref Between() {
    if (!between_) between_ = recorder_.Between(4 * static_cast<uint64_t>(Product(unit_.dims)));
    return *between_;
  }
  void EmitOne(const Operand& x, const Operand& result, size_t first, size_t end,
               const std::vector<size_t>& taken) {
    ChainArgs args;
    args.n = Product(unit_.dims);
    Dims dims = unit_.dims;
    std::vector<Dims> strides = {StridesOf(dims), x.strides};
    std::vector<Use> uses = {Writes(result.place), Reads(x.place)};
    args.of[0] = result.of;
    args.of[1] = x.of;
    for (const size_t k : taken) {
      args.of[strides.size()] = operands_[k].of;
      strides.push_back(operands_[k].strides);
      uses.push_back(Reads(operands_[k].place));
    }
    MergeAxes(&dims, &strides);
    args.axes = AxesOf(dims);
    for (size_t t = 0; t < strides.size(); ++t) {
      args.strides[t] = StridesFor(strides[t]);
      args.meets[t] = strides[t] == strides[0] ? Meets::kWhole : MeetsOf(dims, strides[t]);
    }
    int32_t operand = 2;
    for (size_t s = first; s < end; ++s) {
      ChainStep& step = args.step[args.step_count++] = steps_[s].step;
      step.operand = steps_[s].operand == kNone ? 0 : operand++;
    }
    AddKernel(KernelId::chain, args, CeilDiv(args.n, kWidth), std::move(uses), &recorder_);
  }

  const Unit& unit_;
  Recorder& recorder_;
  std::optional<Ref> between_;
  std::vector<StepOf> steps_;
  std::vector<Operand> operands_;
};

void RecordPointwise(const Unit& u, Recorder* r) {
  const Ref x = r->Read(u.in[0]);
  const Dims strides = BroadcastStrides(r->parser().dims(u.in[0]), u.dims);
  // Operands are read before the result gets its place: it may take the place of one of them.
  Chain chain(u, r);
  chain.Record({x, strides, NumberOf(r->parser().dtype(u.in[0]))}, r->Write(u.out[0]));
}

// ---- comparisons, choices, casts ---------------------------------------------------------------

// Strides of `in` along the result's axes, behind those of the result itself.
template <size_t kPlaces>
void SetStrides(const Unit& u, const Parser& p, Axes* axes, Strides (&out)[kPlaces]) {
  Dims dims = u.dims;
  std::vector<Dims> strides = {StridesOf(dims)};
  for (const uint32_t v : u.in) strides.push_back(BroadcastStrides(p.dims(v), u.dims));
  MergeAxes(&dims, &strides);
  *axes = AxesOf(dims);
  for (size_t k = 0; k < strides.size(); ++k) out[k] = StridesFor(strides[k]);
}

std::vector<Use> UsesOf(const Unit& u, Recorder* r) {
  std::vector<Use> uses(1);
  for (const uint32_t v : u.in) uses.push_back(Reads(r->Read(v)));
  uses[0] = Writes(r->Write(u.out[0]));
  return uses;
}

bool TakesRelation(const Unit& u, const Parser& p, Why* why) {
  return HasNumber(p.dtype(u.in[0]), why);
}

void RecordRelation(const Unit& u, Recorder* r) {
  const Parser& p = r->parser();
  RelationArgs args;
  SetStrides(u, p, &args.axes, args.strides);
  SetNumbers(p, u.in, &args, 1);
  args.test = As<RelationSpec>(u)->op;
  args.floats = p.dtype(u.out[0]) == GE_F32;
  AddKernel(KernelId::relation, args, Product(u.dims), UsesOf(u, r), r);
}

void RecordWhere(const Unit& u, Recorder* r) {
  WhereArgs args;
  SetStrides(u, r->parser(), &args.axes, args.strides);
  AddKernel(BySize(KernelId::where_1, r->parser().size(u.out[0])), args, Product(u.dims),
            UsesOf(u, r), r);
}

bool TakesCast(const Unit& u, const Parser& p, Why* why) {
  return HasNumber(p.dtype(u.in[0]), why) && HasNumber(p.dtype(u.out[0]), why);
}

void RecordCast(const Unit& u, Recorder* r) {
  const Parser& p = r->parser();
  if (p.IsReal(p.dtype(u.in[0])) && p.IsReal(p.dtype(u.out[0]))) {
    ChainArgs chain;  // of no steps
    SetNumbers(p, {u.out[0], u.in[0]}, &chain);
    chain.n = Product(u.dims);
    return AddKernel(KernelId::chain, chain, CeilDiv(chain.n, kWidth), UsesOf(u, r), r);
  }
  CastArgs args;
  SetNumbers(r->parser(), {u.out[0], u.in[0]}, &args);
  AddKernel(KernelId::cast, args, Product(u.dims), UsesOf(u, r), r);
}

constexpr GpuKind kPointwise[] = {
    {&PointwiseSpec::kKind, nullptr, RecordPointwise, PostOpKernels},
    {&RelationSpec::kKind, TakesRelation, RecordRelation, nullptr},
    {&WhereSpec::kKind, nullptr, RecordWhere, nullptr},
    {&CastSpec::kKind, TakesCast, RecordCast, nullptr},
};

}  // namespace

std::span<const GpuKind> PointwiseKinds() { return kPointwise; }

uint32_t PostOpKernels(const Unit& unit) {
  const size_t steps = unit.bias.size() + unit.post_ops.size();
  uint32_t kernels = 0;
  for (size_t first = 0; first < steps; ++kernels) {
    first = EndOfLaunch(first, steps, [&](size_t s) {
      return s < unit.bias.size() || unit.post_ops[s - unit.bias.size()].binary();
    });
  }
  return kernels;
}

MainResult ResultOfMain(const Unit& unit, const Ref& result, Recorder* recorder) {
  const Number of = NumberOf(recorder->parser().dtype(unit.out[0]));
  if (of == Number::kF32 || (unit.bias.empty() && unit.post_ops.empty())) return {result, of};
  return {recorder->Between(4 * static_cast<uint64_t>(Product(unit.dims))), Number::kF32};
}

void RecordPostOps(const Unit& unit, const MainResult& main, const Ref& result,
                   Recorder* recorder) {
  if (unit.bias.empty() && unit.post_ops.empty()) return;
  Chain(unit, recorder).Record({main.place, StridesOf(unit.dims), main.of}, result);
}

void RecordPostOps(const Unit& unit, const Ref& result, Recorder* recorder) {
  RecordPostOps(unit, {result, NumberOf(recorder->parser().dtype(unit.out[0]))}, result, recorder);
}

}  // namespace ge_engines::gpu
