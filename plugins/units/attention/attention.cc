#include "plugins/units/attention/attention.h"

#include <algorithm>
#include <cmath>

#include "plugins/units/attention/attention_group.h"
#include "plugins/units/matmul/matmul.h"
#include "plugins/units/parser.h"

namespace ge_engines {

namespace {

// Sizes and places of [batch, heads, length, size] or [batch, length, heads * size].
bool Heads(const Dims& d, int64_t heads, HeadSteps* steps, int64_t* length, int64_t* size) {
  if (d.size() == 4) {
    *length = d[2];
    *size = d[3];
    *steps = {heads * d[2] * d[3], d[2] * d[3], d[3]};
    return d[1] == heads;
  }
  if (d.size() != 3 || heads < 1 || d[2] % heads != 0) return false;
  *length = d[1];
  *size = d[2] / heads;
  *steps = {d[1] * d[2], *size, d[2]};
  return true;
}

bool Sizes(const Parser& g, const ge_node& n, const Unit& u, AttendSpec* s) {
  const Dims q = g.dims(n.in[0]), k = g.dims(n.in[1]), v = g.dims(n.in[2]);
  const bool four = q.size() == 4;
  if (k.size() != q.size() || v.size() != q.size() || u.dims.size() != q.size()) return false;
  s->batch = q[0];
  s->heads = four ? q[1] : gp::AttrInt(n, "q_num_heads");
  const int64_t shared = four ? k[1] : gp::AttrInt(n, "kv_num_heads");
  int64_t k_size = 0, v_fresh = 0, y_rows = 0, y_size = 0;
  if (s->heads < 1 || shared < 1 || s->heads % shared != 0) return false;
  s->share = s->heads / shared;
  return Heads(q, s->heads, &s->q, &s->rows, &s->size) &&
         Heads(k, shared, &s->k, &s->fresh, &k_size) &&
         Heads(v, shared, &s->v, &v_fresh, &s->v_size) &&
         Heads(u.dims, s->heads, &s->y, &y_rows, &y_size) && k[0] == s->batch && v[0] == s->batch &&
         u.dims[0] == s->batch && k_size == s->size && v_fresh == s->fresh && y_rows == s->rows &&
         y_size == s->v_size;
}

// Bools, or floats that are added. Keys behind its last axis are masked.
bool Mask(const Parser& g, uint32_t mask, Unit* u, AttendSpec* s, Why* why) {
  const int32_t dtype = g.dtype(mask);
  if (dtype != GE_BOOL && !g.IsReal(dtype)) {
    return why->Say(GE_WHY_DTYPE, "a mask that is neither bool nor float32");
  }
  Dims d = g.dims(mask);
  const Dims scores = {s->batch, s->heads, s->rows};
  if (d.empty() || d.size() > 4 || d.back() > s->keys) {
    return why->Say(GE_WHY_SHAPE, "attn_mask does not broadcast to the scores");
  }
  d.insert(d.begin(), 4 - d.size(), 1);
  ScoreStep step;
  step.kind = dtype == GE_BOOL ? ScoreStep::kWhere : ScoreStep::kBinary;
  step.fn = Fn::kAdd;
  step.a = -INFINITY;
  step.operand = u->in.size();
  step.view = scores;
  step.step.assign(3, 0);
  int64_t stride = d[3];
  for (size_t i = 3; i-- > 0; stride *= d[i]) {
    if (d[i] != 1 && d[i] != scores[i]) {
      return why->Say(GE_WHY_SHAPE, "attn_mask does not broadcast to the scores");
    }
    step.step[i] = d[i] == 1 ? 0 : stride;
  }
  s->keys = d[3];
  u->in.push_back(mask);
  s->steps.push_back(std::move(step));
  return true;
}

void Unary(float factor, Fn fn, AttendSpec* s) {
  ScoreStep step;
  step.fn = fn;
  step.a = factor;
  s->steps.push_back(std::move(step));
}

// Scale, softcap, mask, in this order.
bool Steps(const Parser& g, const ge_node& n, uint32_t mask, Unit* u, AttendSpec* s, Why* why) {
  const double scale = gp::AttrFloat(n, "scale", 1 / std::sqrt(static_cast<double>(s->size)));
  Unary(static_cast<float>(scale), Fn::kLinear, s);
  if (const double cap = gp::AttrFloat(n, "softcap"); cap > 0) {
    Unary(static_cast<float>(1 / cap), Fn::kLinear, s);
    Unary(0, Fn::kTanh, s);
    Unary(static_cast<float>(cap), Fn::kLinear, s);
  }
  return mask == 0 || Mask(g, mask, u, s, why);
}

bool ParseAttention(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  auto& s = u->spec.emplace<AttendSpec>();
  const auto in = [&](uint32_t at) { return at < n.n_in ? n.in[at] : 0; };
  const auto out = [&](uint32_t at) { return at < n.n_out ? n.out[at] : 0; };
  if (in(1) == 0 || in(2) == 0) return why->Say(GE_WHY_SHAPE, "no keys or values");
  if (out(3) != 0) return why->Say(GE_WHY_OP, "scores are wanted, which are never all there");
  for (const uint32_t v : {in(0), in(1), in(2), in(4), in(5), out(0), out(1), out(2)}) {
    if (v != 0 && !g.IsReal(g.dtype(v))) return why->Say(GE_WHY_DTYPE, "only float32");
  }
  if (gp::AttrInt(n, "softmax_precision") == GE_F64) {
    return why->Say(GE_WHY_ATTRIBUTE, "a softmax in float64");
  }
  if (!Sizes(g, n, *u, &s) || (in(4) != 0) != (in(5) != 0) || (in(4) != 0 && in(6) != 0)) {
    return why->Say(GE_WHY_SHAPE, "its tensors do not fit each other");
  }
  if (in(4) != 0) s.past = g.dims(in(4)).size() == 4 ? g.dims(in(4))[2] : 0;
  s.keys = s.past + s.fresh;
  const int64_t shared = s.heads / s.share;
  const auto is = [&](uint32_t v, const Dims& d) { return v == 0 || g.dims(v) == d; };
  if (!is(in(4), {s.batch, shared, s.past, s.size}) ||
      !is(in(5), {s.batch, shared, s.past, s.v_size}) ||
      !is(out(1), {s.batch, shared, s.keys, s.size}) ||
      !is(out(2), {s.batch, shared, s.keys, s.v_size}) || !is(in(6), {s.batch}) ||
      (in(6) != 0 && g.dtype(in(6)) != GE_I64)) {
    return why->Say(GE_WHY_SHAPE, "its tensors do not fit each other");
  }
  // More than reaches every key from every row is no window.
  const int64_t most = s.past + s.fresh + s.rows;
  s.before = std::min(gp::AttrInt(n, "left_window_size", -1), most);
  s.after = std::min(gp::AttrInt(n, "right_window_size", -1), most);
  if (gp::AttrInt(n, "is_causal") != 0) s.after = 0;
  s.sees_none = true;
  u->in = {in(0), in(1), in(2)};
  u->out = {out(0), out(1), out(2)};
  const auto add = [&](uint32_t v, size_t* at) {
    if (v == 0) return;
    *at = u->in.size();
    u->in.push_back(v);
  };
  add(in(4), &s.past_k);
  add(in(5), &s.past_v);
  add(in(6), &s.lengths_in);
  s.lengths = in(6) != 0;
  return Steps(g, n, in(3), u, &s, why);
}

constexpr Operator kAttentionOperators[] = {
    {.op = "MatMul", .parse = ParseMatMul, .data = 0, .group = GroupOfAttention, .first = true},
    {"Attention", ParseAttention, Types::kAny, 0},
};
}  // namespace

const UnitKind AttendSpec::kKind = {.name = "attention", .operators = kAttentionOperators};

}  // namespace ge_engines
