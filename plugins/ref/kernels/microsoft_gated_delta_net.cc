#include "plugins/ref/kernels/linear_state.h"
#include "plugins/ref/kernels/rows.h"

namespace ref {
namespace {

enum DeltaNetInput : uint32_t {
  kDeltaQuery,
  kDeltaKey,
  kDeltaValue,
  kDeltaCuSeqlens,
  kDeltaDecay,
  kDeltaBeta,
  kDeltaInitialState,
  kDeltaALog,
  kDeltaDtBias,
  kDeltaCaptureCount,
  kDeltaActive
};
enum class DeltaGate : uint8_t { kNone, kSoftplus, kSigmoid };

struct DeltaNetPlan {
  int64_t tokens, requests, heads, v_heads, size, v_size;  // size: of a head of query and key
  int64_t row;       // elements of a token in packed queries, keys and values; 0 = three inputs
  int64_t decays;    // entries of a head in decay; 0 = the rule has none
  int64_t biases;    // entries of a head in dt_bias
  int64_t capacity;  // of state_update
  double scale, lower;
  DeltaGate gate;
  bool delta, beta_sigmoid, normalized;
};

// Scratch of one head: its state and the rows of one token.
struct DeltaNetRows {
  LinearState state;
  double *query, *key, *decay, *bias, *value, *sum;
};

constexpr double kLeastSquares = 1e-12;  // added to a sum of squares before its root, as there

double DeltaSoftplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }
double DeltaSigmoid(double x) { return 1 / (1 + std::exp(-x)); }

void NormalizeDeltaRow(double* row, int64_t n) {
  const double root = std::sqrt(DotOf(row, row, n) + kLeastSquares);
  for (int64_t i = 0; i < n; ++i) row[i] /= root;
}

// What the state is multiplied by at this token.
void LoadDeltaDecay(const DeltaNetPlan& p, const Call& c, int64_t token, int64_t head,
                    const DeltaNetRows& r) {
  if (p.decays == 0) return;
  LoadRow(c.in(kDeltaDecay), (token * p.v_heads + head) * p.decays, p.decays, r.decay);
  double speed = 0;
  if (p.gate != DeltaGate::kNone) {
    LoadRow(c.in(kDeltaALog), head, 1, &speed);
    LoadRow(c.in(kDeltaDtBias), head * p.biases, p.biases, r.bias);
    speed = std::exp(speed);
  }
  for (int64_t i = 0; i < p.decays; ++i) {
    double g = r.decay[i];
    if (p.gate != DeltaGate::kNone) {
      g += r.bias[p.biases == 1 ? 0 : i];
      g = p.gate == DeltaGate::kSoftplus ? -speed * DeltaSoftplus(g)
                                         : p.lower * DeltaSigmoid(speed * g);
    }
    r.decay[i] = std::exp(g);
  }
}

void LoadDeltaToken(const DeltaNetPlan& p, const Call& c, int64_t token, int64_t head,
                    const DeltaNetRows& r) {
  const int64_t shared = head / (p.v_heads / p.heads), keys = p.heads * p.size;
  if (p.row != 0) {
    const int64_t at = token * p.row;
    LoadRow(c.in(kDeltaQuery), at + shared * p.size, p.size, r.query);
    LoadRow(c.in(kDeltaQuery), at + keys + shared * p.size, p.size, r.key);
    LoadRow(c.in(kDeltaQuery), at + 2 * keys + head * p.v_size, p.v_size, r.value);
  } else {
    LoadRow(c.in(kDeltaQuery), token * keys + shared * p.size, p.size, r.query);
    LoadRow(c.in(kDeltaKey), token * keys + shared * p.size, p.size, r.key);
    LoadRow(c.in(kDeltaValue), (token * p.v_heads + head) * p.v_size, p.v_size, r.value);
  }
  if (p.normalized) {
    NormalizeDeltaRow(r.query, p.size);
    NormalizeDeltaRow(r.key, p.size);
  }
  LoadDeltaDecay(p, c, token, head, r);
}

// Rows of state_update: all decays, then all keys, then all corrected values.
void CaptureDelta(const DeltaNetPlan& p, const Call& c, int64_t request, int64_t step, int64_t head,
                  const DeltaNetRows& r) {
  const int64_t each = std::max<int64_t>(1, p.decays), keys = p.heads * p.size;
  const int64_t decays = p.v_heads * each, values = p.v_heads * p.v_size;
  const int64_t shared = head / (p.v_heads / p.heads);
  const Tensor out = c.out(2);
  const int64_t at = request * p.capacity * (decays + keys + values);
  const double one = 1;
  PutRow(out, at + step * decays + head * each, each, p.decays == 0 ? &one : r.decay);
  PutRow(out, at + p.capacity * decays + step * keys + shared * p.size, p.size, r.key);
  PutRow(out, at + p.capacity * (decays + keys) + step * values + head * p.v_size, p.v_size,
         r.value);
}

struct DeltaNetSpan {
  int64_t request, begin, end;
  int64_t captured;  // tokens of which state_update is wanted
};

void RunDeltaNetHead(const DeltaNetPlan& p, const Call& c, const DeltaNetSpan& span, int64_t head,
                     const DeltaNetRows& r) {
  const int64_t at = (span.request * p.v_heads + head) * p.size * p.v_size;
  // States lie with the values' axis first.
  for (int64_t j = 0; j < p.v_size; ++j) {
    std::fill_n(r.key, p.size, 0.0);
    if (c.has_in(kDeltaInitialState))
      LoadRow(c.in(kDeltaInitialState), at + j * p.size, p.size, r.key);
    for (int64_t i = 0; i < p.size; ++i) r.state.at[i * p.v_size + j] = r.key[i];
  }
  for (int64_t t = span.begin; t < span.end; ++t) {
    LoadDeltaToken(p, c, t, head, r);
    DecayState(r.state, r.decay, p.decays);
    if (p.delta) {
      double beta = 0;
      LoadRow(c.in(kDeltaBeta), t * p.v_heads + head, 1, &beta);
      CorrectValue(r.state, r.key, p.beta_sigmoid ? DeltaSigmoid(beta) : beta, r.value, r.sum);
    }
    AddToState(r.state, r.key, r.value);
    if (t - span.begin < span.captured) CaptureDelta(p, c, span.request, t - span.begin, head, r);
    AskState(r.state, r.query, r.sum);
    for (int64_t j = 0; j < p.v_size; ++j) r.sum[j] *= p.scale;
    PutRow(c.out(0), (t * p.v_heads + head) * p.v_size, p.v_size, r.sum);
    Spend(p.size * p.v_size);
  }
  if (!c.has_out(1)) return;
  for (int64_t j = 0; j < p.v_size; ++j) {
    for (int64_t i = 0; i < p.size; ++i) r.key[i] = r.state.at[i * p.v_size + j];
    PutRow(c.out(1), at + j * p.size, p.size, r.key);
  }
}

// Where a request begins: by cu_seqlens, or all requests are of one length.
int64_t DeltaBegin(const DeltaNetPlan& p, const Call& c, int64_t request) {
  if (c.has_in(kDeltaCuSeqlens)) return IntAt(c.in(kDeltaCuSeqlens), request);
  return p.requests == 0 ? 0 : p.tokens / p.requests * request;
}

ge_rc CheckDeltaSpans(const DeltaNetPlan& p, const Call& c) {
  if (!c.has_in(kDeltaCuSeqlens)) return GE_OK;
  int64_t last = 0;
  for (int64_t i = 0; i <= p.requests; ++i) {
    const int64_t at = DeltaBegin(p, c, i);
    if (at < last || at > p.tokens || (i == 0 && at != 0) || (i == p.requests && at != p.tokens)) {
      return c.Fail(GE_INVALID_ARGUMENT,
                    "element %lld of cu_seqlens is %lld, wanted numbers that grow from 0 to %lld",
                    static_cast<long long>(i), static_cast<long long>(at),
                    static_cast<long long>(p.tokens));
    }
    last = at;
  }
  return GE_OK;
}

ge_rc RunDeltaNet(const DeltaNetPlan& p, const Call& c) {
  const ge_rc rc = CheckDeltaSpans(p, c);
  if (rc != GE_OK) return rc;
  DeltaNetRows r{};
  r.state = {static_cast<double*>(c.workspace()), p.size, p.v_size};
  r.query = r.state.at + p.size * p.v_size;
  r.key = r.query + p.size;
  r.decay = r.key + p.size;
  r.bias = r.decay + p.size + 1;
  r.value = r.bias + p.size + 1;
  r.sum = r.value + p.v_size;
  const bool updates = p.capacity != 0 && c.has_out(2);
  if (updates) std::fill_n(c.out(2).as<float>(), c.out(2).count, 0.0F);
  const bool active = updates && (!c.has_in(kDeltaActive) || IntAt(c.in(kDeltaActive), 0) != 0);
  for (int64_t b = 0; b < p.requests; ++b) {
    DeltaNetSpan span{b, DeltaBegin(p, c, b), DeltaBegin(p, c, b + 1), 0};
    if (active) span.captured = std::min<int64_t>(p.capacity, IntAt(c.in(kDeltaCaptureCount), b));
    for (int64_t h = 0; h < p.v_heads; ++h) RunDeltaNetHead(p, c, span, h, r);
  }
  return GE_OK;
}

bool PlanDeltaNetRule(const NodeView& n, DeltaNetPlan* p, Why* why) {
  const std::string_view rule = n.Text("update_rule"), gate = n.Text("gate_activation"),
                         beta = n.Text("beta_activation");
  const bool gated = rule == "gated" || rule == "gated_delta";
  p->delta = rule == "delta" || rule == "gated_delta";
  p->gate = gate == "none"                         ? DeltaGate::kNone
            : gate == "softplus" || gate == "qwen" ? DeltaGate::kSoftplus
                                                   : DeltaGate::kSigmoid;
  const bool known = (gated || p->delta || rule == "linear") &&
                     (p->gate != DeltaGate::kSigmoid || gate == "sigmoid" || gate == "kda") &&
                     (beta == "none" || beta == "sigmoid");
  if (!known) return why->Say(GE_WHY_ATTRIBUTE, "a rule or an activation is not known");
  const bool biased = p->gate != DeltaGate::kNone;
  if (n.has_in(kDeltaDecay) != gated || n.has_in(kDeltaBeta) != p->delta ||
      n.has_in(kDeltaALog) != biased || n.has_in(kDeltaDtBias) != biased ||
      n.has_in(kDeltaCaptureCount) != (n.Int("state_update_capacity") > 0)) {
    return why->Say(GE_WHY_OP, "an input is missing, or there without use");
  }
  p->beta_sigmoid = beta == "sigmoid";
  p->normalized = n.Int("qk_l2_norm") != 0;
  p->capacity = n.Int("state_update_capacity");
  p->lower = n.Float("gate_lower_bound");
  return true;
}

// Sizes of heads, by the inputs, or by the state when queries, keys and values lie in one.
bool PlanDeltaNetSizes(const NodeView& n, DeltaNetPlan* p, Why* why) {
  const TensorType q = n.in(kDeltaQuery), y = n.out(0);
  if (y.rank < 3) return NoRole(why);
  p->v_heads = y.dims[y.rank - 2];
  p->v_size = y.dims[y.rank - 1];
  p->tokens = 1;
  for (int i = 0; i < y.rank - 2; ++i) p->tokens *= y.dims[i];
  if (n.has_in(kDeltaInitialState) && n.in(kDeltaInitialState).rank != 4) return NoRole(why);
  if (n.has_in(kDeltaKey)) {
    if (q.rank != y.rank || !n.has_in(kDeltaValue)) return NoRole(why);
    p->heads = q.dims[q.rank - 2];
    p->size = q.dims[q.rank - 1];
  } else {
    if (q.rank != y.rank - 1 || !n.has_in(kDeltaInitialState)) return NoRole(why);
    p->size = n.in(kDeltaInitialState).dims[3];
    p->row = q.dims[q.rank - 1];
    const int64_t keys = p->row - p->v_heads * p->v_size;
    if (p->size < 1 || keys < 1 || keys % (2 * p->size) != 0) return NoRole(why);
    p->heads = keys / (2 * p->size);
  }
  if (!n.has_in(kDeltaInitialState) && !n.has_in(kDeltaCuSeqlens)) return NoRole(why);
  p->requests = n.has_in(kDeltaCuSeqlens) ? n.in(kDeltaCuSeqlens).count - 1
                                          : n.in(kDeltaInitialState).dims[0];
  const bool even = n.has_in(kDeltaCuSeqlens) || p->requests == 0 || p->tokens % p->requests == 0;
  const bool fits = p->heads >= 1 && p->v_heads >= 1 && p->v_heads % p->heads == 0 &&
                    p->size >= 1 && p->requests >= 0 && even;
  return fits || NoRole(why);
}

bool DeltaCountsFit(const NodeView& n, const DeltaNetPlan& p) {
  const auto has = [&](uint32_t i, int64_t count) {
    return !n.has_in(i) || n.in(i).count == count;
  };
  const int64_t queries = p.tokens * p.heads * p.size, values = p.tokens * p.v_heads * p.v_size;
  const int64_t state = p.requests * p.v_heads * p.size * p.v_size;
  const int64_t update = p.capacity * (p.v_heads * std::max<int64_t>(1, p.decays) +
                                       p.heads * p.size + p.v_heads * p.v_size);
  return has(kDeltaQuery, p.row != 0 ? p.tokens * p.row : queries) && has(kDeltaKey, queries) &&
         has(kDeltaValue, values) && has(kDeltaDecay, p.tokens * p.v_heads * p.decays) &&
         has(kDeltaBeta, p.tokens * p.v_heads) && has(kDeltaInitialState, state) &&
         has(kDeltaALog, p.v_heads) && has(kDeltaDtBias, p.v_heads * p.biases) &&
         has(kDeltaCaptureCount, p.requests) && has(kDeltaActive, 1) &&
         (!n.has_out(1) || n.out(1).count == state) &&
         (!n.has_out(2) || n.out(2).count == p.requests * update);
}

bool PlanDeltaNet(const NodeView& n, DeltaNetPlan* p, Why* why) {
  if (!NeedPorts(n, 1, 11, why) || !PlanDeltaNetRule(n, p, why)) return false;
  for (const uint32_t i : {kDeltaCuSeqlens, kDeltaCaptureCount, kDeltaActive}) {
    if (n.has_in(i) && n.in(i).dtype != GE_I32) return NoDType(n.in(i), why);
  }
  for (const uint32_t i : {kDeltaQuery, kDeltaKey, kDeltaValue, kDeltaDecay, kDeltaBeta,
                           kDeltaInitialState, kDeltaALog, kDeltaDtBias}) {
    if (n.has_in(i) && !IsFloatDType(n.in(i).dtype)) return NoDType(n.in(i), why);
  }
  for (uint32_t i = 0; i < n.n_out() && i < 3; ++i) {
    if (!n.has_out(i)) continue;
    if (i == 2 ? n.out(i).dtype != GE_F32 : !IsFloatDType(n.out(i).dtype)) {
      return NoDType(n.out(i), why);
    }
  }
  if (!PlanDeltaNetSizes(n, p, why)) return false;
  const auto sizes = [&](bool whole) { return whole ? p->size : int64_t{1}; };
  if (n.has_in(kDeltaDecay)) p->decays = sizes(n.in(kDeltaDecay).rank == n.out(0).rank);
  p->biases = sizes(n.has_in(kDeltaDtBias) && n.in(kDeltaDtBias).count != p->v_heads);
  const double scale = n.Float("scale");
  p->scale = scale != 0 ? scale : 1 / std::sqrt(static_cast<double>(p->size));
  const bool biased = p->decays == 0 || p->biases == 1 || p->biases == p->decays;
  return (biased && DeltaCountsFit(n, *p)) || NoRole(why);
}

std::unique_ptr<Prepared> PrepareDeltaNet(const NodeView& n, Why* why) {
  DeltaNetPlan p{};
  if (!PlanDeltaNet(n, &p, why)) return nullptr;
  auto made = Make([p](const Call& c) { return RunDeltaNet(p, c); });
  const auto rows = static_cast<uint64_t>(4 * p.size + 2 + 2 * p.v_size + p.size * p.v_size);
  made->workspace = rows * sizeof(double);
  made->const_align = 1;
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(microsoft_gated_delta_net, "com.microsoft.GatedDeltaNet", PrepareDeltaNet)
