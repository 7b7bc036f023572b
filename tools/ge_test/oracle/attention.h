// Independent answers of com.microsoft's attention operators: queries, keys and values as lists of
// doubles, and one softmax over the keys visible to a query.
#pragma once

#include <limits>

#include "tools/ge_test/oracle/plain.h"

namespace ge::test {

// Heads of queries; each run of heads / kv_heads of them reads one head of keys and values.
struct PlainHeadSizes {
  int64_t batch, heads, kv_heads, steps, total, size, v_size;
};

struct PlainQkv {
  PlainHeadSizes s;
  std::vector<double> q, k,
      v;  // [batch, heads, steps, size], [batch, kv_heads, total, size or v_size]

  explicit PlainQkv(const PlainHeadSizes& sizes)
      : s(sizes),
        q(static_cast<size_t>(s.batch * s.heads * s.steps * s.size)),
        k(static_cast<size_t>(s.batch * s.kv_heads * s.total * s.size)),
        v(static_cast<size_t>(s.batch * s.kv_heads * s.total * s.v_size)) {}

  double& Q(int64_t b, int64_t h, int64_t step, int64_t e) {
    return q[static_cast<size_t>(((b * s.heads + h) * s.steps + step) * s.size + e)];
  }
  double& K(int64_t b, int64_t h, int64_t t, int64_t e) {
    return k[static_cast<size_t>(((b * s.kv_heads + h) * s.total + t) * s.size + e)];
  }
  double& V(int64_t b, int64_t h, int64_t t, int64_t e) {
    return v[static_cast<size_t>(((b * s.kv_heads + h) * s.total + t) * s.v_size + e)];
  }
};

inline constexpr double kUnseen = -std::numeric_limits<double>::infinity();

// For heads whose sums have no term but those of the keys.
struct NoSink {
  double operator()(int64_t) const { return kUnseen; }
};

// Q * K^T of one query and key.
inline double PlainScore(PlainQkv& qkv, const Dims& at, double scale, double cap) {
  const PlainHeadSizes& s = qkv.s;
  const int64_t b = at[0], h = at[1], step = at[2], t = at[3], kv = h / (s.heads / s.kv_heads);
  double score = 0;
  for (int64_t e = 0; e < s.size; ++e) score += qkv.Q(b, h, step, e) * qkv.K(b, kv, t, e);
  score *= scale;
  return cap > 0 ? cap * std::tanh(score / cap) : score;
}

// out[batch, steps, heads * v_size]; bias(b, h, step, t) is added to a score, and may be kUnseen.
// e to the power of sink(h) is a term more of the sum that shares are of.
template <typename Bias, typename Sink = NoSink>
bool PlainAttend(PlainQkv& qkv, double scale, double cap, HostTensor* out, Bias bias,
                 Sink sink = {}) {
  const PlainHeadSizes& s = qkv.s;
  if (out->dims != Dims{s.batch, s.steps, s.heads * s.v_size}) return false;
  Index at({s.batch, s.heads, s.steps});
  for (int64_t i = 0; i < s.batch * s.heads * s.steps; ++i, at.Next()) {
    const int64_t b = at.at[0], h = at.at[1], step = at.at[2], kv = h / (s.heads / s.kv_heads);
    std::vector<double> sums(static_cast<size_t>(s.v_size));
    double all = std::exp(sink(h));
    for (int64_t t = 0; t < s.total; ++t) {
      const double score = PlainScore(qkv, {b, h, step, t}, scale, cap);
      const double weight = std::exp(score + bias(b, h, step, t));
      all += weight;
      for (int64_t e = 0; e < s.v_size; ++e) {
        sums[static_cast<size_t>(e)] += weight * qkv.V(b, kv, t, e);
      }
    }
    for (int64_t e = 0; e < s.v_size; ++e) {
      const Dims to = {b, step, h * s.v_size + e};
      SetElement(out, Flat(out->dims, to), sums[static_cast<size_t>(e)] / all);
    }
  }
  return true;
}

// Whether a mask of AttentionMask lets a query of this step see key t.
inline bool IsSeen(const HostTensor* mask, int64_t batch, int64_t b, int64_t step, int64_t t) {
  if (mask == nullptr) return true;
  if (mask->dims.size() == 3) return ElementAsInt(*mask, Flat(mask->dims, {b, step, t})) != 0;
  if (mask->dims.size() == 2) return ElementAsInt(*mask, Flat(mask->dims, {b, t})) != 0;
  const bool begins = mask->dims[0] == 2 * batch;
  return t < ElementAsInt(*mask, b) && (!begins || t >= ElementAsInt(*mask, batch + b));
}

// Added to a masked score; without the attribute so low that the key does not count.
inline double FillOf(const RandomCase& sample) {
  return FloatOr(sample, "mask_filter_value", kUnseen);
}

// A tensor's element, with sizes of 1 standing for any.
inline double BiasAt(const HostTensor* bias, const Dims& at) {
  return bias != nullptr ? ElementAsDouble(*bias, Broadcast(*bias, at)) : 0;
}

// Rotates pairs of the first 2 * half elements in a head of `size`: e and its partner, by the angle
// in row `place` of cosines and sines. at(e) is a reference to element e.
template <typename At>
void PlainTurn(const HostTensor& cosines, const HostTensor& sines, int64_t place, bool interleaved,
               At at) {
  const int64_t half = cosines.dims[1];
  for (int64_t i = 0; i < half; ++i) {
    double& a = at(interleaved ? 2 * i : i);
    double& b = at(interleaved ? 2 * i + 1 : half + i);
    const double c = ElementAsDouble(cosines, place * half + i),
                 s = ElementAsDouble(sines, place * half + i), was = a;
    a = was * c - b * s;
    b = was * s + b * c;
  }
}

}  // namespace ge::test
