#include "tools/ge_test/oracle/attention.h"
#include "tools/ge_test/random/microsoft.h"

namespace ge::test {
namespace {

void GqaCase(CaseMaker& m) {
  const int64_t kv = m.r.Int(1, 2), heads = kv * m.r.Int(1, 3), size = 2 * m.Size(3, 40);
  const int64_t batch = m.r.Int(1, 3), past = m.r.Chance(0.4) ? 0 : m.Size(5, 90);
  const int64_t steps = past > 0 ? 1 : m.Size(4, 50);
  const bool packed = m.r.Chance(0.3), turned = m.r.Chance(0.6);
  m.Add(Signal(m, {batch, steps, (packed ? heads + 2 * kv : heads) * size}));
  for (int i = 0; i < 2; ++i) {
    AddMaybe(m, packed ? nullptr : Signal(m, {batch, steps, kv * size}));
  }
  for (int i = 0; i < 2; ++i) {
    AddMaybe(m, past > 0 ? Signal(m, {batch, kv, past, size}) : nullptr);
  }
  // Samples may have fewer older keys than the cache has rows.
  const bool full = past == 0 || m.r.Chance(0.5);
  const auto most = static_cast<double>(past + steps - 1);
  m.Add(m.Numbers(DType::kInt32, {batch}, full ? most : 0, most));
  m.AddConstant(m.Ints(DType::kInt32, {}, {past + steps}));
  const int64_t angles = std::max<int64_t>(12, past + steps);
  for (int i = 0; i < 2 && turned; ++i) m.Add(Signal(m, {angles, size / 2}));
  m.Set("num_heads", heads);
  m.Set("kv_num_heads", kv);
  if (turned) m.Set("do_rotary", int64_t{1});
  if (turned && m.r.Chance(0.5)) m.Set("rotary_interleaved", int64_t{1});
  if (m.r.Chance(0.3)) m.Set("local_window_size", m.r.Int(1, 4));
  if (m.r.Chance(0.3)) m.Set("softcap", m.r.Between(0.5, 2));
  if (m.r.Chance(0.3)) m.Set("scale", m.r.Between(0.1, 1));
  m.c.outputs = m.r.Chance(0.6) ? 3 : 1;
}

// A sample's older keys are those of the past that its length counts; its new ones follow them.
int64_t GqaOlder(const RandomCase& c, int64_t b) {
  return ElementAsInt(*c.inputs[5].tensor, b) + 1 - c.inputs[0].tensor->dims[1];
}

PlainQkv GqaHeads(const RandomCase& c) {
  const HostTensor& q = *c.inputs[0].tensor;
  const HostTensor *key = Maybe(c, 1), *value = Maybe(c, 2), *past = Maybe(c, 3);
  const int64_t heads = IntOr(c, "num_heads", 1), kv = IntOr(c, "kv_num_heads", 1);
  const bool packed = key == nullptr;
  const int64_t size = q.dims[2] / (packed ? heads + 2 * kv : heads), steps = q.dims[1];
  const int64_t total = steps + (past != nullptr ? past->dims[2] : 0);
  PlainQkv p({q.dims[0], heads, kv, steps, total, size, size});
  Index at({p.s.batch, steps, size});
  for (int64_t i = 0; i < p.s.batch * steps * size; ++i, at.Next()) {
    const int64_t b = at.at[0], s = at.at[1], e = at.at[2], to = GqaOlder(c, b) + s;
    const auto of = [&](const HostTensor& t, int64_t head) {
      return ElementAsDouble(t, Flat(t.dims, {b, s, head * size + e}));
    };
    for (int64_t h = 0; h < heads; ++h) p.Q(b, h, s, e) = of(q, h);
    for (int64_t h = 0; h < kv; ++h) {
      p.K(b, h, to, e) = packed ? of(q, heads + h) : of(*key, h);
      p.V(b, h, to, e) = packed ? of(q, heads + kv + h) : of(*value, h);
    }
  }
  return p;
}

void GqaTurn(const RandomCase& c, PlainQkv* p) {
  const bool between = IntOr(c, "rotary_interleaved", 0) != 0;
  for (int64_t b = 0; b < p->s.batch; ++b) {
    for (int64_t s = 0; s < p->s.steps; ++s) {
      const int64_t place = GqaOlder(c, b) + s;
      for (int64_t h = 0; h < p->s.heads; ++h) {
        PlainTurn(*Maybe(c, 7), *Maybe(c, 8), place, between,
                  [&](int64_t e) -> double& { return p->Q(b, h, s, e); });
      }
      for (int64_t h = 0; h < p->s.kv_heads; ++h) {
        PlainTurn(*Maybe(c, 7), *Maybe(c, 8), place, between,
                  [&](int64_t e) -> double& { return p->K(b, h, place, e); });
      }
    }
  }
}

// Output 0 alone: rows of the caches behind a sample's keys hold what they like.
bool PlainGqa(const RandomCase& c, HostTensor* out) {
  PlainQkv p = GqaHeads(c);
  if (IntOr(c, "do_rotary", 0) != 0) GqaTurn(c, &p);
  const HostTensor *past_k = Maybe(c, 3), *past_v = Maybe(c, 4);
  Index old({p.s.batch, p.s.kv_heads, past_k != nullptr ? past_k->dims[2] : 0, p.s.size});
  for (int64_t i = 0, n = past_k != nullptr ? past_k->count() : 0; i < n; ++i, old.Next()) {
    const int64_t b = old.at[0], h = old.at[1], t = old.at[2], e = old.at[3];
    if (t >= GqaOlder(c, b)) continue;
    p.K(b, h, t, e) = ElementAsDouble(*past_k, i);
    p.V(b, h, t, e) = ElementAsDouble(*past_v, i);
  }
  const int64_t window = IntOr(c, "local_window_size", -1);
  const double scale = FloatOr(c, "scale", 1 / std::sqrt(static_cast<double>(p.s.size)));
  return PlainAttend(p, scale, FloatOr(c, "softcap", 0), out,
                     [&](int64_t b, int64_t, int64_t s, int64_t t) {
                       const int64_t place = GqaOlder(c, b) + s;
                       if (t > place || (window > 0 && t <= place - window)) return kUnseen;
                       return 0.0;
                     });
}

}  // namespace

GE_RANDOM_OP(microsoft_group_query_attention) = {"com.microsoft.GroupQueryAttention", GqaCase, 2e-5,
                                                 Error::kOfInputs, PlainGqa};

}  // namespace ge::test
