#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/layers.h"

namespace ge::test {
namespace {

// Now and then rows are masked as a whole.
void AddAttentionMask(CaseMaker& m, const Dims& scores) {
  Dims dims = m.Narrowed({scores[0], scores[1], scores[2]});
  if (m.r.Chance(0.3)) dims = {scores[2]};
  dims.push_back(m.r.Chance(0.2) ? m.r.Int(1, scores[3]) : scores[3]);
  const bool truth = m.r.Chance(0.5), hides = m.r.Chance(0.4);
  auto mask = truth ? m.Numbers(DType::kBool, dims, 0, 1) : m.Numbers(m.dtype(), dims, -2, 2);
  const double hidden = -std::numeric_limits<double>::infinity();
  for (int64_t i = 0; i < mask->count(); i += dims.back()) {
    const bool whole = hides && m.r.Chance(0.3);
    if (truth) SetIntElement(mask.get(), i, whole ? 0 : 1);
    for (int64_t j = 0; whole && j < dims.back(); ++j)
      SetElement(mask.get(), i + j, truth ? 0 : hidden);
  }
  m.Add(mask);
}

void AttentionCase(CaseMaker& m) {
  const int64_t batch = m.r.Chance(0.05) ? 0 : m.r.Int(1, 2), kv = m.r.Int(1, 2),
                heads = kv * m.Size(3, 6), q_len = m.Size(4, 40), kv_len = m.Size(5, 70),
                size = m.Size(5, 70), v_size = m.Size(5, 70);
  const bool packed = m.r.Chance(0.5), has_mask = m.r.Chance(0.5);
  const bool has_past = m.r.Chance(0.4), padded = !has_past && m.r.Chance(0.3);
  const auto add = [&](int64_t n, int64_t length, int64_t each) {
    m.Add(Signal(m, packed ? Dims{batch, length, n * each} : Dims{batch, n, length, each}));
  };
  add(heads, q_len, size);
  add(kv, kv_len, size);
  add(kv, kv_len, v_size);
  const int64_t past = has_past ? m.r.Int(0, 3) : 0;
  if (has_mask) {
    AddAttentionMask(m, {batch, heads, q_len, past + kv_len});
  } else if (has_past || padded) {
    m.AddAbsent();
  }
  if (has_past) {
    m.Add(Signal(m, {batch, kv, past, size}));
    m.Add(Signal(m, {batch, kv, past, v_size}));
  } else if (padded) {
    m.AddAbsent();
    m.AddAbsent();
    m.Add(m.Numbers(DType::kInt64, {batch}, m.r.Chance(0.2) ? 0 : 1, static_cast<double>(kv_len)));
  }
  if (packed || m.r.Chance(0.2)) {
    m.Set("q_num_heads", heads);
    m.Set("kv_num_heads", kv);
  }
  if (m.r.Chance(0.4)) m.Set("is_causal", int64_t{1});
  if (m.r.Chance(0.3)) m.Set("left_window_size", m.r.Int(-1, kv_len));
  if (m.r.Chance(0.3)) m.Set("right_window_size", m.r.Int(-1, kv_len));
  if (m.r.Chance(0.3)) m.Set("softcap", 0.5);
  if (m.r.Chance(0.3)) m.Set("scale", 0.25);
  if (m.r.Chance(0.2)) m.Set("softmax_precision", int64_t{1});
  if (m.r.Chance(0.3)) {
    m.c.outputs = 4;
    m.Set("qk_matmul_output_mode", m.r.Int(0, 3));
  }
}

// Q, K or V as heads, with what came before in front.
struct PlainHeads {
  const HostTensor* now;
  const HostTensor* past;
  int64_t heads, before, length, size;
  PlainHeads(const HostTensor* t, const HostTensor* p, int64_t packed_heads) : now(t), past(p) {
    const bool four = t->dims.size() == 4;
    heads = four ? t->dims[1] : packed_heads;
    before = p != nullptr ? p->dims[2] : 0;
    length = before + t->dims[four ? 2 : 1];
    size = four ? t->dims[3] : t->dims[2] / heads;
  }
  double At(int64_t b, int64_t h, int64_t s, int64_t e) const {
    if (s < before) return ElementAsDouble(*past, Flat(past->dims, {b, h, s, e}));
    s -= before;
    return ElementAsDouble(*now, now->dims.size() == 4 ? Flat(now->dims, {b, h, s, e})
                                                       : Flat(now->dims, {b, s, h * size + e}));
  }
};

double PlainAttentionBias(const RandomCase& c, const Dims& at, int64_t before, int64_t steps) {
  const double masked = -std::numeric_limits<double>::infinity();
  const HostTensor* lengths = Maybe(c, 6);
  // With lengths the last query sees the last key; else the first sees one more than the past.
  const int64_t offset = lengths != nullptr ? ElementAsInt(*lengths, at[0]) - steps : before;
  const int64_t left = IntOr(c, "left_window_size", -1);
  const int64_t right = IntOr(c, "right_window_size", -1), ahead = at[3] - at[2] - offset;
  if (IntOr(c, "is_causal", 0) != 0 && ahead > 0) return masked;
  if ((left >= 0 && -ahead > left) || (right >= 0 && ahead > right)) return masked;
  if (lengths != nullptr && at[3] >= ElementAsInt(*lengths, at[0])) return masked;
  const HostTensor* mask = Maybe(c, 3);
  if (mask == nullptr) return 0;
  if (at[3] >= mask->dims.back()) return masked;
  const int64_t i = Broadcast(*mask, at);
  if (mask->dtype == DType::kBool) return ElementAsInt(*mask, i) != 0 ? 0 : masked;
  return ElementAsDouble(*mask, i);
}

// Output 0 alone.
bool PlainAttention(const RandomCase& c, HostTensor* out) {
  const int64_t kv_heads = IntOr(c, "kv_num_heads", 0);
  const PlainHeads q(Maybe(c, 0), nullptr, IntOr(c, "q_num_heads", 0));
  const PlainHeads k(Maybe(c, 1), Maybe(c, 4), kv_heads), v(Maybe(c, 2), Maybe(c, 5), kv_heads);
  const int64_t batch = q.now->dims[0], share = q.heads / k.heads;
  const double cap = FloatOr(c, "softcap", 0);
  const double scale = FloatOr(c, "scale", 1 / std::sqrt(static_cast<double>(q.size)));
  const bool four = q.now->dims.size() == 4;
  const Dims wanted =
      four ? Dims{batch, q.heads, q.length, v.size} : Dims{batch, q.length, q.heads * v.size};
  if (out->dims != wanted) return false;
  Index at({batch, q.heads, q.length});
  for (int64_t i = 0; i < batch * q.heads * q.length; ++i, at.Next()) {
    const int64_t b = at.at[0], h = at.at[1], s = at.at[2];
    std::vector<double> top(static_cast<size_t>(v.size));
    double below = 0;
    for (int64_t j = 0; j < k.length; ++j) {
      double score = 0;
      for (int64_t e = 0; e < q.size; ++e) score += q.At(b, h, s, e) * k.At(b, h / share, j, e);
      score *= scale;
      if (cap > 0) score = cap * std::tanh(score / cap);
      const double weight =
          std::exp(score + PlainAttentionBias(c, {b, h, s, j}, k.before, q.length));
      below += weight;
      for (size_t e = 0; e < top.size(); ++e) {
        top[e] += weight * v.At(b, h / share, j, static_cast<int64_t>(e));
      }
    }
    for (size_t e = 0; e < top.size(); ++e) {
      const auto n = static_cast<int64_t>(e);
      SetElement(out, four ? Flat(wanted, {b, h, s, n}) : Flat(wanted, {b, s, h * v.size + n}),
                 below > 0 ? top[e] / below : 0);
    }
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(attention) = {"Attention", AttentionCase, 4e-6, Error::kOfInputs, PlainAttention};

}  // namespace ge::test
