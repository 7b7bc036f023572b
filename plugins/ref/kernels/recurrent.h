// Shared by RNN, GRU and LSTM: activations, the walk over directions, samples and steps, and the
// checks of shapes. Each kernel brings its cell. State and sums are double; outputs are rounded
// once. Prepare makes a plan; any thread may run it.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <string_view>

#include "plugins/ref/checks.h"

namespace ref {

enum class Act : uint8_t {
  kRelu,
  kTanh,
  kSigmoid,
  kAffine,
  kLeakyRelu,
  kThresholdedRelu,
  kScaledTanh,
  kHardSigmoid,
  kElu,
  kSoftsign,
  kSoftplus
};

struct Activation {
  Act kind = Act::kSigmoid;
  double alpha = 0, beta = 0;

  double operator()(double x) const {
    switch (kind) {
      case Act::kRelu:
        return std::max(0.0, x);
      case Act::kTanh:
        return std::tanh(x);
      case Act::kSigmoid:
        return 1 / (1 + std::exp(-x));
      case Act::kAffine:
        return alpha * x + beta;
      case Act::kLeakyRelu:
        return x >= 0 ? x : alpha * x;
      case Act::kThresholdedRelu:
        return x >= alpha ? x : 0;
      case Act::kScaledTanh:
        return alpha * std::tanh(beta * x);
      case Act::kHardSigmoid:
        return std::min(std::max(alpha * x + beta, 0.0), 1.0);
      case Act::kElu:
        return x >= 0 ? x : alpha * (std::exp(x) - 1);
      case Act::kSoftsign:
        return x / (1 + std::fabs(x));
      case Act::kSoftplus:
        return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
    }
    return x;
  }
};

// One of the three operators: gates, activations and ports.
struct RecurrentKind {
  int gates;        // rows of W and R are gates * hidden
  int activations;  // of one direction
  std::string_view names[3];
  uint32_t n_in, n_out;  // at most
};

struct RecurrentPlan {
  int64_t steps, batch, inputs, hidden;
  int gates, dirs;
  bool reverse[2] = {false, false};
  bool batch_first;
  double clip;  // 0 = none
  Activation act[6];

  double Clip(double value) const { return clip > 0 ? std::clamp(value, -clip, clip) : value; }
};

inline bool ParseActivation(std::string_view name, Activation* activation) {
  struct Known {
    std::string_view name;
    Act kind;
    double alpha, beta;
  };
  static constexpr Known kKnown[] = {
      {"Relu", Act::kRelu, 0, 0},
      {"Tanh", Act::kTanh, 0, 0},
      {"Sigmoid", Act::kSigmoid, 0, 0},
      {"Affine", Act::kAffine, 1, 0},
      {"LeakyRelu", Act::kLeakyRelu, 0.01f, 0},
      {"ThresholdedRelu", Act::kThresholdedRelu, 1, 0},
      {"ScaledTanh", Act::kScaledTanh, 1, 1},
      {"HardSigmoid", Act::kHardSigmoid, 0.2f, 0.5},
      {"Elu", Act::kElu, 1, 0},
      {"Softsign", Act::kSoftsign, 0, 0},
      {"Softplus", Act::kSoftplus, 0, 0},
  };
  const auto lower = [](char ch) { return ch >= 'A' && ch <= 'Z' ? ch + ('a' - 'A') : ch + 0; };
  for (const Known& k : kKnown) {
    if (std::equal(name.begin(), name.end(), k.name.begin(), k.name.end(),
                   [&](char x, char y) { return lower(x) == lower(y); })) {
      *activation = {k.kind, k.alpha, k.beta};
      return true;
    }
  }
  return false;
}

// A tensor [dir, batch, hidden], or [batch, dir, hidden] with layout 1.
inline int64_t StateIndex(const RecurrentPlan& plan, int64_t dir, int64_t b) {
  return (plan.batch_first ? b * plan.dirs + dir : dir * plan.batch + b) * plan.hidden;
}

// Sum of the products of two rows, in double.
template <class T, class U>
double Dot(const T* a, const U* b, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    sum += static_cast<double>(Widen(Load(a, i))) * static_cast<double>(Widen(b[i]));
  }
  return sum;
}

// W, R and B of one direction.
template <class T>
struct Gates {
  const T *w, *r, *bias;  // bias: nullptr without one; that of W, then that of R
  int64_t rows, inputs, hidden;

  Gates(const RecurrentPlan& plan, const Call& call, int64_t dir)
      : w(call.in(1).as<T>() + dir * plan.gates * plan.hidden * plan.inputs),
        r(call.in(2).as<T>() + dir * plan.gates * plan.hidden * plan.hidden),
        bias(call.has_in(3) ? call.in(3).as<T>() + dir * 2 * plan.gates * plan.hidden : nullptr),
        rows(plan.gates * plan.hidden),
        inputs(plan.inputs),
        hidden(plan.hidden) {}

  double Input(int64_t row, const T* x) const { return Dot(w + row * inputs, x, inputs); }
  double State(int64_t row, const double* h) const { return Dot(r + row * hidden, h, hidden); }
  double InputBias(int64_t row) const { return bias ? Widen(Load(bias, row)) : 0.0; }
  double StateBias(int64_t row) const { return bias ? Widen(Load(bias, rows + row)) : 0.0; }
  double All(int64_t row, const T* x, const double* h) const {
    return Input(row, x) + State(row, h) + (InputBias(row) + StateBias(row));
  }
};

// The states of one sequence, updated by each step, and the cell's own scratch.
struct CellState {
  double *h, *c;    // hidden each
  double* scratch;  // 4 * hidden
};

template <class T>
void StoreRow(const Call& call, uint32_t out, int64_t at, const double* row, int64_t n) {
  if (!call.has_out(out)) return;
  T* y = call.out(out).as<T>() + at;
  for (int64_t k = 0; k < n; ++k) y[k] = Narrow<T>(row == nullptr ? 0.0 : row[k]);
}

// One sequence in one direction. Cell: a type with Step<T>(plan, call, dir, x, state).
template <class T, class Cell>
void RunSequence(const RecurrentPlan& plan, const Call& call, const Cell& cell, int dir, int64_t b,
                 int64_t len, const CellState& cell_state) {
  const T* x = call.in(0).as<T>();
  const int64_t state = StateIndex(plan, dir, b);
  for (int64_t k = 0; k < plan.hidden; ++k) {
    cell_state.h[k] = call.has_in(5) ? Widen(Load(call.in(5).as<T>(), state + k)) : 0;
    cell_state.c[k] = call.has_in(6) ? Widen(Load(call.in(6).as<T>(), state + k)) : 0;
  }
  for (int64_t step = 0; step < plan.steps; ++step) {
    // A reversed sequence is reversed within its own length; past it the output is zero.
    const int64_t t = step < len && plan.reverse[dir] ? len - 1 - step : step;
    const int64_t in = plan.batch_first ? b * plan.steps + t : t * plan.batch + b;
    if (step < len) cell.template Step<T>(plan, call, dir, x + in * plan.inputs, cell_state);
    const int64_t out = plan.batch_first ? (in * plan.dirs + dir) * plan.hidden
                                         : ((t * plan.dirs + dir) * plan.batch + b) * plan.hidden;
    StoreRow<T>(call, 0, out, step < len ? cell_state.h : nullptr, plan.hidden);
    Spend(4 * plan.hidden * (plan.hidden + plan.inputs));
  }
  StoreRow<T>(call, 1, state, cell_state.h, plan.hidden);
  StoreRow<T>(call, 2, state, cell_state.c, plan.hidden);
}

template <class T, class Cell>
ge_rc RunRecurrent(const RecurrentPlan& plan, const Call& call, const Cell& cell) {
  double* scratch = static_cast<double*>(call.workspace());
  const CellState s{scratch + 4 * plan.hidden, scratch + 5 * plan.hidden, scratch};
  for (int dir = 0; dir < plan.dirs; ++dir) {
    for (int64_t b = 0; b < plan.batch; ++b) {
      const int64_t len = call.has_in(4) ? Load(call.in(4).as<int32_t>(), b) : plan.steps;
      if (len < 0 || len > plan.steps) {
        return call.Fail(GE_INVALID_ARGUMENT, "sequence_lens[%lld] is %lld, [0, %lld] is wanted",
                         static_cast<long long>(b), static_cast<long long>(len),
                         static_cast<long long>(plan.steps));
      }
      RunSequence<T>(plan, call, cell, dir, b, len, s);
    }
  }
  return GE_OK;
}

inline bool PlanActivations(const NodeView& n, const RecurrentKind& kind, RecurrentPlan* plan,
                            Why* why) {
  const ge_attr* names = ge::plugin::FindAttr(n.node(), "activations", GE_ATTR_STRINGS);
  const auto alphas = ge::plugin::AttrFloats(n.node(), "activation_alpha");
  const auto betas = ge::plugin::AttrFloats(n.node(), "activation_beta");
  const int each = kind.activations, count = each * plan->dirs;
  if (names != nullptr && names->n != static_cast<uint32_t>(count)) {
    return why->Say(GE_WHY_ATTRIBUTE, "activations has %u names, %d are wanted", names->n, count);
  }
  size_t next_alpha = 0, next_beta = 0;
  for (int i = 0; i < count; ++i) {
    const std::string_view name =
        names == nullptr ? kind.names[i % each] : ge::plugin::View(names->strings[i]);
    Activation* a = &plan->act[i];
    if (!ParseActivation(name, a)) {
      return why->Say(GE_WHY_ATTRIBUTE, "activation '%.*s' is not known",
                      static_cast<int>(std::min<size_t>(name.size(), 40)), name.data());
    }
    // The lists hold entries only for activations with the parameter, in their order.
    const bool has_beta =
        a->kind == Act::kAffine || a->kind == Act::kScaledTanh || a->kind == Act::kHardSigmoid;
    const bool has_alpha = has_beta || a->kind == Act::kLeakyRelu || a->kind == Act::kElu ||
                           a->kind == Act::kThresholdedRelu;
    if (has_alpha && next_alpha < alphas.size()) a->alpha = alphas[next_alpha++];
    if (has_beta && next_beta < betas.size()) a->beta = betas[next_beta++];
  }
  return true;
}

inline bool CheckRecurrentShapes(const NodeView& n, const RecurrentPlan& plan, Why* why) {
  const int64_t d = plan.dirs, h = plan.hidden, b = plan.batch, t = plan.steps,
                g = plan.gates * plan.hidden;
  const auto is = [](const TensorType& v, std::initializer_list<int64_t> dims) {
    return SameDims(v.shape(), {dims.begin(), dims.size()});
  };
  const auto state = [&](const TensorType& v) {
    return plan.batch_first ? is(v, {b, d, h}) : is(v, {d, b, h});
  };
  bool ok = is(n.in(1), {d, g, plan.inputs}) && is(n.in(2), {d, g, h});
  ok = ok && (!n.has_in(3) || is(n.in(3), {d, 2 * g}));
  ok = ok && (!n.has_in(4) || (is(n.in(4), {b}) && n.in(4).dtype == GE_I32));
  ok = ok && (!n.has_in(5) || state(n.in(5))) && (!n.has_in(6) || state(n.in(6)));
  ok = ok && (!n.has_in(7) || is(n.in(7), {d, 3 * h}));
  ok = ok && (!n.has_out(0) ||
              (plan.batch_first ? is(n.out(0), {b, t, d, h}) : is(n.out(0), {t, d, b, h})));
  ok = ok && (!n.has_out(1) || state(n.out(1))) && (!n.has_out(2) || state(n.out(2)));
  for (uint32_t i = 0; i < n.n_in(); ++i) {
    ok = ok && (i == 4 || !n.has_in(i) || n.in(i).dtype == n.in(0).dtype);
  }
  for (uint32_t i = 0; i < n.n_out(); ++i) {
    ok = ok && (!n.has_out(i) || n.out(i).dtype == n.in(0).dtype);
  }
  return ok || why->Say(GE_WHY_SHAPE, "an input or output has not the shape or type of its role");
}

inline bool PlanRecurrent(const NodeView& n, const RecurrentKind& kind, RecurrentPlan* plan,
                          Why* why) {
  if (n.n_in() > kind.n_in || !n.has_in(0) || !n.has_in(1) || !n.has_in(2) ||
      n.n_out() > kind.n_out) {
    return why->Say(GE_WHY_OP, "X, W and R are wanted, and at most %u inputs and %u outputs",
                    kind.n_in, kind.n_out);
  }
  const TensorType x = n.in(0), r = n.in(2);
  if (x.rank != 3 || r.rank != 3) return why->Say(GE_WHY_SHAPE, "X and R must have rank 3");
  const std::string_view direction = n.Text("direction");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional") {
    return why->Say(GE_WHY_ATTRIBUTE, "direction is not known");
  }
  plan->gates = kind.gates;
  plan->dirs = direction == "bidirectional" ? 2 : 1;
  plan->reverse[0] = direction == "reverse";
  plan->reverse[1] = true;
  plan->batch_first = n.Int("layout") != 0;
  plan->steps = x.dims[plan->batch_first ? 1 : 0];
  plan->batch = x.dims[plan->batch_first ? 0 : 1];
  plan->inputs = x.dims[2];
  plan->hidden = r.dims[2];
  plan->clip = n.Float("clip");
  if (n.Int("hidden_size", plan->hidden) != plan->hidden || plan->hidden > (int64_t{1} << 40)) {
    return why->Say(GE_WHY_ATTRIBUTE, "hidden_size is not that of R");
  }
  return PlanActivations(n, kind, plan, why) && CheckRecurrentShapes(n, *plan, why);
}

template <class Cell>
std::unique_ptr<Prepared> PrepareRecurrent(const NodeView& n, const RecurrentKind& kind,
                                           const Cell& cell, Why* why) {
  RecurrentPlan p{};
  if (!PlanRecurrent(n, kind, &p, why)) return nullptr;
  std::unique_ptr<Prepared> made;
  if (!VisitFloat(n.in(0).dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        made = Make([p, cell](const Call& c) { return RunRecurrent<T>(p, c, cell); });
        made->workspace = static_cast<uint64_t>(6 * p.hidden) * sizeof(double);
        made->const_align = 1;
      })) {
    NoDType(n.in(0), why);
  }
  return made;
}

}  // namespace ref
