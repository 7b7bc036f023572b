#include "tools/ge_test/random_microsoft.h"

namespace ge::test {
namespace {

// Without a past: that is common with Attention, whose cases have it.
void QAttentionCase(CaseMaker& m) {
  const int64_t heads = m.Size(2, 12), size = m.Size(3, 32), batch = m.r.Int(1, 2),
                steps = m.Size(4, 40), in = m.Size(5, 384), columns = 3 * heads * size;
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
  AddMaybe(m, m.r.Chance(0.5) ? m.Numbers(DType::kInt32, {batch}, 1, static_cast<double>(steps))
                              : nullptr);
  AddMaybe(m, zeros ? Codes(m, m.dtype(), {}) : nullptr);
  AddMaybe(m, zeros ? Codes(m, t, lines) : nullptr);
  m.Set("num_heads", heads);
  if (m.r.Chance(0.4)) m.Set("unidirectional", int64_t{1});
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
  const HostTensor& x = *Maybe(c, 0);
  const int64_t steps = x.dims[1], hidden = Maybe(c, 1)->dims[1] / 3,
                size = hidden / IntOr(c, "num_heads", 1);
  if (out->dims != Dims{x.dims[0], steps, hidden}) return false;
  Index at(out->dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    const int64_t first = at.at[0] * steps, head = at.at[2] / size * size;
    int64_t keys = IntOr(c, "unidirectional", 0) != 0 ? at.at[1] + 1 : steps;
    if (Maybe(c, 5) != nullptr) keys = std::min(keys, ElementAsInt(*Maybe(c, 5), at.at[0]));
    double total = 0, sum = 0;
    for (int64_t k = 0; k < keys; ++k) {
      double score = 0;
      for (int64_t j = head; j < head + size; ++j) {
        score += QAttentionProjected(c, first + at.at[1], j) *
                 QAttentionProjected(c, first + k, hidden + j);
      }
      const double share = std::exp(score / std::sqrt(static_cast<double>(size)));
      total += share;
      sum += share * QAttentionProjected(c, first + k, 2 * hidden + at.at[2]);
    }
    SetElement(out, i, sum / total);
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(microsoft_q_attention) = {"com.microsoft.QAttention", QAttentionCase, 4e-5,
                                       Error::kOfInputs, PlainQAttention};

}  // namespace ge::test
