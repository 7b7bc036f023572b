#include "tools/ge_test/oracle/attention.h"
#include "tools/ge_test/random/microsoft.h"

namespace ge::test {
namespace {

struct MhaShape {
  int64_t heads, size, v_size, batch, steps, keys;
};

// Query, key and value; answers whether a bias may be added to them.
bool AddMhaInputs(CaseMaker& m, const MhaShape& s) {
  const int64_t kind = m.r.Int(0, 5);
  if (kind == 0) {
    m.Add(Signal(m, {s.batch, s.keys, s.heads, 3, s.size}));
    m.AddAbsent();
    m.AddAbsent();
    return false;
  }
  m.Add(Signal(m, {s.batch, s.steps, s.heads * s.size}));
  if (kind == 1) {
    m.Add(Signal(m, {s.batch, s.keys, s.heads, 2, s.size}));
    m.AddAbsent();
    return false;
  }
  if (kind == 2) {
    m.Add(Signal(m, {s.batch, s.heads, s.keys, s.size}));
    m.Add(Signal(m, {s.batch, s.heads, s.keys, s.v_size}));
    return false;
  }
  m.Add(Signal(m, {s.batch, s.keys, s.heads * s.size}));
  m.Add(Signal(m, {s.batch, s.keys, s.heads * s.v_size}));
  return true;
}

void MhaCase(CaseMaker& m) {
  MhaShape s{m.r.Int(1, 3), m.Size(4, 70), 0, m.Size(3, 12), m.Size(4, 70), m.Size(4, 40)};
  s.v_size = m.r.Chance(0.6) ? s.size : m.Size(4, 70);
  const bool apart = AddMhaInputs(m, s);
  if (m.c.inputs[0].tensor->dims.size() == 5) s.steps = s.keys;
  if (m.c.inputs[2].tensor == nullptr) s.v_size = s.size;
  const int64_t past = apart && m.r.Chance(0.4) ? m.r.Int(1, 3) : 0, total = past + s.keys;
  AddMaybe(m, apart && m.r.Chance(0.5) ? Signal(m, {s.heads * (2 * s.size + s.v_size)}) : nullptr);
  AddMaybe(m, AttentionMask(m, s.batch, s.steps, total));
  AddMaybe(m, m.r.Chance(0.3) ? Signal(m, {1, s.heads, s.steps, total}) : nullptr);
  if (past > 0) {
    m.Add(Signal(m, {s.batch, s.heads, past, s.size}));
    m.Add(Signal(m, {s.batch, s.heads, past, s.v_size}));
  }
  m.Set("num_heads", s.heads);
  if (m.r.Chance(0.3)) m.Set("unidirectional", m.r.Int(0, 1));
  if (m.c.inputs[4].tensor != nullptr && m.r.Chance(0.3)) m.Set("mask_filter_value", -1.5);
  if (m.r.Chance(0.3)) m.Set("scale", m.r.Between(0.1, 1));
  m.c.outputs = m.r.Chance(0.5) ? 3 : 1;
}

// Element e of head h, step s of input i, in each of its layouts; `part` of a packed tensor.
double MhaElement(const HostTensor& t, int64_t heads, int64_t part, const Dims& at) {
  const int64_t b = at[0], h = at[1], s = at[2], e = at[3];
  if (t.dims.size() == 5) return ElementAsDouble(t, Flat(t.dims, {b, s, h, part, e}));
  if (t.dims.size() == 4) return ElementAsDouble(t, Flat(t.dims, {b, h, s, e}));
  return ElementAsDouble(t, Flat(t.dims, {b, s, h * (t.dims[2] / heads) + e}));
}

// As lists: packed query, key and value; packed key and value; keys of other attention as heads;
// or three tensors, to which a bias may be added. Those of the past come first.
PlainQkv MhaHeads(const RandomCase& c) {
  const HostTensor &q = *c.inputs[0].tensor, *key = Maybe(c, 1), *value = Maybe(c, 2);
  const HostTensor *bias = Maybe(c, 3), *past_k = Maybe(c, 6), *past_v = Maybe(c, 7);
  const int64_t heads = IntOr(c, "num_heads", 1), base = key == nullptr ? 1 : 0;
  const HostTensor& k = key != nullptr ? *key : q;
  const HostTensor& v = value != nullptr ? *value : k;
  const auto length = [](const HostTensor& t) { return t.dims[t.dims.size() == 4 ? 2 : 1]; };
  const auto each = [&](const HostTensor& t) {
    return t.dims.size() == 3 ? t.dims[2] / heads : t.dims.back();
  };
  const int64_t before = past_k != nullptr ? past_k->dims[2] : 0;
  PlainQkv p({q.dims[0], heads, heads, length(q), before + length(k), each(q), each(v)});
  const auto fill = [&](const HostTensor& t, int64_t part, int64_t size, int64_t offset, auto set) {
    Index at({p.s.batch, heads, length(t), size});
    for (int64_t i = 0; i < p.s.batch * heads * length(t) * size; ++i, at.Next()) {
      double more = 0;
      if (bias != nullptr) more = ElementAsDouble(*bias, offset + at.at[1] * size + at.at[3]);
      set(at.at) = MhaElement(t, heads, part, at.at) + more;
    }
  };
  fill(q, 0, p.s.size, 0, [&](const Dims& a) -> double& { return p.Q(a[0], a[1], a[2], a[3]); });
  fill(k, base, p.s.size, heads * p.s.size,
       [&](const Dims& a) -> double& { return p.K(a[0], a[1], before + a[2], a[3]); });
  fill(v, base + (value == nullptr ? 1 : 0), p.s.v_size, 2 * heads * p.s.size,
       [&](const Dims& a) -> double& { return p.V(a[0], a[1], before + a[2], a[3]); });
  Index old({p.s.batch, heads, before});
  for (int64_t i = 0; i < p.s.batch * heads * before; ++i, old.Next()) {
    const int64_t b = old.at[0], h = old.at[1], t = old.at[2];
    for (int64_t e = 0; e < p.s.size; ++e) {
      p.K(b, h, t, e) = ElementAsDouble(*past_k, Flat(past_k->dims, {b, h, t, e}));
    }
    for (int64_t e = 0; e < p.s.v_size; ++e) {
      p.V(b, h, t, e) = ElementAsDouble(*past_v, Flat(past_v->dims, {b, h, t, e}));
    }
  }
  return p;
}

bool PlainMha(const RandomCase& c, HostTensor* out) {
  PlainQkv p = MhaHeads(c);
  const int64_t before = Maybe(c, 6) != nullptr ? Maybe(c, 6)->dims[2] : 0;
  // As in ONNX Runtime: a single query is the latest, and sees every key.
  const bool causal = IntOr(c, "unidirectional", 0) != 0 && p.s.steps > 1;
  const double scale = FloatOr(c, "scale", 1 / std::sqrt(static_cast<double>(p.s.size)));
  return PlainAttend(p, scale, 0, out, [&](int64_t b, int64_t h, int64_t s, int64_t t) {
    if (causal && t > before + s) return kUnseen;
    const double bias = BiasAt(Maybe(c, 5), {b, h, s, t});
    return IsSeen(Maybe(c, 4), p.s.batch, b, s, t) ? bias : FillOf(c) + bias;
  });
}

// 1: the keys, 2: the values, each with the past in front.
bool PlainMhaPresent(const RandomCase& c, size_t output, HostTensor* out) {
  PlainQkv p = MhaHeads(c);
  const int64_t size = output == 1 ? p.s.size : p.s.v_size;
  if (out->dims != Dims{p.s.batch, p.s.heads, p.s.total, size}) return false;
  const std::vector<double>& from = output == 1 ? p.k : p.v;
  for (size_t i = 0; i < from.size(); ++i) SetElement(out, static_cast<int64_t>(i), from[i]);
  return true;
}

}  // namespace

GE_RANDOM_OP(microsoft_multi_head_attention) = {
    "com.microsoft.MultiHeadAttention", MhaCase, 2e-5, Error::kOfInputs, PlainMha, PlainMhaPresent};

}  // namespace ge::test
