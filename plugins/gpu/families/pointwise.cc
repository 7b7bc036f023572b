// Pointwise functions, comparisons, choices and casts.
#include "plugins/units/elementwise/pointwise.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>
#include <string>

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

namespace ge_engines::gpu {
namespace {

using device::Reads;
using device::Recorder;
using device::Ref;
using device::Use;
using device::Writes;

// A tensor of a chain: where it lies and its strides along the result's axes.
struct Operand {
  Ref place;
  Dims strides;
};

// The factors or summands of a BatchNormalization's channels, worked out from its constants as at
// the parse. `which`: 0, the scale; 1, the shift.
Ref ChannelPack(const Unit& unit, size_t norm, int which, int64_t channels, Recorder* recorder) {
  const Parser& p = recorder->parser();
  for (const uint32_t n : unit.nodes) {
    const ge_node& node = p.node(n);
    if (!gp::IsOp(node, "BatchNormalization") || norm-- != 0) continue;
    const double eps = gp::AttrFloat(node, "epsilon");
    const auto fill = [eps, which, channels](const void* const* from, void* to) {
      const auto* const* f = reinterpret_cast<const float* const*>(from);
      for (int64_t c = 0; c < channels; ++c) {
        const double s = f[0][c] / std::sqrt(static_cast<double>(f[3][c]) + eps);
        static_cast<float*>(to)[c] = static_cast<float>(which == 0 ? s : f[1][c] - s * f[2][c]);
      }
    };
    return recorder->Pack({node.in[1], node.in[2], node.in[3], node.in[4]},
                          "channels " + std::to_string(which) + " " +
                              std::to_string(std::bit_cast<uint64_t>(eps)) + " of " +
                              std::to_string(channels),
                          4 * static_cast<uint64_t>(channels), fill, 0);
  }
  throw std::runtime_error("factors of channels that no node has");
}

// A bias times the unit's factor.
Ref BiasPack(uint32_t value, float factor, Recorder* recorder) {
  if (factor == 1) return recorder->Read(value);
  const int64_t n = Product(recorder->parser().dims(value));
  const auto fill = [factor, n](const void* const* from, void* to) {
    for (int64_t i = 0; i < n; ++i) {
      static_cast<float*>(to)[i] = factor * static_cast<const float*>(from[0])[i];
    }
  };
  return recorder->Pack(
      {value},
      "times " + std::to_string(std::bit_cast<uint32_t>(factor)) + " of " + std::to_string(n),
      4 * static_cast<uint64_t>(n), fill, 0);
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
        const Dims dims = recorder_.parser().dims(q.operand);
        Add(step, {recorder_.Read(q.operand), BroadcastStrides(dims, unit_.dims)});
      } else if (q.binary()) {
        Add(step, {ChannelPack(unit_, norm, shift ? 1 : 0, unit_.dims[1], &recorder_), Along(1)});
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
      const bool one = Product(recorder_.parser().dims(v)) == 1;
      Add({Fn::kAdd, 0, 0, 0}, {BiasPack(v, unit_.bias_factor, &recorder_),
                                one ? Dims(unit_.dims.size(), 0) : Along(axis)});
    }
  }
  // As many kernels as the steps need; each goes on over the result of the one before.
  void Emit(const Operand& x, const Ref& result) {
    Operand from = x;
    for (size_t first = 0; first < steps_.size();) {
      std::vector<size_t> taken;
      size_t end = first;
      for (; end < steps_.size() && end - first < kMostChainSteps; ++end) {
        if (steps_[end].operand == kNone) continue;
        if (taken.size() == kMostChainOperands) break;
        taken.push_back(steps_[end].operand);
      }
      EmitOne(from, result, first, end, taken);
      from = {result, StridesOf(unit_.dims)};
      first = end;
    }
  }
  void EmitOne(const Operand& x, const Ref& result, size_t first, size_t end,
               const std::vector<size_t>& taken) {
    ChainArgs args;
    args.n = Product(unit_.dims);
    Dims dims = unit_.dims;
    std::vector<Dims> strides = {StridesOf(dims), x.strides};
    std::vector<Use> uses = {Writes(result), Reads(x.place)};
    for (const size_t k : taken) {
      strides.push_back(operands_[k].strides);
      uses.push_back(Reads(operands_[k].place));
    }
    MergeAxes(&dims, &strides);
    args.axes = AxesOf(dims);
    for (size_t t = 0; t < strides.size(); ++t) {
      args.strides[t] = StridesFor(strides[t]);
      const bool none =
          std::all_of(strides[t].begin(), strides[t].end(), [](int64_t s) { return s == 0; });
      args.meets[t] = strides[t] == strides[0] ? Meets::kWhole
                      : none                   ? Meets::kOne
                                               : Meets::kStrided;
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
  std::vector<StepOf> steps_;
  std::vector<Operand> operands_;
};

void RecordPointwise(const Unit& u, Recorder* r) {
  const Ref x = r->Read(u.in[0]);
  const Dims strides = BroadcastStrides(r->parser().dims(u.in[0]), u.dims);
  // Operands are read before the result gets its place: it may take the place of one of them.
  Chain chain(u, r);
  chain.Record({x, strides}, r->Write(u.out[0]));
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
  args.of = NumberOf(p.dtype(u.in[0]));
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
  CastArgs args;
  args.from = NumberOf(r->parser().dtype(u.in[0]));
  args.to = NumberOf(r->parser().dtype(u.out[0]));
  AddKernel(KernelId::cast, args, Product(u.dims), UsesOf(u, r), r);
}

// Chains of many steps or operands are several launches.
uint32_t ChainKernels(const Unit& u) {
  size_t operands = u.bias.size();
  for (const PostOp& q : u.post_ops) operands += q.binary();
  const size_t steps = u.bias.size() + u.post_ops.size();
  return static_cast<uint32_t>(1 + steps / (kMostChainSteps + 1) +
                               operands / (kMostChainOperands + 1));
}

constexpr GpuKind kPointwise[] = {
    {&PointwiseSpec::kKind, nullptr, RecordPointwise, ChainKernels},
    {&RelationSpec::kKind, TakesRelation, RecordRelation, nullptr},
    {&WhereSpec::kKind, nullptr, RecordWhere, nullptr},
    {&CastSpec::kKind, TakesCast, RecordCast, nullptr},
};

}  // namespace

std::span<const GpuKind> PointwiseKinds() { return kPointwise; }

void RecordPostOps(const Unit& unit, const Ref& result, Recorder* recorder) {
  if (unit.bias.empty() && unit.post_ops.empty()) return;
  Chain(unit, recorder).Record({result, StridesOf(unit.dims)}, result);
}

}  // namespace ge_engines::gpu
