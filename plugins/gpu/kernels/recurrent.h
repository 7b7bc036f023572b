// Recurrent cells, one launch a step: a team has one number of the state. States between steps are
// float32 of [directions, batch, hidden].
#pragma once

#include "plugins/gpu/kernels/args.h"
#include "plugins/gpu/kernels/functions.h"
#include "plugins/gpu/kernels/index.h"
#include "plugins/gpu/kernels/rows.h"
#include "plugins/gpu/kernels/team.h"

namespace ge_engines::gpu {

// What a launch does.
enum class Phase : int32_t {
  kStep,
  kReset,  // of GRU whose reset gate is before the product: gates update and reset
  kFresh,  // and then the new state
};

// Places: y, new state, memory, state, x, w, r, bias, lengths, peepholes, of kReset and kFresh the
// update gate and the state that the reset gate leaves.
struct RecurrentArgs : Args<12> {
  Cell cell = Cell::kLstm;
  Phase phase = Phase::kStep;
  int64_t step = 0, steps = 1, batch = 1, inputs = 1, hidden = 1;
  int32_t directions = 1, gates = 4;
  bool reverse = false, batch_first = false, input_forget = false, reset_after = false;
  bool has_y = false, has_bias = false, has_lengths = false, has_peepholes = false;
  float clip = 0;
  CellFn fn[6];  // those of one direction, then of the other
  Divider by_hidden, by_batch;
};

GE_GPU_BODY float Activated(const CellFn& f, float clip, float x) {
  if (clip > 0) x = Clamped(x, -clip, clip);
  switch (f.kind) {
    case CellFn::kRelu:
      return Greater(x, 0.0f);
    case CellFn::kTanh:
      return tanhf(x);
    case CellFn::kSigmoid:
      return Sigmoid(x);
    case CellFn::kAffine:
      return f.a * x + f.b;
    case CellFn::kLeakyRelu:
      return x >= 0 ? x : f.a * x;
    case CellFn::kThresholdedRelu:
      return x >= f.a ? x : 0.0f;
    case CellFn::kScaledTanh:
      return f.a * tanhf(f.b * x);
    case CellFn::kHardSigmoid:
      return Clamped(f.a * x + f.b, 0.0f, 1.0f);
    case CellFn::kElu:
      return x >= 0 ? x : f.a * expm1f(x);
    case CellFn::kSoftsign:
      return x / (1 + fabsf(x));
    default:
      return Softplus(x);
  }
}

// Which number of the state a team has, and what it reads.
struct CellPlace {
  int64_t direction, sample, k;
  int64_t state;  // of the sample's state, k excluded
  int64_t x, y;   // of its input, and of its number in the result
  bool live;      // the sequence has this step
};

template <class Team>
struct CellSums {
  const RecurrentArgs& a;
  const CellPlace& p;
  const Team& team;

  // The product of a gate's row with the input (`of_input`) or with the state at place k, and its
  // bias.
  GE_GPU_BODY float One(int gate, bool of_input, int state) const {
    const int64_t row = (p.direction * a.gates + gate) * a.hidden + p.k;
    const int64_t n = of_input ? a.inputs : a.hidden;
    const int64_t first = row * n, from = of_input ? p.x : p.state;
    const int weights = of_input ? 5 : 6, x = of_input ? 4 : state;
    typename Team::template PerLane<float> part;
    team.Each([&](int lane) {
      float v = 0;
      for (int64_t i = lane; i < n; i += kTeamLanes) {
        v += a.Float(weights, first + i) * a.Float(x, from + i);
      }
      part[lane] = v;
    });
    const float sum = team.All(part, Add());
    if (!a.has_bias) return sum;
    const int64_t biases = a.gates * a.hidden;
    const int64_t at = p.direction * 2 * biases + gate * a.hidden + p.k;
    return sum + a.Float(7, of_input ? at : at + biases);
  }
  GE_GPU_BODY float Both(int gate, int state = 3) const {
    return One(gate, true, 0) + One(gate, false, state);
  }
};

template <class Team>
GE_GPU_BODY float LstmOf(const RecurrentArgs& a, const CellPlace& p, const Team& team) {
  const CellSums<Team> sums{a, p, team};
  const CellFn gate = a.fn[p.direction * 3], fresh = a.fn[p.direction * 3 + 1];
  const CellFn shown = a.fn[p.direction * 3 + 2];
  const int64_t at = p.state + p.k;
  const auto hole = [&](int which, float cell) {
    return a.has_peepholes ? a.Float(9, (p.direction * 3 + which) * a.hidden + p.k) * cell : 0.0f;
  };
  const float in = sums.Both(0), out = sums.Both(1), forget = sums.Both(2), cell = sums.Both(3);
  const float before = a.Float(2, at);
  const float i = Activated(gate, a.clip, in + hole(0, before));
  const float f = a.input_forget ? 1 - i : Activated(gate, a.clip, forget + hole(2, before));
  const float c = f * before + i * Activated(fresh, a.clip, cell);
  const float o = Activated(gate, a.clip, out + hole(1, c));
  team.Join();  // all lanes have read the memory
  team.Each([&](int lane) {
    if (lane == 0) a.Store(2, at, c);
  });
  return o * Activated(shown, 0, c);
}

// GRU's new number. The fresh sum of the state is scaled by the reset gate, or is that of a state
// that was.
GE_GPU_BODY float GruOf(const RecurrentArgs& a, const CellPlace& p, float update, float fresh) {
  const float h = Activated(a.fn[p.direction * 2 + 1], a.clip, fresh);
  return (1 - update) * h + update * a.Float(3, p.state + p.k);
}

// Sets *p to the place of a row; false where the length is none.
GE_GPU_BODY bool FindCell(const RecurrentArgs& a, int64_t row, CellPlace* p) {
  const uint64_t line = a.by_hidden.Quotient(static_cast<uint64_t>(row));
  const uint64_t direction = a.by_batch.Quotient(line);
  p->direction = static_cast<int64_t>(direction);
  p->sample = static_cast<int64_t>(line - direction * a.by_batch.divisor);
  p->state = static_cast<int64_t>(line) * a.hidden;
  p->k = row - p->state;
  const int64_t length = a.has_lengths ? a.in<int32_t>(8)[p->sample] : a.steps;
  if (length < 0 || length > a.steps) return false;
  p->live = a.step < length;
  const bool back = p->direction == 1 || a.reverse;
  const int64_t t = p->live && back ? length - 1 - a.step : a.step;
  const int64_t in = a.batch_first ? p->sample * a.steps + t : t * a.batch + p->sample;
  p->x = in * a.inputs;
  p->y = (a.batch_first ? in * a.directions + p->direction
                        : (t * a.directions + p->direction) * a.batch + p->sample) *
             a.hidden +
         p->k;
  return true;
}

// The gates ahead of GRU's product.
template <class Team>
GE_GPU_BODY void ResetOf(const RecurrentArgs& a, const CellPlace& p, const Team& team) {
  const CellSums<Team> sums{a, p, team};
  const CellFn& fn = a.fn[p.direction * 2];
  const float update = Activated(fn, a.clip, sums.Both(0));
  const float reset = Activated(fn, a.clip, sums.Both(1));
  const int64_t at = p.state + p.k;
  team.Each([&](int lane) {
    if (lane != 0) return;
    a.Store(10, at, update);
    a.Store(11, at, reset * a.Float(3, at));
  });
}

template <class Team>
GE_GPU_BODY float CellOf(const RecurrentArgs& a, const CellPlace& p, const Team& team) {
  const CellSums<Team> sums{a, p, team};
  if (a.cell == Cell::kLstm) return LstmOf(a, p, team);
  if (a.cell == Cell::kRnn) return Activated(a.fn[p.direction], a.clip, sums.Both(0));
  if (a.phase == Phase::kFresh) return GruOf(a, p, a.Float(10, p.state + p.k), sums.Both(2, 11));
  const CellFn& fn = a.fn[p.direction * 2];
  const float update = Activated(fn, a.clip, sums.Both(0));
  const float reset = Activated(fn, a.clip, sums.Both(1));
  return GruOf(a, p, update, sums.One(2, true, 0) + reset * sums.One(2, false, 3));
}

template <class Team>
GE_GPU_BODY void RecurrentTeam(const RecurrentArgs& a, int64_t row, const Team& team) {
  CellPlace p;
  if (!FindCell(a, row, &p)) return Refuse();
  if (a.phase == Phase::kReset) {
    if (p.live) ResetOf(a, p, team);
    return;
  }
  const int64_t at = p.state + p.k;
  const float h = p.live ? CellOf(a, p, team) : a.Float(3, at);
  team.Each([&](int lane) {
    if (lane != 0) return;
    a.Store(1, at, h);
    if (a.has_y) a.Store(0, p.y, p.live ? h : 0.0f);
  });
}

// Places: a state as kernels have it, as the node has it. One thread a number.
struct StateArgs : Args<2> {
  Divider hidden, batch;
  int32_t directions = 1;
  bool batch_first = false, leaves = false, zero = false;  // from place 0 to place 1; else into it
};

GE_GPU_BODY void StateThread(const StateArgs& a, int64_t i) {
  const uint64_t line = a.hidden.Quotient(static_cast<uint64_t>(i));
  const uint64_t direction = a.batch.Quotient(line), sample = line - direction * a.batch.divisor;
  const uint64_t turned = sample * static_cast<uint64_t>(a.directions) + direction;
  const auto hidden = static_cast<int64_t>(a.hidden.divisor);
  const int64_t k = i - static_cast<int64_t>(line) * hidden;
  const int64_t at = static_cast<int64_t>(a.batch_first ? turned : line) * hidden + k;
  if (a.leaves) return a.Store(1, at, a.Float(0, i));
  a.Store(0, i, a.zero ? 0.0f : a.Float(1, at));
}

}  // namespace ge_engines::gpu
