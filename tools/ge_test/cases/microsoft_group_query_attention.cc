#include <functional>

#include "tools/ge_test/oracle/attention.h"
#include "tools/ge_test/random/microsoft.h"

namespace ge::test {
namespace {

struct GqaShape {
  int64_t batch, steps, past, heads, size;
};

// What heads of queries and keys are multiplied by once they are normalized, and epsilons beside
// which their squares are not large.
void AddGqaNorms(CaseMaker& m, int64_t size) {
  for (int i = 0; i < 2; ++i) m.Add(Signal(m, {size}));
  for (const char* name : {"qk_norm_epsilon", "q_norm_epsilon", "k_norm_epsilon"}) {
    if (m.r.Chance(0.5)) m.Set(name, m.r.Between(0.05, 1));
  }
}

// Where queries stand, what is added to scores, and a term more of the sums: each may be absent.
void AddGqaOptions(CaseMaker& m, const GqaShape& s, int64_t angles) {
  const bool placed = m.r.Chance(0.4), biased = m.r.Chance(0.4), sunk = m.r.Chance(0.3),
             normed = m.r.Chance(0.3);
  const auto most = static_cast<double>(angles - s.steps);
  AddMaybe(
      m, placed ? m.Numbers(DType::kInt64, {s.batch, s.steps + m.r.Int(0, 1)}, 0, most) : nullptr);
  AddMaybe(m, biased ? Signal(m, {m.r.Chance(0.5) ? 1 : s.batch, m.r.Chance(0.5) ? 1 : s.heads,
                                  s.steps, s.past + s.steps})
                     : nullptr);
  if (sunk || normed) AddMaybe(m, sunk ? Signal(m, {s.heads}) : nullptr);
  for (int scale = 0; normed && scale < 2; ++scale) AddMaybe(m, nullptr);
  if (normed) AddGqaNorms(m, s.size);
  if (m.r.Chance(0.3)) m.Set("smooth_softmax", m.r.Int(-1, 1));
}

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
  const Dims lengths[] = {{batch}, {batch, 1}, {1, batch}};
  m.Add(m.Numbers(DType::kInt32, lengths[m.r.Int(0, 2)], full ? most : 0, most));
  m.AddConstant(m.Ints(DType::kInt32, {}, {past + steps}));
  const int64_t angles = std::max<int64_t>(12, past + steps);
  for (int i = 0; i < 2; ++i) AddMaybe(m, turned ? Signal(m, {angles, size / 2}) : nullptr);
  AddGqaOptions(m, {batch, steps, past, heads, size}, angles);
  m.Set("num_heads", heads);
  m.Set("kv_num_heads", kv);
  if (turned) m.Set("do_rotary", int64_t{1});
  if (turned && m.r.Chance(0.5)) m.Set("rotary_interleaved", int64_t{1});
  if (m.r.Chance(0.3)) {
    m.Set("local_window_size", m.r.Int(1, 4));
  } else if (m.r.Chance(0.3)) {
    m.Set("causal", m.r.Int(0, 1));
  }
  if (m.r.Chance(0.3)) m.Set("softcap", m.r.Between(0.5, 2));
  if (m.r.Chance(0.3)) m.Set("scale", m.r.Between(0.1, 1));
  m.c.outputs = m.r.Chance(0.6) ? 3 : 1;
  if (m.r.Chance(0.3)) {
    m.Set("qk_output", m.r.Int(1, 2));
    m.c.outputs = 4;
  }
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

// Of a first prompt, whose steps are all keys, the first number alone counts.
int64_t GqaPlace(const RandomCase& c, int64_t b, int64_t step) {
  const HostTensor* places = Maybe(c, 9);
  if (places == nullptr) return GqaOlder(c, b) + step;
  const bool first = ElementAsInt(*c.inputs[6].tensor, 0) == c.inputs[0].tensor->dims[1];
  return first ? ElementAsInt(*places, 0) + step
               : ElementAsInt(*places, Flat(places->dims, {b, step}));
}

void GqaTurn(const RandomCase& c, PlainQkv* p) {
  const bool between = IntOr(c, "rotary_interleaved", 0) != 0;
  for (int64_t b = 0; b < p->s.batch; ++b) {
    for (int64_t s = 0; s < p->s.steps; ++s) {
      const int64_t place = GqaPlace(c, b, s), row = GqaOlder(c, b) + s;
      for (int64_t h = 0; h < p->s.heads; ++h) {
        PlainTurn(*Maybe(c, 7), *Maybe(c, 8), place, between,
                  [&](int64_t e) -> double& { return p->Q(b, h, s, e); });
      }
      for (int64_t h = 0; h < p->s.kv_heads; ++h) {
        PlainTurn(*Maybe(c, 7), *Maybe(c, 8), place, between,
                  [&](int64_t e) -> double& { return p->K(b, h, row, e); });
      }
    }
  }
}

// A head over its root mean square, times the weight.
void PlainNormalized(const HostTensor& weight, double epsilon,
                     const std::function<double&(int64_t)>& at) {
  const int64_t n = weight.dims[0];
  double squares = 0;
  for (int64_t e = 0; e < n; ++e) squares += at(e) * at(e);
  const double by = 1 / std::sqrt(squares / static_cast<double>(n) + epsilon);
  for (int64_t e = 0; e < n; ++e) at(e) *= by * ElementAsDouble(weight, e);
}

void GqaNormalize(const RandomCase& c, PlainQkv* p) {
  const double both = FloatOr(c, "qk_norm_epsilon", 1e-6);
  for (int64_t b = 0; b < p->s.batch; ++b) {
    for (int64_t s = 0; s < p->s.steps; ++s) {
      const int64_t row = GqaOlder(c, b) + s;
      for (int64_t h = 0; h < p->s.heads; ++h) {
        PlainNormalized(*Maybe(c, 14), FloatOr(c, "q_norm_epsilon", both),
                        [&](int64_t e) -> double& { return p->Q(b, h, s, e); });
      }
      for (int64_t h = 0; h < p->s.kv_heads; ++h) {
        PlainNormalized(*Maybe(c, 15), FloatOr(c, "k_norm_epsilon", both),
                        [&](int64_t e) -> double& { return p->K(b, h, row, e); });
      }
    }
  }
}

PlainQkv GqaFilled(const RandomCase& c) {
  PlainQkv p = GqaHeads(c);
  if (Maybe(c, 14) != nullptr) GqaNormalize(c, &p);
  if (IntOr(c, "do_rotary", 0) != 0) GqaTurn(c, &p);
  const HostTensor *past_k = Maybe(c, 3), *past_v = Maybe(c, 4);
  Index old({p.s.batch, p.s.kv_heads, past_k != nullptr ? past_k->dims[2] : 0, p.s.size});
  for (int64_t i = 0, n = past_k != nullptr ? past_k->count() : 0; i < n; ++i, old.Next()) {
    const int64_t b = old.at[0], h = old.at[1], t = old.at[2], e = old.at[3];
    if (t >= GqaOlder(c, b)) continue;
    p.K(b, h, t, e) = ElementAsDouble(*past_k, i);
    p.V(b, h, t, e) = ElementAsDouble(*past_v, i);
  }
  return p;
}

double GqaScale(const RandomCase& c, const PlainQkv& p) {
  return FloatOr(c, "scale", 1 / std::sqrt(static_cast<double>(p.s.size)));
}

double GqaBias(const RandomCase& c, int64_t b, int64_t h, int64_t s, int64_t t) {
  const int64_t window = IntOr(c, "local_window_size", -1), older = GqaOlder(c, b), own = older + s,
                steps = c.inputs[0].tensor->dims[1];
  const int64_t end = IntOr(c, "causal", 1) != 0 ? own + 1 : older + steps;
  if (t >= end || (window > 0 && t <= own - window)) return kUnseen;
  return BiasAt(Maybe(c, 10), {b, h, s, t});
}

double GqaSink(const RandomCase& c, int64_t h) {
  const HostTensor* sink = Maybe(c, 11);
  if (sink != nullptr) return ElementAsDouble(*sink, h);
  return IntOr(c, "smooth_softmax", -1) == 1 ? 0 : kUnseen;
}

bool PlainGqa(const RandomCase& c, HostTensor* out) {
  PlainQkv p = GqaFilled(c);
  return PlainAttend(
      p, GqaScale(c, p), FloatOr(c, "softcap", 0), out,
      [&](int64_t b, int64_t h, int64_t s, int64_t t) { return GqaBias(c, b, h, s, t); },
      [&](int64_t h) { return GqaSink(c, h); });
}

// Scores, or the shares of them, with 0 for keys that a query does not see.
bool PlainGqaProducts(const RandomCase& c, HostTensor* out) {
  PlainQkv p = GqaFilled(c);
  if (out->dims != Dims{p.s.batch, p.s.heads, p.s.steps, p.s.total}) return false;
  const bool shares = IntOr(c, "qk_output", 0) == 2;
  Index at({p.s.batch, p.s.heads, p.s.steps});
  for (int64_t i = 0; i < out->count(); i += p.s.total, at.Next()) {
    std::vector<double> scores;
    double all = std::exp(GqaSink(c, at.at[1]));
    for (int64_t t = 0; t < p.s.total; ++t) {
      const Dims key = {at.at[0], at.at[1], at.at[2], t};
      scores.push_back(PlainScore(p, key, GqaScale(c, p), FloatOr(c, "softcap", 0)) +
                       GqaBias(c, at.at[0], at.at[1], at.at[2], t));
      all += std::exp(scores.back());
    }
    for (int64_t t = 0; t < p.s.total; ++t) {
      const double score = scores[static_cast<size_t>(t)];
      const double seen = score == kUnseen ? 0 : score;
      SetElement(out, i + t, shares ? std::exp(score) / all : seen);
    }
  }
  return true;
}

// Rows that the keys do not fill stay the past's, of which the last stands for what lies behind it.
bool PlainGqaOther(const RandomCase& c, size_t o, HostTensor* out) {
  if (o == 3) return PlainGqaProducts(c, out);
  PlainQkv p = GqaFilled(c);
  const HostTensor* past = Maybe(c, o + 2);
  if (out->dims != Dims{p.s.batch, p.s.kv_heads, p.s.total, p.s.size}) return false;
  Index at(out->dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    const int64_t b = at.at[0], h = at.at[1], t = at.at[2], e = at.at[3];
    if (past != nullptr && t >= GqaOlder(c, b) + p.s.steps) {
      SetElement(
          out, i,
          ElementAsDouble(*past, Flat(past->dims, {b, h, std::min(t, past->dims[2] - 1), e})));
    } else {
      SetElement(out, i, o == 1 ? p.K(b, h, t, e) : p.V(b, h, t, e));
    }
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(microsoft_group_query_attention) = {
    "com.microsoft.GroupQueryAttention", GqaCase, 2e-5, Error::kOfInputs, PlainGqa, PlainGqaOther};

}  // namespace ge::test
