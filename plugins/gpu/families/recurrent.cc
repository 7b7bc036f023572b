// RNN, GRU and LSTM: the state as the node has it, a launch or two a step, and back.
#include "plugins/units/recurrent/recurrent.h"

#include <algorithm>

#include "plugins/gpu/families/family.h"
#include "plugins/gpu/kernel_call.h"
#include "plugins/gpu/kernels/recurrent.h"
#include "plugins/gpu/numbers_of.h"

namespace ge_engines::gpu {
namespace {

using device::Reads;
using device::Recorder;
using device::Ref;
using device::Use;
using device::Writes;

constexpr int64_t kMostSteps = 4096;  // a program holds each of them

bool TakesRecurrent(const Unit& u, const Parser&, Why* why) {
  return As<RecurrentSpec>(u)->steps <= kMostSteps ||
         why->Say(GE_WHY_SHAPE, "more than 4096 steps");
}

// Two launches a step.
bool ResetsFirst(const RecurrentSpec& s) { return s.cell == Cell::kGru && !s.reset_after; }

RecurrentArgs ArgsOf(const Unit& u, const Parser& p) {
  const auto& s = *As<RecurrentSpec>(u);
  RecurrentArgs a;
  SetNumbers(p, {s.y ? u.out[0] : 0, 0, 0, 0, u.in[0], u.in[1], u.in[2], u.in[3], u.in[4], u.in[7]},
             &a);
  a.cell = s.cell;
  a.steps = s.steps;
  a.batch = s.batch;
  a.inputs = s.inputs;
  a.hidden = s.hidden;
  a.directions = s.directions;
  a.gates = static_cast<int32_t>(s.gates() / s.hidden);
  a.reverse = s.reverse;
  a.batch_first = s.batch_first;
  a.input_forget = s.input_forget;
  a.reset_after = s.reset_after;
  a.has_y = s.y;
  a.has_bias = u.in[3] != 0;
  a.has_lengths = u.in[4] != 0;
  a.has_peepholes = u.in[7] != 0;
  a.clip = s.clip;
  std::copy(std::begin(s.fn), std::end(s.fn), a.fn);
  a.by_hidden = Divider::By(static_cast<uint64_t>(s.hidden));
  a.by_batch = Divider::By(static_cast<uint64_t>(s.batch));
  return a;
}

// Into the kernels' order, or with `leaves` out of it; of no value zeros.
void MoveState(const RecurrentSpec& s, const Ref& state, const Ref& value, Number of, bool zero,
               bool leaves, Recorder* r) {
  StateArgs a;
  a.of[1] = of;
  a.hidden = Divider::By(static_cast<uint64_t>(s.hidden));
  a.batch = Divider::By(static_cast<uint64_t>(s.batch));
  a.directions = s.directions;
  a.batch_first = s.batch_first;
  a.leaves = leaves;
  a.zero = zero;
  std::vector<Use> uses = {leaves ? Reads(state) : Writes(state)};
  if (!zero) uses.push_back(leaves ? Writes(value) : Reads(value));
  AddKernel(KernelId::recurrent_state, a, s.directions * s.batch * s.hidden, std::move(uses), r);
}

void RecordRecurrent(const Unit& u, Recorder* r) {
  const auto& s = *As<RecurrentSpec>(u);
  const Parser& p = r->parser();
  const int64_t numbers = s.directions * s.batch * s.hidden;
  const auto room = [&] { return r->Between(4 * static_cast<uint64_t>(numbers)); };
  RecurrentArgs args = ArgsOf(u, p);
  Ref in[8];
  for (size_t k = 0; k < 8; ++k) in[k] = r->Read(u.in[k] != 0 ? u.in[k] : u.in[0]);
  std::vector<Ref> out;
  for (const uint32_t v : u.out) out.push_back(r->Write(v));
  Ref state = room(), next = room();
  const Ref memory = room(), update = ResetsFirst(s) ? room() : state;
  const Ref left = ResetsFirst(s) ? room() : state;
  MoveState(s, state, in[5], NumberOf(p.dtype(u.in[5] != 0 ? u.in[5] : u.in[0])), u.in[5] == 0,
            false, r);
  if (s.cell == Cell::kLstm) {
    MoveState(s, memory, in[6], NumberOf(p.dtype(u.in[6] != 0 ? u.in[6] : u.in[0])), u.in[6] == 0,
              false, r);
  }
  for (args.step = 0; args.step < s.steps; ++args.step) {
    const Use of_memory = s.cell == Cell::kLstm ? Use{memory, true, true} : Reads(state);
    std::vector<Use> uses = {s.y ? Writes(out[0]) : Reads(state),
                             Writes(next),
                             of_memory,
                             Reads(state),
                             Reads(in[0]),
                             Reads(in[1]),
                             Reads(in[2]),
                             Reads(in[3]),
                             Reads(in[4]),
                             Reads(in[7])};
    if (ResetsFirst(s)) {
      std::vector<Use> gates = uses;
      gates[0] = gates[1] = Reads(state);
      gates.push_back(Writes(update));
      gates.push_back(Writes(left));
      args.phase = Phase::kReset;
      AddKernel(KernelId::recurrent, args, numbers, std::move(gates), r);
      uses.push_back(Reads(update));
      uses.push_back(Reads(left));
      args.phase = Phase::kFresh;
    }
    AddKernel(KernelId::recurrent, args, numbers, std::move(uses), r);
    std::swap(state, next);
  }
  size_t k = s.y ? 1 : 0;
  const auto leave = [&](const Ref& from) {
    MoveState(s, from, out[k], NumberOf(p.dtype(u.out[k])), false, true, r);
    ++k;
  };
  if (s.y_h) leave(state);
  if (s.y_c) leave(memory);
}

uint32_t RecurrentKernels(const Unit& u) {
  const auto& s = *As<RecurrentSpec>(u);
  return static_cast<uint32_t>(s.steps * (ResetsFirst(s) ? 2 : 1) + 4);
}

double RecurrentFlops(const Unit& u, const Parser&) {
  const auto& s = *As<RecurrentSpec>(u);
  const auto cells = static_cast<double>(s.steps * s.directions * s.batch * s.gates());
  return 2 * cells * static_cast<double>(s.inputs + s.hidden);
}

constexpr GpuKind kRecurrent[] = {
    {&RecurrentSpec::kKind, TakesRecurrent, RecordRecurrent, RecurrentKernels, RecurrentFlops},
};

}  // namespace

std::span<const GpuKind> RecurrentKinds() { return kRecurrent; }

}  // namespace ge_engines::gpu
