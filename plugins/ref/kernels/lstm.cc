#include <algorithm>
#include <string_view>

#include "plugins/ref/checks.h"

namespace ref {
namespace {

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

struct LstmPlan {
  int64_t steps, batch, inputs, hidden;
  int dirs;
  bool reverse[2] = {false, false};
  bool batch_first, input_forget;
  double clip;  // 0 = none
  Activation act[6];
};

bool ParseActivation(std::string_view name, Activation* a) {
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
      *a = {k.kind, k.alpha, k.beta};
      return true;
    }
  }
  return false;
}

// A tensor [dir, batch, hidden], or [batch, dir, hidden] with layout 1.
int64_t StateIndex(const LstmPlan& p, int64_t dir, int64_t b) {
  return (p.batch_first ? b * p.dirs + dir : dir * p.batch + b) * p.hidden;
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

// One step of one sequence. gate: 4 * hidden scratch; h, c: its state, updated.
template <class T>
void Step(const LstmPlan& p, const Call& call, int64_t dir, const T* x, double* gate, double* h,
          double* c) {
  const int64_t hid = p.hidden;
  const T* w = call.in(1).as<T>() + dir * 4 * hid * p.inputs;
  const T* r = call.in(2).as<T>() + dir * 4 * hid * hid;
  const T* bias = call.has_in(3) ? call.in(3).as<T>() + dir * 8 * hid : nullptr;
  const T* peep = call.has_in(7) ? call.in(7).as<T>() + dir * 3 * hid : nullptr;
  const Activation* act = p.act + dir * 3;
  const auto clip = [&](double v) { return p.clip > 0 ? std::clamp(v, -p.clip, p.clip) : v; };
  const auto hole = [&](int64_t which, int64_t k, double cell) {
    return peep == nullptr ? 0.0 : Widen(Load(peep, which * hid + k)) * cell;
  };
  for (int64_t g = 0; g < 4 * hid; ++g) {  // ONNX's order of gates: i, o, f, c
    gate[g] = Dot(w + g * p.inputs, x, p.inputs) + Dot(r + g * hid, h, hid);
    if (bias != nullptr) {
      gate[g] += static_cast<double>(Widen(Load(bias, g))) + Widen(Load(bias, 4 * hid + g));
    }
  }
  for (int64_t k = 0; k < hid; ++k) {
    const double i = act[0](clip(gate[k] + hole(0, k, c[k])));
    const double f = p.input_forget ? 1 - i : act[0](clip(gate[2 * hid + k] + hole(2, k, c[k])));
    c[k] = f * c[k] + i * act[1](clip(gate[3 * hid + k]));
    const double o = act[0](clip(gate[hid + k] + hole(1, k, c[k])));
    h[k] = o * act[2](c[k]);
  }
}

template <class T>
void StoreRow(const Call& call, uint32_t out, int64_t at, const double* row, int64_t n) {
  if (!call.has_out(out)) return;
  T* y = call.out(out).as<T>() + at;
  for (int64_t k = 0; k < n; ++k) y[k] = Narrow<T>(row == nullptr ? 0.0 : row[k]);
}

template <class T>
ge_rc RunLstm(const LstmPlan& p, const Call& call) {
  double* gate = static_cast<double*>(call.workspace());
  double *h = gate + 4 * p.hidden, *c = h + p.hidden;
  const T* x = call.in(0).as<T>();
  for (int dir = 0; dir < p.dirs; ++dir) {
    for (int64_t b = 0; b < p.batch; ++b) {
      const int64_t state = StateIndex(p, dir, b);
      for (int64_t k = 0; k < p.hidden; ++k) {
        h[k] = call.has_in(5) ? Widen(Load(call.in(5).as<T>(), state + k)) : 0;
        c[k] = call.has_in(6) ? Widen(Load(call.in(6).as<T>(), state + k)) : 0;
      }
      const int64_t len = call.has_in(4) ? Load(call.in(4).as<int32_t>(), b) : p.steps;
      if (len < 0 || len > p.steps) {
        return call.Fail(GE_INVALID_ARGUMENT, "sequence_lens[%lld] is %lld, [0, %lld] is wanted",
                         static_cast<long long>(b), static_cast<long long>(len),
                         static_cast<long long>(p.steps));
      }
      for (int64_t s = 0; s < p.steps; ++s) {
        // A reversed sequence is reversed within its own length; past it the output is zero.
        const int64_t t = s < len && p.reverse[dir] ? len - 1 - s : s;
        const int64_t in = p.batch_first ? b * p.steps + t : t * p.batch + b;
        if (s < len) Step(p, call, dir, x + in * p.inputs, gate, h, c);
        const int64_t out = p.batch_first ? (in * p.dirs + dir) * p.hidden
                                          : ((t * p.dirs + dir) * p.batch + b) * p.hidden;
        StoreRow<T>(call, 0, out, s < len ? h : nullptr, p.hidden);
      }
      StoreRow<T>(call, 1, state, h, p.hidden);
      StoreRow<T>(call, 2, state, c, p.hidden);
    }
  }
  return GE_OK;
}

bool PlanActivations(const NodeView& n, LstmPlan* p, Why* why) {
  const ge_attr* names = ge::plugin::FindAttr(n.node(), "activations", GE_ATTR_STRINGS);
  const auto alphas = ge::plugin::AttrFloats(n.node(), "activation_alpha");
  const auto betas = ge::plugin::AttrFloats(n.node(), "activation_beta");
  static constexpr std::string_view kDefault[3] = {"Sigmoid", "Tanh", "Tanh"};
  const int count = 3 * p->dirs;
  if (names != nullptr && names->n != static_cast<uint32_t>(count)) {
    return why->Say(GE_WHY_ATTRIBUTE, "activations has %u names, %d are wanted", names->n, count);
  }
  size_t next_alpha = 0, next_beta = 0;
  for (int i = 0; i < count; ++i) {
    const std::string_view name =
        names == nullptr ? kDefault[i % 3] : ge::plugin::View(names->strings[i]);
    Activation* a = &p->act[i];
    if (!ParseActivation(name, a)) {
      return why->Say(GE_WHY_ATTRIBUTE, "activation '%.*s' is not known",
                      static_cast<int>(std::min<size_t>(name.size(), 40)), name.data());
    }
    // The lists hold entries only for the activations that have the parameter, in their order.
    const bool has_beta =
        a->kind == Act::kAffine || a->kind == Act::kScaledTanh || a->kind == Act::kHardSigmoid;
    const bool has_alpha = has_beta || a->kind == Act::kLeakyRelu || a->kind == Act::kElu ||
                           a->kind == Act::kThresholdedRelu;
    if (has_alpha && next_alpha < alphas.size()) a->alpha = alphas[next_alpha++];
    if (has_beta && next_beta < betas.size()) a->beta = betas[next_beta++];
  }
  return true;
}

bool HasDims(const TensorType& t, std::initializer_list<int64_t> dims) {
  return SameDims(t.shape(), {dims.begin(), dims.size()});
}

bool CheckShapes(const NodeView& n, const LstmPlan& p, Why* why) {
  const int64_t d = p.dirs, h = p.hidden, b = p.batch, t = p.steps;
  const auto state = [&](const TensorType& v) {
    return p.batch_first ? HasDims(v, {b, d, h}) : HasDims(v, {d, b, h});
  };
  bool ok = HasDims(n.in(1), {d, 4 * h, p.inputs}) && HasDims(n.in(2), {d, 4 * h, h});
  ok = ok && (!n.has_in(3) || HasDims(n.in(3), {d, 8 * h}));
  ok = ok && (!n.has_in(4) || (HasDims(n.in(4), {b}) && n.in(4).dtype == GE_I32));
  ok = ok && (!n.has_in(5) || state(n.in(5))) && (!n.has_in(6) || state(n.in(6)));
  ok = ok && (!n.has_in(7) || HasDims(n.in(7), {d, 3 * h}));
  ok = ok && (!n.has_out(0) ||
              (p.batch_first ? HasDims(n.out(0), {b, t, d, h}) : HasDims(n.out(0), {t, d, b, h})));
  ok = ok && (!n.has_out(1) || state(n.out(1))) && (!n.has_out(2) || state(n.out(2)));
  for (uint32_t i = 0; i < n.n_in(); ++i) {
    ok = ok && (i == 4 || !n.has_in(i) || n.in(i).dtype == n.in(0).dtype);
  }
  for (uint32_t i = 0; i < n.n_out(); ++i) {
    ok = ok && (!n.has_out(i) || n.out(i).dtype == n.in(0).dtype);
  }
  return ok || why->Say(GE_WHY_SHAPE, "an input or output has not the shape or type of its role");
}

bool PlanLstm(const NodeView& n, LstmPlan* p, Why* why) {
  if (n.n_in() > 8 || !n.has_in(0) || !n.has_in(1) || !n.has_in(2) || n.n_out() > 3) {
    return why->Say(GE_WHY_OP, "X, W and R are wanted, and at most 8 inputs and 3 outputs");
  }
  const TensorType x = n.in(0), r = n.in(2);
  if (x.rank != 3 || r.rank != 3) return why->Say(GE_WHY_SHAPE, "X and R must have rank 3");
  const std::string_view direction = n.Text("direction", "forward");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional") {
    return why->Say(GE_WHY_ATTRIBUTE, "direction is not known");
  }
  p->dirs = direction == "bidirectional" ? 2 : 1;
  p->reverse[0] = direction == "reverse";
  p->reverse[1] = true;
  p->batch_first = n.Int("layout", 0) != 0;
  p->steps = x.dims[p->batch_first ? 1 : 0];
  p->batch = x.dims[p->batch_first ? 0 : 1];
  p->inputs = x.dims[2];
  p->hidden = r.dims[2];
  p->input_forget = n.Int("input_forget", 0) != 0;
  p->clip = n.Float("clip", 0);
  if (n.Int("hidden_size", p->hidden) != p->hidden || p->hidden > (int64_t{1} << 40)) {
    return why->Say(GE_WHY_ATTRIBUTE, "hidden_size is not that of R");
  }
  return PlanActivations(n, p, why) && CheckShapes(n, *p, why);
}

std::unique_ptr<Prepared> PrepareLstm(const NodeView& n, Why* why) {
  LstmPlan p{};
  if (!PlanLstm(n, &p, why)) return nullptr;
  std::unique_ptr<Prepared> made;
  if (!VisitFloat(n.in(0).dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        made = Make([p](const Call& c) { return RunLstm<T>(p, c); });
        made->workspace = static_cast<uint64_t>(6 * p.hidden) * sizeof(double);
        made->const_align = 1;
      })) {
    NoDType(n.in(0), why);
  }
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(lstm, "LSTM", 7, PrepareLstm)
