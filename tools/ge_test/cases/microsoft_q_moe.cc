#include "tools/ge_test/oracle/experts.h"

namespace ge::test {
namespace {

constexpr PlainExpertPorts kQMoe = {{2, 5, 8}, {4, 7, 10}};
constexpr size_t kQMoeScale[] = {3, 6, 9}, kQMoeZero[] = {11, 12, 13};

int64_t QMoeBits(const RandomCase& c, size_t which) {
  const char* own[] = {"fc1_expert_weight_bits", "fc2_expert_weight_bits",
                       "fc3_expert_weight_bits"};
  return IntOr(c, own[which], IntOr(c, "expert_weight_bits", 4));
}

int64_t QMoeUp(int64_t n, int64_t d) { return (n + d - 1) / d; }

void QMoeCase(CaseMaker& m) {
  const int64_t inter = 4 * m.Size(6, 30), hidden = 4 * m.Size(6, 30);
  const ExpertSizes s = AddTokens(m, inter, hidden);
  const std::vector<int64_t> widths = {4, 8, 2};
  if (m.r.Chance(0.6)) m.Set("expert_weight_bits", m.r.Pick(widths));
  if (m.r.Chance(0.3)) m.Set("fc1_expert_weight_bits", m.r.Pick(widths));
  if (m.r.Chance(0.3)) m.Set("fc2_expert_weight_bits", m.r.Pick(widths));
  if (s.third && m.r.Chance(0.3)) m.Set("fc3_expert_weight_bits", m.r.Pick(widths));
  if (m.r.Chance(0.3)) m.Set("accuracy_level", int64_t{4});
  if (m.r.Chance(0.5)) m.Set("weights_prepacked", m.r.Int(-1, 0));
  const int64_t block = m.r.Chance(0.5) ? 0 : int64_t{16} << m.r.Int(0, 1);
  if (block > 0) m.Set("block_size", block);
  const int64_t rows[] = {s.wide, hidden, inter}, columns[] = {hidden, inter, hidden};
  const size_t used = s.third ? 3 : 2;
  for (size_t i = 0; i < 3; ++i) {
    if (i >= used) {
      for (int k = 0; k < 3; ++k) m.AddAbsent();
      continue;
    }
    m.AddWeight(Codes(m, DType::kUint8, {s.experts, rows[i], columns[i] * QMoeBits(m.c, i) / 8}));
    Dims scales = {s.experts, rows[i]};
    if (block > 0) scales.push_back(QMoeUp(columns[i], block));
    const double most = QMoeBits(m.c, i) == 8 ? 0.01 : 0.1;
    m.AddWeight(m.Numbers(m.dtype(), scales, most / 10, most));
    AddMaybe(m, m.r.Chance(0.6) ? Signal(m, {s.experts, rows[i]}) : nullptr);
  }
  for (size_t i = 0; i < 3; ++i) {
    if (i >= used || m.r.Chance(0.5)) {
      m.AddAbsent();
      continue;
    }
    const int64_t bits = QMoeBits(m.c, i);
    m.AddWeight(Codes(m, DType::kUint8,
                      block > 0
                          ? Dims{s.experts, rows[i], QMoeUp(QMoeUp(columns[i], block) * bits, 8)}
                          : Dims{s.experts, QMoeUp(rows[i] * bits, 8)}));
  }
  if (m.r.Chance(0.4)) m.Add(m.Numbers(m.dtype(), {s.tokens, s.experts}, 0.1, 1));
}

// Code i of a line of so many bytes.
double QMoeCode(const HostTensor& t, int64_t line, int64_t i, int64_t bits) {
  const int64_t byte = ElementAsInt(t, line * t.dims.back() + i * bits / 8);
  return static_cast<double>(byte >> (i * bits % 8) & ((1 << bits) - 1));
}

double QMoeNumber(const RandomCase& c, size_t which, const Dims& at) {
  const int64_t bits = QMoeBits(c, which), block = IntOr(c, "block_size", 0), e = at[0], n = at[1],
                k = at[2];
  const HostTensor &w = *c.inputs[kQMoe.weights[which]].tensor,
                   &scales = *c.inputs[kQMoeScale[which]].tensor;
  const HostTensor* zeros = Maybe(c, kQMoeZero[which]);
  const int64_t line = e * w.dims[1] + n;
  double zero = static_cast<double>(int64_t{1} << (bits - 1));
  if (zeros != nullptr) {
    zero = block > 0 ? QMoeCode(*zeros, line, k / block, bits) : QMoeCode(*zeros, e, n, bits);
  }
  const int64_t blocks = block > 0 ? scales.dims[2] : 1;
  const double scale = ElementAsDouble(scales, line * blocks + (block > 0 ? k / block : 0));
  return (QMoeCode(w, line, k, bits) - zero) * scale;
}

bool PlainQMoe(const RandomCase& c, HostTensor* out) {
  const HostTensor& scores = *c.inputs[1].tensor;
  const HostTensor* weights = Maybe(c, 14);
  const int64_t inter = c.inputs[5].tensor->dims[2] * 8 / QMoeBits(c, 1);
  const auto weight = [&](size_t which, int64_t e, int64_t n, int64_t k) {
    return QMoeNumber(c, which, {e, n, k});
  };
  return PlainMixture(
      c, kQMoe, inter, out, weight, [&](int64_t t, const std::vector<int64_t>& picks) {
        std::vector<double> parts;
        for (int64_t e : picks) {
          const Dims at = {t, e};
          parts.push_back(weights != nullptr
                              ? ElementAsDouble(*weights, Flat(weights->dims, at))
                              : std::exp(ElementAsDouble(scores, Flat(scores.dims, at))));
        }
        const bool raw = weights != nullptr && IntOr(c, "normalize_routing_weights", 0) == 0;
        return raw ? parts : SumOne(parts);
      });
}

}  // namespace

GE_RANDOM_OP(microsoft_q_moe) = {"com.microsoft.QMoE", QMoeCase, 2e-5, Error::kOfInputs, PlainQMoe};

}  // namespace ge::test
