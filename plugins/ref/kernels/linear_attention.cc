#include "plugins/ref/kernels/linear_state.h"
#include "plugins/ref/kernels/rows.h"

namespace ref {
namespace {

struct LinearPlan {
  int64_t batch, steps, q_heads, kv_heads, size, v_size;  // size: of a head of query and key
  int64_t decays, betas;  // entries of a token in decay and beta; 0 = the rule has none
  double scale;
};

// Scratch of one head: its state [size, v_size] and the rows of one token.
struct LinearRows {
  double *state, *key, *value, *decay, *sum;
};

void UpdateState(const LinearPlan& p, double beta, const LinearRows& r) {
  const LinearState state{r.state, p.size, p.v_size};
  const int64_t each = p.decays / p.kv_heads;
  for (int64_t i = 0; i < each; ++i) r.decay[i] = std::exp(r.decay[i]);
  DecayState(state, r.decay, each);
  if (p.betas != 0) CorrectValue(state, r.key, beta, r.value, r.sum);
  AddToState(state, r.key, r.value);
}

void RunLinearStep(const LinearPlan& p, const Call& c, int64_t token, int64_t head,
                   const LinearRows& r) {
  LoadRow(c.in(1), (token * p.kv_heads + head) * p.size, p.size, r.key);
  LoadRow(c.in(2), (token * p.kv_heads + head) * p.v_size, p.v_size, r.value);
  if (p.decays != 0) {
    const int64_t each = p.decays / p.kv_heads;
    LoadRow(c.in(4), token * p.decays + head * each, each, r.decay);
  }
  double beta = 1;
  if (p.betas != 0) LoadRow(c.in(5), token * p.betas + (p.betas == 1 ? 0 : head), 1, &beta);
  UpdateState(p, beta, r);
  const int64_t share = p.q_heads / p.kv_heads;
  for (int64_t q = head * share; q < (head + 1) * share; ++q) {
    double* query = r.key;  // the key is done with
    LoadRow(c.in(0), (token * p.q_heads + q) * p.size, p.size, query);
    AskState({r.state, p.size, p.v_size}, query, r.sum);
    for (int64_t j = 0; j < p.v_size; ++j) r.sum[j] *= p.scale;
    PutRow(c.out(0), (token * p.q_heads + q) * p.v_size, p.v_size, r.sum);
  }
}

ge_rc RunLinear(const LinearPlan& p, const Call& c) {
  const int64_t each = p.size * p.v_size;
  LinearRows r{};
  r.state = static_cast<double*>(c.workspace());
  r.key = r.state + each;
  r.decay = r.key + p.size;
  r.value = r.decay + p.size;
  r.sum = r.value + p.v_size;
  for (int64_t b = 0; b < p.batch; ++b) {
    for (int64_t h = 0; h < p.kv_heads; ++h) {
      const int64_t at = (b * p.kv_heads + h) * each;
      std::fill_n(r.state, each, 0.0);
      if (c.has_in(3)) LoadRow(c.in(3), at, each, r.state);
      for (int64_t t = 0; t < p.steps; ++t) {
        RunLinearStep(p, c, b * p.steps + t, h, r);
        Spend(each);
      }
      if (c.has_out(1)) PutRow(c.out(1), at, each, r.state);
    }
  }
  return GE_OK;
}

// Which of decay and beta the rule has; both are there just then.
bool PlanLinearRule(const NodeView& n, LinearPlan* p, Why* why) {
  const std::string_view rule = n.Text("update_rule");
  const bool gated = rule == "gated" || rule == "gated_delta";
  const bool delta = rule == "delta" || rule == "gated_delta";
  if (!gated && !delta && rule != "linear") {
    return why->Say(GE_WHY_ATTRIBUTE, "update_rule is not known");
  }
  if (n.has_in(4) != gated || n.has_in(5) != delta) {
    return why->Say(GE_WHY_OP, "decay or beta is missing, or there without use");
  }
  p->decays = gated && n.in(4).rank == 3 ? n.in(4).dims[2] : 0;
  p->betas = delta && n.in(5).rank == 3 ? n.in(5).dims[2] : 0;
  const int64_t h = p->kv_heads;
  const bool ok = (!gated || ((p->decays == h || p->decays == h * p->size) &&
                              HasDims(n.in(4), {p->batch, p->steps, p->decays}))) &&
                  (!delta || ((p->betas == h || p->betas == 1) &&
                              HasDims(n.in(5), {p->batch, p->steps, p->betas})));
  return ok || NoRole(why);
}

bool PlanLinear(const NodeView& n, LinearPlan* p, Why* why) {
  if (!NeedPorts(n, 3, 6, why)) return false;
  const TensorType q = n.in(0), k = n.in(1), v = n.in(2);
  const TensorType state = n.has_in(3) ? n.in(3) : n.has_out(1) ? n.out(1) : q;
  for (uint32_t i = 0; i < n.n_in(); ++i) {
    if (i != 3 && n.has_in(i) && !NeedSameDType(q, n.in(i), why)) return false;
  }
  if (!IsFloatDType(q.dtype)) return NoDType(q, why);
  if (!IsFloatDType(state.dtype)) return NoDType(state, why);
  if (!NeedSameDType(q, n.out(0), why)) return false;
  if (n.has_out(1) && !NeedSameDType(state, n.out(1), why)) return false;
  p->q_heads = n.Int("q_num_heads");
  p->kv_heads = n.Int("kv_num_heads");
  if (p->q_heads < 1 || p->kv_heads < 1 || p->q_heads % p->kv_heads != 0) {
    return why->Say(GE_WHY_ATTRIBUTE, "q_num_heads is no multiple of kv_num_heads");
  }
  if (q.rank != 3 || k.rank != 3 || v.rank != 3 || q.dims[2] % p->q_heads != 0 ||
      v.dims[2] % p->kv_heads != 0) {
    return NoRole(why);
  }
  p->batch = q.dims[0];
  p->steps = q.dims[1];
  p->size = q.dims[2] / p->q_heads;
  p->v_size = v.dims[2] / p->kv_heads;
  const auto is_state = [&](const TensorType& t) {
    return HasDims(t, {p->batch, p->kv_heads, p->size, p->v_size});
  };
  const bool ok = HasDims(k, {p->batch, p->steps, p->kv_heads * p->size}) &&
                  HasDims(v, {p->batch, p->steps, v.dims[2]}) &&
                  HasDims(n.out(0), {p->batch, p->steps, p->q_heads * p->v_size}) &&
                  (!n.has_in(3) || is_state(n.in(3))) && (!n.has_out(1) || is_state(n.out(1)));
  const double scale = n.Float("scale");
  p->scale = scale != 0 ? scale : 1 / std::sqrt(static_cast<double>(p->size));
  return ok ? PlanLinearRule(n, p, why) : NoRole(why);
}

// The state stays in double from token to token and is rounded once.
std::unique_ptr<Prepared> PrepareLinear(const NodeView& n, Why* why) {
  LinearPlan p{};
  if (!PlanLinear(n, &p, why)) return nullptr;
  auto made = Make([p](const Call& c) { return RunLinear(p, c); });
  // One more than the rows: a decay for a whole head is there even when its size is 0.
  const int64_t scratch = p.size * p.v_size + 2 * (p.size + p.v_size) + 1;
  made->workspace = static_cast<uint64_t>(scratch) * sizeof(double);
  made->const_align = 1;
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(linear_attention, "LinearAttention", PrepareLinear)
