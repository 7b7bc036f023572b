#include "tools/ge_test/oracle/experts.h"

namespace ge::test {
namespace {

constexpr PlainExpertPorts kMoe = {{2, 4, 6}, {3, 5, 7}};

void MoeCase(CaseMaker& m) {
  const int64_t inter = m.Size(6, 70), hidden = m.Size(6, 70);
  const ExpertSizes s = AddTokens(m, inter, hidden);
  const auto add = [&](int64_t rows, int64_t columns, double biased) {
    m.AddWeight(Signal(m, {s.experts, rows, columns}));
    AddMaybe(m, m.r.Chance(biased) ? Signal(m, {s.experts, rows}) : nullptr);
  };
  add(s.wide, hidden, 0.6);
  add(hidden, inter, 0.6);
  if (s.third) add(inter, hidden, 0.6);
}

bool PlainMoe(const RandomCase& c, HostTensor* out) {
  const HostTensor& scores = *c.inputs[1].tensor;
  const int64_t experts = scores.dims[1], inter = c.inputs[4].tensor->dims[2];
  const auto weight = [&](size_t which, int64_t e, int64_t n, int64_t k) {
    const HostTensor& w = *c.inputs[kMoe.weights[which]].tensor;
    return ElementAsDouble(w, Flat(w.dims, {e, n, k}));
  };
  return PlainMixture(
      c, kMoe, inter, out, weight, [&](int64_t t, const std::vector<int64_t>& picks) {
        double all = 0;
        for (int64_t e = 0; e < experts; ++e)
          all += std::exp(ElementAsDouble(scores, t * experts + e));
        std::vector<double> parts;
        for (int64_t e : picks) {
          parts.push_back(std::exp(ElementAsDouble(scores, t * experts + e)) / all);
        }
        return IntOr(c, "normalize_routing_weights", 0) != 0 ? SumOne(parts) : parts;
      });
}

}  // namespace

GE_RANDOM_OP(microsoft_moe) = {"com.microsoft.MoE", MoeCase, 2e-5, Error::kOfInputs, PlainMoe};

}  // namespace ge::test
