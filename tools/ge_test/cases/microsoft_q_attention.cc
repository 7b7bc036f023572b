#include "tools/ge_test/oracle/attention.h"
#include "tools/ge_test/random/microsoft.h"

namespace ge::test {
namespace {

void QAttentionCase(CaseMaker& m) {
  const int64_t heads = m.Size(2, 12), size = m.Size(3, 32), batch = m.r.Int(1, 2),
                steps = m.Size(4, 40), in = m.Size(5, 384), columns = 3 * heads * size,
                past = m.r.Chance(0.3) ? m.r.Int(1, 3) : 0;
  const DType t = m.r.Chance(0.5) ? DType::kInt8 : DType::kUint8;
  const Dims lines = m.r.Chance(0.4) ? Dims{columns} : Dims{};
  const bool zeros = m.r.Chance(0.7);
  m.Add(Codes(m, m.dtype(), {batch, steps, in}));
  m.Add(Codes(m, t, {in, columns}));
  m.Add(m.Numbers(DType::kFloat, {columns}, -1, 1));
  m.Add(m.Numbers(DType::kFloat, {}, 0.005, 0.01));
  // Weights of a large case are small: scores of some thousand would blow up each rounding.
  const double scale = m.large ? 0.1 / static_cast<double>(in) : 0.01;
  m.Add(m.Numbers(DType::kFloat, lines, scale / 2, scale));
  const bool masked = m.r.Chance(0.5);
  AddMaybe(m, masked ? m.Numbers(DType::kInt32, {batch}, 1, static_cast<double>(past + steps))
                     : nullptr);
  AddMaybe(m, zeros ? Codes(m, m.dtype(), {}) : nullptr);
  AddMaybe(m, zeros ? Codes(m, t, lines) : nullptr);
  AddMaybe(m, past > 0 ? m.Numbers(DType::kFloat, {2, batch, heads, past, size}, -1, 1) : nullptr);
  if (past > 0) m.c.outputs = 2;
  // Engines want what they lay out beforehand to be constant, and zero points with it.
  const bool constant = m.r.Chance(0.5);
  for (size_t i = 1; constant && i < 8; ++i) m.c.inputs[i].constant = i != 5;
  m.Set("num_heads", heads);
  if (m.r.Chance(0.4)) m.Set("unidirectional", int64_t{1});
  if (m.r.Chance(0.4)) m.Set("scale", m.r.Between(1, 4));
  if (masked && m.r.Chance(0.4)) m.Set("mask_filter_value", -1.5);
  m.c.typed = false;
}

// Element `col` of the projection of token t.
double QAttentionProjected(const RandomCase& c, int64_t t, int64_t col) {
  const HostTensor &x = *Maybe(c, 0), &w = *Maybe(c, 1);
  double sum = 0;
  for (int64_t k = 0; k < w.dims[0]; ++k) {
    sum += (ElementAsDouble(x, t * w.dims[0] + k) - ElementOr(Maybe(c, 6), 0, 0)) *
           (ElementAsDouble(w, k * w.dims[1] + col) - ElementOr(Maybe(c, 7), col, 0));
  }
  const double scale = ElementAsDouble(*Maybe(c, 3), 0) * ElementOr(Maybe(c, 4), col, 1);
  return sum * scale + ElementAsDouble(*Maybe(c, 2), col);
}

bool PlainQAttention(const RandomCase& c, HostTensor* out) {
  const HostTensor &x = *Maybe(c, 0), *past = Maybe(c, 8);
  const int64_t steps = x.dims[1], hidden = Maybe(c, 1)->dims[1] / 3,
                size = hidden / IntOr(c, "num_heads", 1);
  if (out->dims != Dims{x.dims[0], steps, hidden}) return false;
  Index at(out->dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    const int64_t first = at.at[0] * steps, head = at.at[2] / size * size;
    // As in ONNX Runtime: a single query is the latest, and sees every key.
    const bool causal = IntOr(c, "unidirectional", 0) != 0 && steps > 1;
    const int64_t before = past != nullptr ? past->dims[3] : 0;
    const int64_t keys = before + (causal ? at.at[1] + 1 : steps);
    const int64_t seen = Maybe(c, 5) != nullptr ? ElementAsInt(*Maybe(c, 5), at.at[0]) : keys;
    const auto element = [&](int64_t part, int64_t k, int64_t j) {
      if (k >= before) return QAttentionProjected(c, first + k - before, part * hidden + j);
      return ElementAsDouble(*past, Flat(past->dims, {part - 1, at.at[0], j / size, k, j % size}));
    };
    double total = 0, sum = 0;
    for (int64_t k = 0; k < keys; ++k) {
      double score = 0;
      for (int64_t j = head; j < head + size; ++j) {
        score += QAttentionProjected(c, first + at.at[1], j) * element(1, k, j);
      }
      score *= FloatOr(c, "scale", 1 / std::sqrt(static_cast<double>(size)));
      const double share = std::exp(k < seen ? score : score + FillOf(c));
      total += share;
      sum += share * element(2, k, at.at[2]);
    }
    SetElement(out, i, sum / total);
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(microsoft_q_attention) = {"com.microsoft.QAttention", QAttentionCase, 4e-5,
                                       Error::kOfInputs, PlainQAttention};

}  // namespace ge::test
