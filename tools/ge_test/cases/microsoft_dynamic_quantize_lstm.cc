#include "tools/ge_test/random_microsoft.h"

namespace ge::test {
namespace {

void QuantLstmCase(CaseMaker& m) {
  const int64_t steps = m.r.Int(1, 4), batch = m.r.Int(1, 3), in = m.r.Int(1, 4),
                hidden = m.r.Int(1, 4);
  const std::string way = m.r.Pick(std::vector<std::string>{"forward", "reverse", "bidirectional"});
  const int64_t dirs = way == "bidirectional" ? 2 : 1;
  const DType t = m.r.Chance(0.5) ? DType::kInt8 : DType::kUint8;
  m.Add(m.Numbers(DType::kFloat, {steps, batch, in}, -1, 1));
  m.Add(Codes(m, t, {dirs, in, 4 * hidden}));
  m.Add(Codes(m, t, {dirs, hidden, 4 * hidden}));
  AddMaybe(m, m.r.Chance(0.6) ? m.Numbers(DType::kFloat, {dirs, 8 * hidden}, -1, 1) : nullptr);
  for (int i = 4; i < 8; ++i) m.AddAbsent();
  for (int i = 0; i < 2; ++i) {
    const Dims lines = m.r.Chance(0.5) ? Dims{dirs} : Dims{dirs, 4 * hidden};
    m.Add(m.Numbers(DType::kFloat, lines, 0.002, 0.01));
    m.Add(Codes(m, t, lines));
  }
  m.Set("hidden_size", hidden);
  m.Set("direction", way);
  m.c.outputs = static_cast<int>(m.r.Int(1, 3));
  m.c.typed = false;
}

// Row `row` of a weight of a direction times v.
double QuantLstmProduct(const RandomCase& c, size_t weight, size_t scale, int64_t dir, int64_t row,
                        const std::vector<double>& v) {
  const HostTensor& w = *Maybe(c, weight);
  const int64_t rows = w.dims[2];
  const int64_t line = Maybe(c, scale)->dims.size() == 1 ? dir : dir * rows + row;
  double sum = 0;
  for (size_t k = 0; k < v.size(); ++k) {
    const int64_t at = (dir * w.dims[1] + static_cast<int64_t>(k)) * rows + row;
    sum += v[k] * (ElementAsDouble(w, at) - ElementAsDouble(*Maybe(c, scale + 1), line));
  }
  return sum * ElementAsDouble(*Maybe(c, scale), line);
}

// Output 0 alone.
bool PlainQuantLstm(const RandomCase& c, HostTensor* out) {
  const HostTensor &x = *Maybe(c, 0), &r = *Maybe(c, 2);
  const int64_t steps = x.dims[0], batch = x.dims[1], in = x.dims[2], n = r.dims[1];
  if (out->dims != Dims{steps, r.dims[0], batch, n}) return false;
  const bool reverse = std::get<std::string>(FindAttr(c, "direction")->value) == "reverse";
  const auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
  for (int64_t i = 0; i < r.dims[0] * batch; ++i) {
    const int64_t dir = i / batch, b = i % batch;
    std::vector<double> h(static_cast<size_t>(n)), cell = h;
    for (int64_t k = 0; k < steps; ++k) {
      const int64_t t = reverse || dir == 1 ? steps - 1 - k : k;
      std::vector<double> now, next = h;
      for (int64_t j = 0; j < in; ++j) now.push_back(ElementAsDouble(x, (t * batch + b) * in + j));
      for (int64_t j = 0; j < n; ++j) {
        double gate[4];
        for (int64_t g = 0; g < 4; ++g) {
          const int64_t row = g * n + j;
          gate[g] = QuantLstmProduct(c, 1, 8, dir, row, now) +
                    QuantLstmProduct(c, 2, 10, dir, row, h) +
                    ElementOr(Maybe(c, 3), dir * 8 * n + row, 0) +
                    ElementOr(Maybe(c, 3), dir * 8 * n + 4 * n + row, 0);
        }
        double& s = cell[static_cast<size_t>(j)];
        s = sigmoid(gate[2]) * s + sigmoid(gate[0]) * std::tanh(gate[3]);
        next[static_cast<size_t>(j)] = sigmoid(gate[1]) * std::tanh(s);
        SetElement(out, ((t * r.dims[0] + dir) * batch + b) * n + j, next[static_cast<size_t>(j)]);
      }
      h = next;
    }
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(microsoft_dynamic_quantize_lstm) = {"com.microsoft.DynamicQuantizeLSTM", QuantLstmCase,
                                                 1e-5, Error::kOfTerms, PlainQuantLstm};

}  // namespace ge::test
