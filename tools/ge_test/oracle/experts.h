// Independent answers of com.microsoft's mixtures of experts: token by token, expert by expert.
#pragma once

#include <algorithm>
#include <numeric>

#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/microsoft.h"

namespace ge::test {

// Numbers of the inputs: weights and biases of the first product, the second and the gate's.
struct PlainExpertPorts {
  size_t weights[3], biases[3];
};

// ---- random cases ------------------------------------------------------------------------------

struct ExpertSizes {
  int64_t tokens, experts, hidden, inter;
  bool third = false;  // fc3 is there
  int64_t wide = 0;    // rows of the first weight
};

// The tokens, the router's scores, and all attributes but those of weights. Scores of a row are
// apart, so that rounding them changes no pick.
inline ExpertSizes AddTokens(CaseMaker& m, int64_t inter, int64_t hidden) {
  ExpertSizes s{m.r.Int(1, 6), m.r.Int(1, 6), hidden, inter};
  const bool flat = m.r.Chance(0.5);
  m.Add(Signal(m, flat ? Dims{s.tokens, hidden} : Dims{1, s.tokens, hidden}));
  std::vector<double> scores;
  for (int64_t t = 0; t < s.tokens; ++t) {
    const auto begin = static_cast<ptrdiff_t>(scores.size());
    for (int64_t e = 0; e < s.experts; ++e) scores.push_back(0.25 * static_cast<double>(e));
    for (int64_t e = s.experts; e-- > 1;) {
      std::swap(scores[static_cast<size_t>(begin + e)],
                scores[static_cast<size_t>(begin + m.r.Int(0, e))]);
    }
  }
  m.Add(m.Floats(m.dtype(), {s.tokens, s.experts}, scores));
  const std::string kind = m.r.Pick(std::vector<std::string>{
      "relu", "gelu", "silu", "identity", "relu2", "geglu", "swiglu", "swiglu", "swiglu"});
  const bool gated = kind == "swiglu" || kind == "geglu";
  const int64_t fusion = kind == "geglu" ? m.r.Int(1, 2) : gated ? m.r.Int(0, 2) : 0;
  s.third = fusion == 0 && (gated || m.r.Chance(0.3));
  s.wide = fusion != 0 ? 2 * inter : inter;
  if (kind != "relu" || m.r.Chance(0.5)) m.Set("activation_type", kind);
  if (fusion != 0) m.Set("swiglu_fusion", fusion);
  if (gated && m.r.Chance(0.4)) m.Set("activation_alpha", m.r.Between(0.5, 2));
  if (gated && m.r.Chance(0.4)) m.Set("activation_beta", m.r.Between(-1, 1));
  if (gated && m.r.Chance(0.4)) m.Set("swiglu_limit", m.r.Between(0.1, 0.6));
  if (kind == "swiglu" && m.r.Chance(0.4)) m.Set("swiglu_limit_after_activation", m.r.Int(0, 1));
  if (s.experts > 1 || m.r.Chance(0.5)) m.Set("k", m.r.Int(1, std::min<int64_t>(3, s.experts)));
  if (m.r.Chance(0.5)) m.Set("normalize_routing_weights", m.r.Int(0, 1));
  return s;
}

// ---- answers -----------------------------------------------------------------------------------

inline double PlainExpertCurve(const std::string& kind, double x) {
  if (kind == "relu") return std::max(x, 0.0);
  if (kind == "relu2") return x > 0 ? x * x : 0;
  if (kind == "silu") return x / (1 + std::exp(-x));
  return kind == "identity" ? x : x * TanhShare(x);
}

// gate and value as the activation takes them; without a gate `value` is a factor, or 1.
inline double PlainGated(const RandomCase& c, double gate, double value) {
  const std::string kind = TextOr(c, "activation_type", "relu");
  if (kind == "geglu") return PlainExpertCurve("gelu", gate) * value;
  if (kind != "swiglu") return PlainExpertCurve(kind, gate) * value;
  const double limit = FloatOr(c, "swiglu_limit", HUGE_VAL);
  const bool after = IntOr(c, "swiglu_limit_after_activation", 0) != 0;
  if (!after) gate = std::min(gate, limit);
  value = std::clamp(value, -limit, limit) + FloatOr(c, "activation_beta", 0);
  gate /= 1 + std::exp(-FloatOr(c, "activation_alpha", 1) * gate);
  return (after ? std::min(gate, limit) : gate) * value;
}

// The experts of a token, best first; of equal ones the last.
inline std::vector<int64_t> PlainPicks(const HostTensor& scores, int64_t token, int64_t k) {
  const int64_t experts = scores.dims[1];
  std::vector<int64_t> order(static_cast<size_t>(experts));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::reverse(order.begin(), order.end());
  const auto score = [&](int64_t e) { return ElementAsDouble(scores, token * experts + e); };
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return score(a) > score(b); });
  order.resize(static_cast<size_t>(k));
  return order;
}

// One token through one expert. weight(which, row, column) is of that expert.
template <typename Weight>
std::vector<double> PlainExpert(const RandomCase& c, const PlainExpertPorts& ports, int64_t expert,
                                const std::vector<double>& x, int64_t inter, Weight weight) {
  const auto product = [&](size_t which, const std::vector<double>& from, int64_t rows) {
    const HostTensor* bias = Maybe(c, ports.biases[which]);
    std::vector<double> y;
    for (int64_t n = 0; n < rows; ++n) {
      double sum = bias != nullptr ? ElementAsDouble(*bias, expert * rows + n) : 0;
      for (size_t k = 0; k < from.size(); ++k) {
        sum += weight(which, n, static_cast<int64_t>(k)) * from[k];
      }
      y.push_back(sum);
    }
    return y;
  };
  const int64_t fusion = IntOr(c, "swiglu_fusion", 0);
  const std::vector<double> first = product(0, x, fusion != 0 ? 2 * inter : inter);
  const std::vector<double> third = Maybe(c, ports.weights[2]) != nullptr
                                        ? product(2, x, inter)
                                        : std::vector<double>(static_cast<size_t>(inter), 1.0);
  std::vector<double> h;
  for (size_t i = 0, n = static_cast<size_t>(inter); i < n; ++i) {
    if (fusion == 0) {
      h.push_back(PlainGated(c, first[i], third[i]));
    } else {
      h.push_back(fusion == 1 ? PlainGated(c, first[2 * i], first[2 * i + 1])
                              : PlainGated(c, first[i], first[n + i]));
    }
  }
  return product(1, h, static_cast<int64_t>(x.size()));
}

// weight(which, expert, row, column); shares(token, picks) of the picked experts.
template <typename Weight, typename Shares>
bool PlainMixture(const RandomCase& c, const PlainExpertPorts& ports, int64_t inter,
                  HostTensor* out, Weight weight, Shares shares) {
  const HostTensor &input = *c.inputs[0].tensor, &scores = *c.inputs[1].tensor;
  if (out->dims != input.dims) return false;
  const int64_t hidden = input.dims.back();
  for (int64_t t = 0; t < scores.dims[0]; ++t) {
    std::vector<double> x, sums(static_cast<size_t>(hidden));
    for (int64_t i = 0; i < hidden; ++i) x.push_back(ElementAsDouble(input, t * hidden + i));
    const std::vector<int64_t> picks = PlainPicks(scores, t, IntOr(c, "k", 1));
    const std::vector<double> parts = shares(t, picks);
    for (size_t p = 0; p < picks.size(); ++p) {
      const std::vector<double> y = PlainExpert(
          c, ports, picks[p], x, inter,
          [&](size_t which, int64_t n, int64_t k) { return weight(which, picks[p], n, k); });
      for (size_t i = 0; i < y.size(); ++i) sums[i] += parts[p] * y[i];
    }
    for (int64_t i = 0; i < hidden; ++i) {
      SetElement(out, t * hidden + i, sums[static_cast<size_t>(i)]);
    }
  }
  return true;
}

inline std::vector<double> SumOne(std::vector<double> parts) {
  const double all = std::accumulate(parts.begin(), parts.end(), 0.0);
  for (double& p : parts) p /= all;
  return parts;
}

}  // namespace ge::test
