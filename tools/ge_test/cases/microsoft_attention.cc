#include "tools/ge_test/oracle/attention.h"
#include "tools/ge_test/random/microsoft.h"

namespace ge::test {
namespace {

void AttentionMsCase(CaseMaker& m) {
  const int64_t heads = m.Size(3, 12), size = m.Size(4, 32), batch = m.r.Int(1, 3),
                steps = m.Size(4, 40), in = m.Size(6, 384);
  const int64_t past = m.r.Chance(0.3) ? m.r.Int(1, 3) : 0, total = past + steps;
  const int64_t hidden = heads * size,
                v_hidden = past > 0 || m.r.Chance(0.6) ? hidden : heads * m.Size(4, 32);
  m.Add(Signal(m, {batch, steps, in}));
  m.Add(TameWeight(m, {in, 2 * hidden + v_hidden}, 4 * in));
  AddMaybe(m, m.r.Chance(0.7) ? Signal(m, {2 * hidden + v_hidden}) : nullptr);
  AddMaybe(m, AttentionMask(m, batch, steps, total));
  AddMaybe(m, past > 0 ? Signal(m, {2, batch, heads, past, size}) : nullptr);
  if (m.r.Chance(0.3)) {
    m.Add(Signal(m, {m.r.Chance(0.5) ? 1 : batch, m.r.Chance(0.5) ? 1 : heads, steps, total}));
  }
  m.Set("num_heads", heads);
  if (v_hidden != hidden) m.Set("qkv_hidden_sizes", Dims{hidden, hidden, v_hidden});
  if (m.r.Chance(0.5)) m.Set("unidirectional", m.r.Int(0, 1));
  if (m.c.inputs[3].tensor != nullptr && m.r.Chance(0.3)) m.Set("mask_filter_value", -1.5);
  if (m.r.Chance(0.3)) m.Set("scale", m.r.Between(0.1, 1));
  m.c.outputs = v_hidden == hidden && m.r.Chance(0.5) ? 2 : 1;
}

// Queries, keys and values: inputs times weights plus bias, behind the keys and values of the past.
PlainQkv AttentionMsHeads(const RandomCase& c) {
  const HostTensor &x = *c.inputs[0].tensor, &w = *c.inputs[1].tensor;
  const HostTensor *bias = Maybe(c, 2), *past = Maybe(c, 4);
  const int64_t heads = IntOr(c, "num_heads", 1), columns = w.dims[1];
  const Dims sizes = IntsOr(c, "qkv_hidden_sizes", {columns / 3, columns / 3, columns / 3});
  const int64_t before = past != nullptr ? past->dims[3] : 0;
  PlainQkv p(
      {x.dims[0], heads, heads, x.dims[1], before + x.dims[1], sizes[0] / heads, sizes[2] / heads});
  Index at({p.s.batch, p.s.steps, columns});
  for (int64_t i = 0; i < p.s.batch * p.s.steps * columns; ++i, at.Next()) {
    const int64_t b = at.at[0], s = at.at[1], col = at.at[2];
    double sum = bias != nullptr ? ElementAsDouble(*bias, col) : 0;
    for (int64_t k = 0; k < w.dims[0]; ++k) {
      sum += ElementAsDouble(x, Flat(x.dims, {b, s, k})) * ElementAsDouble(w, k * columns + col);
    }
    const int64_t each = col < 2 * sizes[0] ? p.s.size : p.s.v_size;
    const int64_t left = col < sizes[0]       ? col
                         : col < 2 * sizes[0] ? col - sizes[0]
                                              : col - 2 * sizes[0];
    const int64_t h = left / each, e = left % each;
    (col < sizes[0]       ? p.Q(b, h, s, e)
     : col < 2 * sizes[0] ? p.K(b, h, before + s, e)
                          : p.V(b, h, before + s, e)) = sum;
  }
  Index old({p.s.batch, heads, before, p.s.size});
  for (int64_t i = 0; i < p.s.batch * heads * before * p.s.size; ++i, old.Next()) {
    const int64_t b = old.at[0], h = old.at[1], t = old.at[2], e = old.at[3];
    p.K(b, h, t, e) = ElementAsDouble(*past, Flat(past->dims, {0, b, h, t, e}));
    p.V(b, h, t, e) = ElementAsDouble(*past, Flat(past->dims, {1, b, h, t, e}));
  }
  return p;
}

bool PlainAttentionMs(const RandomCase& c, HostTensor* out) {
  PlainQkv p = AttentionMsHeads(c);
  const int64_t before = p.s.total - p.s.steps;
  // As in ONNX Runtime: a single query is the latest, and sees every key.
  const bool causal = IntOr(c, "unidirectional", 0) != 0 && p.s.steps > 1;
  const double scale = FloatOr(c, "scale", 1 / std::sqrt(static_cast<double>(p.s.size)));
  return PlainAttend(p, scale, 0, out, [&](int64_t b, int64_t h, int64_t s, int64_t t) {
    if (causal && t > before + s) return kUnseen;
    const double bias = BiasAt(Maybe(c, 5), {b, h, s, t});
    return IsSeen(Maybe(c, 3), p.s.batch, b, s, t) ? bias : FillOf(c) + bias;
  });
}

// The keys and values, those of the past in front.
bool PlainAttentionMsPresent(const RandomCase& c, size_t, HostTensor* out) {
  PlainQkv p = AttentionMsHeads(c);
  if (out->dims != Dims{2, p.s.batch, p.s.heads, p.s.total, p.s.size}) return false;
  const auto n = static_cast<int64_t>(p.k.size());
  for (int64_t i = 0; i < n; ++i) SetElement(out, i, p.k[static_cast<size_t>(i)]);
  for (int64_t i = 0; i < n; ++i) SetElement(out, n + i, p.v[static_cast<size_t>(i)]);
  return true;
}

}  // namespace

GE_RANDOM_OP(microsoft_attention) = {
    "com.microsoft.Attention", AttentionMsCase,  2e-5,
    Error::kOfInputs,          PlainAttentionMs, PlainAttentionMsPresent};

}  // namespace ge::test
