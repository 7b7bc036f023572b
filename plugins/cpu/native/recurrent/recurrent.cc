#include "plugins/cpu/native/recurrent/recurrent.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <vector>

#include "ge/ge_plugin.hpp"
#include "plugins/cpu/kit/builder.h"
#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/float_mode.h"
#include "plugins/cpu/kit/price.h"
#include "plugins/cpu/kit/thresholds.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/matmul/panels.h"
#include "plugins/cpu/native/matmul/thin_product.h"
#include "plugins/cpu/native/price.h"

namespace ge_engines::cpu::native {
namespace {

void CopyFloats(const float* from, float* to, int64_t n) {
  std::memcpy(to, from, static_cast<size_t>(n) * sizeof(float));
}

// Scratch of one piece, in this order.
struct RecurrentRoom {
  float *x, *all, *z, *h, *c, *left, *bias;
  RecurrentRoom(const RecurrentPlan& p, float* at) {
    const RecurrentSpec& s = p.spec;
    const int64_t rows = p.rows, state = rows * s.hidden;
    const auto take = [&at](int64_t n) { return std::exchange(at, at + n); };
    x = take(p.block * rows * s.inputs);
    all = take(p.block * rows * s.gates());
    z = take(rows * s.gates());
    h = take(state);
    c = take(state);
    left = take(state);
    bias = take(2 * s.gates());
  }
};

class Recurrent final : public Kernel {
 public:
  enum { kY, kYh, kYc, kX, kW, kR, kScratch, kBias, kLengths, kH, kC, kPeepholes };

  Recurrent(const Simd& simd, const RecurrentPlan& plan) : simd_(simd), p_(plan), s_(p_.spec) {}

  ge_rc Do(const Call& call) const override {
    const auto* lengths = reinterpret_cast<const int32_t*>(call.p[kLengths]);
    for (int64_t b = 0; p_.has.lengths && b < s_.batch; ++b) {
      if (lengths[b] >= 0 && lengths[b] <= s_.steps) continue;
      return ge::plugin::Fail(call.err, GE_INVALID_ARGUMENT, call.node,
                              "sequence_lens[%lld] is %d, [0, %lld] is wanted; give each sample's "
                              "number of steps",
                              static_cast<long long>(b), lengths[b],
                              static_cast<long long>(s_.steps));
    }
    float* scratch = call.p[kScratch];
    auto* order = reinterpret_cast<int32_t*>(scratch);
    Sort(lengths, order);
    scratch += s_.batch;
    Job job{call.p, order, call.p[kW], call.p[kR], 0, 0, 0, nullptr};
    if (!p_.has.packed) {
      job.w = scratch;
      job.r = scratch + s_.directions * p_.w_panels;
      p_.PackW(simd_, call.p[kW], scratch);
      p_.PackR(simd_, call.p[kR], scratch + s_.directions * p_.w_panels);
      scratch += s_.directions * (p_.w_panels + p_.r_panels);
    }
    All(job, scratch);
    return GE_OK;
  }

 private:
  // A direction of samples first, first + step ... of the order.
  struct Job {
    float* const* p;
    const int32_t* order;
    const float *w, *r;
    int64_t direction, first, step;
    float* scratch;
  };

  // Longest first, so that those which still run at a step lie behind each other.
  void Sort(const int32_t* lengths, int32_t* order) const {
    for (int64_t b = 0; b < s_.batch; ++b) order[b] = static_cast<int32_t>(b);
    if (!p_.has.lengths) return;
    std::sort(order, order + s_.batch, [lengths](int32_t a, int32_t b) {
      return lengths[a] != lengths[b] ? lengths[a] > lengths[b] : a < b;
    });
  }

  void All(const Job& job, float* scratch) const {
    const int64_t jobs = p_.pieces * s_.directions, each = p_.piece_floats();
    std::atomic<int64_t> next = 0;
    auto work = [&] {
      for (int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < jobs;) {
        Job one = job;
        one.direction = i % s_.directions;
        one.first = i / s_.directions;
        one.step = p_.pieces;
        one.scratch = scratch + (p_.alone ? i * each : 0);
        Run(one, p_.alone ? 1 : p_.threads);
      }
    };
    if (!p_.alone || p_.threads == 1 || jobs == 1) return work();
    OnThreads(static_cast<int>(std::min<int64_t>(p_.threads, jobs)), work);
  }

  int64_t LengthOf(const Job& j, int64_t b) const {
    return p_.has.lengths ? reinterpret_cast<const int32_t*>(j.p[kLengths])[b] : s_.steps;
  }
  bool Reverse(const Job& j) const { return j.direction == 1 || s_.reverse; }
  static int64_t Sample(const Job& j, int64_t row) { return j.order[j.first + row * j.step]; }
  // Of a sample at a time: of x and y, and of a state.
  int64_t At(int64_t b, int64_t t) const {
    return s_.batch_first ? b * s_.steps + t : t * s_.batch + b;
  }
  float* Output(const Job& j, int64_t b, int64_t t) const {
    const int64_t row = s_.batch_first ? At(b, t) * s_.directions + j.direction
                                       : (t * s_.directions + j.direction) * s_.batch + b;
    return j.p[kY] + row * s_.hidden;
  }
  int64_t State(const Job& j, int64_t b) const {
    return (s_.batch_first ? b * s_.directions + j.direction : j.direction * s_.batch + b) *
           s_.hidden;
  }

  void Start(const Job& j, int64_t rows, const RecurrentRoom& room) const {
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t at = State(j, Sample(j, r)), to = r * s_.hidden;
      const auto put = [&](bool given, const float* from, float* state) {
        if (given) return CopyFloats(from + at, state + to, s_.hidden);
        std::fill_n(state + to, s_.hidden, 0.0f);
      };
      put(p_.has.h, j.p[kH], room.h);
      if (s_.cell == Cell::kLstm) put(p_.has.c, j.p[kC], room.c);
    }
    if (!p_.has.bias) return;
    // The bias of the state's product is added to the inputs' but where a gate scales it.
    const int64_t gates = s_.gates();
    const float* b = j.p[kBias] + j.direction * 2 * gates;
    CopyFloats(b, room.bias, 2 * gates);
    if (!s_.reset_after) simd_.binary(Fn::kAdd, b, b + gates, room.bias, gates);
  }

  void Run(const Job& j, int threads) const {
    const int64_t rows = (s_.batch - j.first + j.step - 1) / j.step;
    const RecurrentRoom room(p_, j.scratch);
    Start(j, rows, room);
    const int64_t most = LengthOf(j, Sample(j, 0));
    int64_t active = rows;
    for (int64_t k = 0; k < most;) {
      const int64_t end = std::min(k + p_.block, most);
      const float* all = room.all;
      Inputs(j, k, end, active, room, threads);
      for (; k < end; ++k) {
        active = Active(j, k, active);
        Step(j, active, all, room, threads);
        all += active * s_.gates();
        Keep(j, k, active, room);
      }
    }
    Finish(j, rows, room);
  }

  int64_t Active(const Job& j, int64_t step, int64_t rows) const {
    while (p_.has.lengths && rows > 0 && LengthOf(j, Sample(j, rows - 1)) <= step) --rows;
    return rows;
  }
  int64_t TimeOf(const Job& j, int64_t b, int64_t step) const {
    return Reverse(j) ? LengthOf(j, b) - 1 - step : step;
  }

  // The product of what the steps [step, end) read, in their order.
  void Inputs(const Job& j, int64_t step, int64_t end, int64_t active, const RecurrentRoom& room,
              int threads) const {
    const float* x = j.p[kX] + step * s_.batch * s_.inputs;
    int64_t m = (end - step) * active;
    const bool in_order =
        !p_.has.lengths && !Reverse(j) && j.step == 1 && (s_.batch == 1 || !s_.batch_first);
    if (!in_order) {
      m = 0;
      x = room.x;
      for (; step < end; ++step) {
        active = Active(j, step, active);
        for (int64_t r = 0; r < active; ++r, ++m) {
          const int64_t b = Sample(j, r);
          CopyFloats(j.p[kX] + At(b, TimeOf(j, b, step)) * s_.inputs, room.x + m * s_.inputs,
                     s_.inputs);
        }
      }
    }
    const float* w = j.w + j.direction * p_.w_panels;
    Multiply(x, w, p_.has.bias ? room.bias : nullptr, room.all, {m, s_.gates(), s_.inputs},
             threads);
  }

  struct Size {
    int64_t m, n, k;
  };
  void Multiply(const float* x, const float* panels, const float* bias, float* y, const Size& of,
                int threads) const {
    const PanelPlan plan(simd_, of.m, of.n, of.k);
    float* const p[] = {y, const_cast<float*>(x), const_cast<float*>(panels),
                        const_cast<float*>(bias)};
    RunPanels(simd_, plan, bias != nullptr, threads, p);
  }

  void Step(const Job& j, int64_t rows, const float* all, const RecurrentRoom& room,
            int threads) const {
    const int64_t each = s_.cell == Cell::kLstm ? 3 : s_.cell == Cell::kGru ? 2 : 1;
    const float* peepholes =
        p_.has.peepholes ? j.p[kPeepholes] + j.direction * 3 * s_.hidden : nullptr;
    const CellRows q = {
        all, room.z, room.h, room.c, room.left, peepholes, s_.fn + j.direction * each};
    const float* r = j.r + j.direction * p_.r_panels;
    const bool after = s_.reset_after && p_.has.bias;
    Multiply(room.h, r, after ? room.bias + s_.gates() : nullptr, room.z,
             {rows, p_.first_gates(), s_.hidden}, threads);
    if (s_.cell == Cell::kRnn) return RnnCells(simd_, s_, q, rows);
    if (s_.cell == Cell::kLstm) return LstmCells(simd_, s_, q, rows);
    if (!p_.apart()) return GruCells(simd_, s_, q, rows);
    GruGates(simd_, s_, q, rows);
    float* product = room.z + rows * p_.first_gates();
    const float* last = r + PanelPlan(simd_, 1, p_.first_gates(), s_.hidden).weight_floats();
    Multiply(room.left, last, nullptr, product, {rows, s_.hidden, s_.hidden}, threads);
    GruState(simd_, s_, q, product, rows);
  }

  void Keep(const Job& j, int64_t step, int64_t rows, const RecurrentRoom& room) const {
    for (int64_t r = 0; s_.y && r < rows; ++r) {
      const int64_t b = Sample(j, r);
      CopyFloats(room.h + r * s_.hidden, Output(j, b, TimeOf(j, b, step)), s_.hidden);
    }
  }

  void Finish(const Job& j, int64_t rows, const RecurrentRoom& room) const {
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t b = Sample(j, r), at = State(j, b), from = r * s_.hidden;
      for (int64_t t = LengthOf(j, b); s_.y && t < s_.steps; ++t) {
        std::fill_n(Output(j, b, t), s_.hidden, 0.0f);
      }
      if (s_.y_h) CopyFloats(room.h + from, j.p[kYh] + at, s_.hidden);
      if (s_.y_c) CopyFloats(room.c + from, j.p[kYc] + at, s_.hidden);
    }
  }

  const Simd& simd_;
  const RecurrentPlan p_;
  const RecurrentSpec& s_;
};

// Nanoseconds of a step: jobs that a thread each takes alone, or one after the other by all
// threads.
struct StepNs {
  double alone, shared;
};
// Multiply-adds a nanosecond of a core: of a few rows, which wait for the weights, and of more;
// what a gate of a row takes behind the product; and for each thread that a product is shared with,
// 8 us by sixteen (GRU of 256 and 512, Emerald Rapids).
StepNs StepNsOf(const RecurrentSpec& s, int64_t rows, int64_t jobs, int threads) {
  constexpr double kFewRows = 20, kRows = 50, kGateNs = 0.6, kShareNs = 500;
  const auto gates = static_cast<double>(rows * s.gates());
  const double product =
      gates * static_cast<double>(s.hidden) / (rows < kPanelThinRows ? kFewRows : kRows) +
      gates * static_cast<double>(s.inputs) / kRows;
  const double cells = gates * kGateNs, turns = std::ceil(static_cast<double>(jobs) / threads);
  return {turns * (product + cells),
          static_cast<double>(jobs) * (product / threads + kShareNs * threads + cells)};
}

}  // namespace

// Rows of a piece share each read of the weights: fewer than a block of rows only where those stay
// in a second cache. Where pieces are fewer than threads, and steps long, all share each product.
RecurrentPlan::RecurrentPlan(const Simd& simd, const RecurrentSpec& of, const RecurrentHas& which,
                             int most_threads)
    : spec(of), has(which), threads(most_threads) {
  const auto floats = [&](int64_t n, int64_t k) {
    return static_cast<int64_t>(PanelPlan(simd, 1, n, k).weight_floats());
  };
  w_panels = floats(spec.gates(), spec.inputs);
  r_panels = floats(first_gates(), spec.hidden);
  if (apart()) r_panels += floats(spec.hidden, spec.hidden);
  const int64_t step = spec.batch * spec.gates() * spec.hidden;
  const int64_t work = spec.steps * (step + spec.batch * spec.gates() * spec.inputs);
  const bool shared = threads > 1 && work > kPanelParallel;
  const int64_t wanted = shared ? (threads + spec.directions - 1) / spec.directions : 1;
  const int64_t least = r_panels > kRecurrentFloats ? kPanelThinRows : 1;
  pieces = std::max<int64_t>(1, std::min(wanted, spec.batch / least));
  rows = (spec.batch + pieces - 1) / pieces;
  block = std::clamp<int64_t>(kPanelRows / rows, 1, spec.steps);
  const int64_t jobs = pieces * spec.directions;
  const StepNs ns = StepNsOf(spec, rows, jobs, threads);
  alone = !shared || (jobs > 1 && ns.shared > 0.8 * ns.alone);
}

void RecurrentPlan::PackW(const Simd& simd, const float* w, float* to) const {
  const PanelPlan plan(simd, 1, spec.gates(), spec.inputs);
  for (int64_t d = 0; d < spec.directions; ++d) {
    plan.Pack(w + d * spec.gates() * spec.inputs, true, to + d * w_panels);
  }
}

void RecurrentPlan::PackR(const Simd& simd, const float* r, float* to) const {
  const int64_t n = first_gates(), k = spec.hidden;
  const PanelPlan first(simd, 1, n, k), last(simd, 1, k, k);
  for (int64_t d = 0; d < spec.directions; ++d) {
    const float* from = r + d * spec.gates() * k;
    first.Pack(from, true, to + d * r_panels);
    if (apart()) last.Pack(from + n * k, true, to + d * r_panels + first.weight_floats());
  }
}

std::string RecurrentPlan::WKey(const Simd& simd) const {
  return "gates " + std::to_string(spec.directions) + " " +
         PanelPlan(simd, 1, spec.gates(), spec.inputs).PackKey(true);
}

std::string RecurrentPlan::RKey(const Simd& simd) const {
  return (apart() ? "state apart " : "state ") + std::to_string(spec.directions) + " " +
         PanelPlan(simd, 1, spec.gates(), spec.hidden).PackKey(true);
}

int64_t RecurrentPlan::piece_floats() const {
  return rows * (block * (spec.inputs + spec.gates()) + spec.gates() + 3 * spec.hidden) +
         2 * spec.gates() + 16;  // a line between two threads' pieces
}

int64_t RecurrentPlan::scratch_floats() const {
  const int64_t panels = has.packed ? 0 : spec.directions * (w_panels + r_panels);
  return spec.batch + panels + (alone ? pieces * spec.directions : 1) * piece_floats();
}

std::unique_ptr<Kernel> RecurrentKernel(const Simd& simd, const RecurrentPlan& plan) {
  return std::make_unique<Recurrent>(simd, plan);
}

namespace {

// The inputs' product in panels; a step's product by weights that the step before left in a cache,
// and its cells. Threads take directions and pieces of the batch, else share each product.
double RecurrentNs(const Unit& u, const RecurrentSpec& s, const Machine& m) {
  const RecurrentHas has = {true, u.in[4] != 0, true, true, true, true};
  const RecurrentPlan plan(SimdOf(m.isa), s, has, m.threads);
  Machine one = m;
  one.threads = 1;
  const double steps = static_cast<double>(s.steps), rows = static_cast<double>(plan.rows);
  const int64_t block = plan.block * plan.rows;
  const double blocks = std::ceil(steps / static_cast<double>(plan.block));
  const double input =
      blocks * PanelNs(PanelPlan(SimdOf(m.isa), block, s.gates(), s.inputs), plan.alone ? one : m);
  const Fold fold{1, plan.rows, s.gates(), s.hidden};
  double product = ProductNs(fold, m, true);
  const bool fork = !plan.alone && PanelPlan(SimdOf(m.isa), fold.m, fold.n, fold.k).parallel();
  if (fork) product = kForkNs + product / (0.9 * m.threads);
  const double cells = rows * static_cast<double>(s.gates()) * ByIsa(m, 0.6, 1.4, 4) / m.compute;
  const double each = input + steps * (kLoopNs + product + cells);
  const double jobs = static_cast<double>(plan.pieces * s.directions);
  if (!plan.alone) return jobs * each;
  const double rounds = std::ceil(jobs / static_cast<double>(m.threads));
  return (m.threads > 1 && jobs > 1 ? kForkNs : 0) + rounds * each;
}

class RecurrentKind final : public KindOf<RecurrentSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    return WorkPrice(unit, parser, machine,
                     {.ns = RecurrentNs(unit, SpecOf(unit), machine),
                      .bytes = BytesOf(parser, unit.out[0]),
                      .elements = 1});
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const RecurrentSpec& s = SpecOf(u);
    const RecurrentHas has = {
        u.in[3] != 0, u.in[4] != 0, u.in[5] != 0,
        u.in[6] != 0, u.in[7] != 0, b->parser().constant(u.in[1]) && b->parser().constant(u.in[2])};
    const RecurrentPlan plan(b->simd(), s, has, b->machine().threads);
    const BufferRef x = b->GetDense(u.in[0]).place;
    const auto weights = [&](uint32_t v, const std::string& key, int64_t panels, auto pack) {
      if (!has.packed) return b->GetDense(v).place;
      const auto bytes = static_cast<uint64_t>(s.directions * panels) * sizeof(float);
      return b->Pack(
          {v}, key, bytes, [plan, pack, simd = &b->simd()](const void* const* from, void* to) {
            (plan.*pack)(*simd, static_cast<const float*>(from[0]), static_cast<float*>(to));
          });
    };
    std::vector<BufferRef> places(3, x);
    size_t out = 0;
    const bool made[] = {s.y, s.y_h, s.y_c};
    for (size_t k = 0; k < 3; ++k) {
      if (!made[k]) continue;
      const Rep y = b->NewResult(u.out[out], b->Plain(u.out[out]));
      b->AddRep(u.out[out++], y);
      places[k] = y.place;
    }
    places.push_back(x);
    places.push_back(weights(u.in[1], plan.WKey(b->simd()), plan.w_panels, &RecurrentPlan::PackW));
    places.push_back(weights(u.in[2], plan.RKey(b->simd()), plan.r_panels, &RecurrentPlan::PackR));
    places.push_back(
        b->NewInternal(0, static_cast<uint64_t>(plan.scratch_floats()) * sizeof(float)));
    for (size_t k = 3; k < 8; ++k) places.push_back(u.in[k] != 0 ? b->GetDense(u.in[k]).place : x);
    const char* name = s.cell == Cell::kRnn ? "rnn " : s.cell == Cell::kGru ? "gru " : "lstm ";
    b->AddStep(name + b->Sizes(u.dims), RecurrentKernel(b->simd(), plan), std::move(places));
  }
};

const RecurrentKind kRecurrentKind;
}  // namespace

GE_NATIVE_KINDS(recurrent, &kRecurrentKind)

}  // namespace ge_engines::cpu::native
