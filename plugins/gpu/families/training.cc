// Gradients, moments of channels, losses, steps of optimizers.
#include <algorithm>

#include "plugins/gpu/families/family.h"
#include "plugins/gpu/kernel_call.h"
#include "plugins/gpu/kernels/channels.h"
#include "plugins/gpu/kernels/losses.h"
#include "plugins/gpu/kernels/steps.h"
#include "plugins/gpu/numbers_of.h"
#include "plugins/gpu/strides.h"
#include "plugins/units/reduce/loss.h"
#include "plugins/units/training/batch_normalization_grad.h"
#include "plugins/units/training/channel_moments.h"
#include "plugins/units/training/optimizer_step.h"

namespace ge_engines::gpu {
namespace {

using device::Reads;
using device::Recorder;
using device::Ref;
using device::Use;
using device::Writes;

ChannelRows ChannelsOf(const Dims& x) {
  ChannelRows rows;
  rows.images = x[0];
  rows.channels = x[1];
  rows.area = Divider::By(static_cast<uint64_t>(Product(Dims(x.begin() + 2, x.end()))));
  return rows;
}

// The places of a unit's results, then of what it reads.
std::vector<Use> PlacesOf(const Unit& u, Recorder* r) {
  std::vector<Use> reads, uses;
  for (const uint32_t v : u.in) reads.push_back(Reads(r->Read(v)));
  for (const uint32_t v : u.out) uses.push_back(Writes(r->Write(v)));
  uses.insert(uses.end(), reads.begin(), reads.end());
  return uses;
}

Ids ValuesOf(const Unit& u) {
  Ids values = u.out;
  values.insert(values.end(), u.in.begin(), u.in.end());
  return values;
}

void RecordMoments(const Unit& u, Recorder* r) {
  MomentsArgs args;
  SetNumbers(r->parser(), ValuesOf(u), &args);
  args.rows = ChannelsOf(r->parser().dims(u.in[0]));
  AddKernel(KernelId::moments, args, args.rows.channels, PlacesOf(u, r), r);
}

void RecordNormGrad(const Unit& u, Recorder* r) {
  NormGradArgs args;
  SetNumbers(r->parser(), ValuesOf(u), &args);
  args.rows = ChannelsOf(u.dims);
  args.eps = static_cast<double>(As<BatchNormGradSpec>(u)->eps);
  AddKernel(KernelId::norm_grad, args, args.rows.channels, PlacesOf(u, r), r);
}

// ---- losses ------------------------------------------------------------------------------------

void RecordLoss(const Unit& u, Recorder* r) {
  const auto& spec = *As<LossSpec>(u);
  const int64_t labels = spec.batch * spec.area;
  LossArgs args;
  SetNumbers(r->parser(), {u.out[0], u.out[1], u.in[0], u.in[1], u.in[2]}, &args);
  args.classes = spec.classes;
  args.area = Divider::By(static_cast<uint64_t>(spec.area));
  args.softmax = spec.softmax;
  args.ignores = spec.ignores;
  args.ignored = spec.ignored;
  args.weighted = u.in[2] != 0;
  args.shows = u.out[1] != 0;
  args.each = spec.how == LossSpec::How::kNone;
  const Ref x = r->Read(u.in[0]), label = r->Read(u.in[1]);
  const Ref weights = args.weighted ? r->Read(u.in[2]) : x;
  const Ref loss = r->Write(u.out[0]);
  // Each label's loss goes to the result, or to those of which the next kernel makes the sum.
  const Ref each = args.each ? loss : r->Between(16 * static_cast<uint64_t>(labels));
  const Ref shown = args.shows ? r->Write(u.out[1]) : each;
  AddKernel(KernelId::loss, args, labels,
            {Writes(each), Writes(shown), Reads(x), Reads(label), Reads(weights), Writes(each)}, r);
  if (args.each) return;
  LossSumArgs sum;
  SetNumbers(r->parser(), {u.out[0]}, &sum);
  sum.count = labels;
  sum.mean = spec.how == LossSpec::How::kMean;
  AddKernel(KernelId::loss_sum, sum, 1, {Writes(loss), Reads(each)}, r);
}

uint32_t LossKernels(const Unit& u) { return As<LossSpec>(u)->how == LossSpec::How::kNone ? 1 : 2; }

// ---- steps -------------------------------------------------------------------------------------

bool HasNorms(const StepSpec& spec) {
  return spec.rule == StepRule::kLars || spec.rule == StepRule::kLamb;
}

void RecordStep(const Unit& u, Recorder* r) {
  constexpr int64_t kMostParts = 256, kLeastPart = 4096;  // of the norms
  const auto& spec = *As<StepSpec>(u);
  StepArgs args;
  SetNumbers(r->parser(), ValuesOf(u), &args);
  args.rule = spec.rule;
  args.made = static_cast<int32_t>(1 + spec.slots());
  args.scalars = static_cast<int32_t>(spec.scalars());
  args.apart = spec.apart;
  args.ahead = spec.ahead;
  args.when = spec.when;
  args.beta1 = static_cast<float>(spec.beta1);
  args.beta2 = static_cast<float>(spec.beta2);
  args.rest1 = static_cast<float>(1 - spec.beta1);
  args.rest2 = static_cast<float>(1 - spec.beta2);
  args.eps = static_cast<float>(spec.eps);
  args.decay = static_cast<float>(spec.decay);
  args.trust = static_cast<float>(spec.trust);
  args.n = Product(u.dims);
  args.parts = std::clamp<int64_t>(args.n / kLeastPart, 1, kMostParts);
  std::vector<Use> uses = PlacesOf(u, r);
  if (HasNorms(spec)) {
    const Ref norms = r->Between(16 * static_cast<uint64_t>(args.parts));
    std::vector<Use> reads = uses;
    for (size_t k = 0; k < u.out.size(); ++k) reads[k] = reads[u.out.size() + k];
    reads.push_back(Writes(norms));
    AddKernel(KernelId::step_norms, args, args.parts, reads, r);
    reads.back() = {norms, true, true};
    AddKernel(KernelId::step_ratio, args, 1, reads, r);
    uses.push_back(Reads(norms));
  }
  AddKernel(KernelId::step, args, args.n, std::move(uses), r);
}

uint32_t StepKernels(const Unit& u) { return HasNorms(*As<StepSpec>(u)) ? 3 : 1; }

constexpr GpuKind kTraining[] = {
    {&MomentsSpec::kKind, nullptr, RecordMoments, nullptr},
    {&BatchNormGradSpec::kKind, nullptr, RecordNormGrad, nullptr},
    {&LossSpec::kKind, nullptr, RecordLoss, LossKernels},
    {&StepSpec::kKind, nullptr, RecordStep, StepKernels},
};

}  // namespace

std::span<const GpuKind> TrainingKinds() { return kTraining; }

}  // namespace ge_engines::gpu
