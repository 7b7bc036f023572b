#include "tools/ge_test/random/microsoft.h"
#include "tools/ge_test/random/recurrent.h"

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
  const bool plain = m.r.Chance(0.6), states = m.r.Chance(0.4);
  const auto some = [&](bool there, const Dims& dims) {
    AddMaybe(m, there ? m.Numbers(DType::kFloat, dims, -1, 1) : nullptr);
  };
  AddMaybe(m, !plain && m.r.Chance(0.5)
                  ? m.Numbers(DType::kInt32, {batch}, 0, static_cast<double>(steps))
                  : nullptr);
  some(states, {dirs, batch, hidden});
  some(states, {dirs, batch, hidden});
  some(!plain && m.r.Chance(0.5), {dirs, 3 * hidden});
  for (int i = 0; i < 2; ++i) {
    const Dims lines = m.r.Chance(0.5) ? Dims{dirs} : Dims{dirs, 4 * hidden};
    m.Add(m.Numbers(DType::kFloat, lines, 0.002, 0.01));
    m.Add(Codes(m, t, lines));
  }
  m.Set("hidden_size", hidden);
  m.Set("direction", way);
  if (!plain && m.r.Chance(0.4)) m.Set("clip", 0.5);
  if (!plain && m.r.Chance(0.4)) m.Set("input_forget", int64_t{1});
  if (!plain && m.r.Chance(0.5)) SetActivations(m, 3 * static_cast<size_t>(dirs));
  m.c.outputs = static_cast<int>(m.r.Int(1, 3));
  m.c.typed = false;
}

// Through eight bits and back, by the range of all numbers together.
std::vector<double> QuantLstmBytes(const std::vector<double>& v) {
  double lo = 0, hi = 0;
  for (const double d : v) {
    lo = std::min(lo, d);
    hi = std::max(hi, d);
  }
  const double scale = (hi - lo) / 255;
  if (scale == 0) return v;
  const double zero = std::nearbyint(-lo / scale);
  std::vector<double> out;
  for (const double d : v) {
    const double code = std::nearbyint(d / scale) + zero;
    out.push_back((std::clamp(code, 0.0, 255.0) - zero) * scale);
  }
  return out;
}

// Row `row` of a weight of a direction times v, of which a line begins at `from`.
double QuantLstmProduct(const RandomCase& c, size_t weight, size_t scale, int64_t dir, int64_t row,
                        const std::vector<double>& v, int64_t from) {
  const HostTensor& w = *Maybe(c, weight);
  const int64_t rows = w.dims[2];
  const int64_t line = Maybe(c, scale)->dims.size() == 1 ? dir : dir * rows + row;
  double sum = 0;
  for (int64_t k = 0; k < w.dims[1]; ++k) {
    const int64_t at = (dir * w.dims[1] + k) * rows + row;
    sum += v[static_cast<size_t>(from + k)] *
           (ElementAsDouble(w, at) - ElementAsDouble(*Maybe(c, scale + 1), line));
  }
  return sum * ElementAsDouble(*Maybe(c, scale), line);
}

// A weight in floats, its rows those of LSTM.
std::shared_ptr<HostTensor> QuantLstmWeight(const RandomCase& c, size_t weight, size_t scale) {
  const HostTensor& w = *Maybe(c, weight);
  auto t = MakeTensor(DType::kDouble, {w.dims[0], w.dims[2], w.dims[1]});
  if (!t.ok()) return nullptr;
  Index at(t->dims);
  for (int64_t i = 0, n = t->count(); i < n; ++i, at.Next()) {
    const int64_t line =
        Maybe(c, scale)->dims.size() == 1 ? at.at[0] : at.at[0] * w.dims[2] + at.at[1];
    const double code = ElementAsDouble(w, Flat(w.dims, {at.at[0], at.at[2], at.at[1]}));
    SetElement(&*t, i,
               (code - ElementAsDouble(*Maybe(c, scale + 1), line)) *
                   ElementAsDouble(*Maybe(c, scale), line));
  }
  return std::make_shared<HostTensor>(*std::move(t));
}

// What is more than a plain LSTM is computed in floats.
bool IsInFloats(const RandomCase& c) {
  return Maybe(c, 4) != nullptr || Maybe(c, 7) != nullptr || FindAttr(c, "clip") != nullptr ||
         FindAttr(c, "activations") != nullptr || IntOr(c, "input_forget", 0) != 0;
}
bool QuantLstmInFloats(const RandomCase& c, HostTensor* out) {
  RandomCase floats = c;
  floats.inputs.resize(8);
  floats.inputs[1].tensor = QuantLstmWeight(c, 1, 8);
  floats.inputs[2].tensor = QuantLstmWeight(c, 2, 10);
  return PlainLstmOutput(floats, 0, out);
}

// Output 0 alone.
bool PlainQuantLstm(const RandomCase& c, HostTensor* out) {
  if (IsInFloats(c)) return QuantLstmInFloats(c, out);
  const HostTensor &x = *Maybe(c, 0), &r = *Maybe(c, 2);
  const int64_t steps = x.dims[0], batch = x.dims[1], in = x.dims[2], n = r.dims[1];
  if (out->dims != Dims{steps, r.dims[0], batch, n}) return false;
  const bool reverse = std::get<std::string>(FindAttr(c, "direction")->value) == "reverse";
  const auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
  std::vector<double> all;
  for (int64_t i = 0, count = x.count(); i < count; ++i) all.push_back(ElementAsDouble(x, i));
  all = QuantLstmBytes(all);
  for (int64_t dir = 0; dir < r.dims[0]; ++dir) {
    std::vector<double> h, cell;
    for (int64_t i = 0; i < batch * n; ++i) {
      h.push_back(ElementOr(Maybe(c, 5), dir * batch * n + i, 0));
      cell.push_back(ElementOr(Maybe(c, 6), dir * batch * n + i, 0));
    }
    for (int64_t k = 0; k < steps; ++k) {
      const int64_t t = reverse || dir == 1 ? steps - 1 - k : k;
      const std::vector<double> before = QuantLstmBytes(h);
      for (int64_t i = 0; i < batch * n; ++i) {
        const int64_t b = i / n, j = i % n;
        double gate[4];
        for (int64_t g = 0; g < 4; ++g) {
          const int64_t row = g * n + j;
          gate[g] = QuantLstmProduct(c, 1, 8, dir, row, all, (t * batch + b) * in) +
                    QuantLstmProduct(c, 2, 10, dir, row, before, b * n) +
                    ElementOr(Maybe(c, 3), dir * 8 * n + row, 0) +
                    ElementOr(Maybe(c, 3), dir * 8 * n + 4 * n + row, 0);
        }
        double& s = cell[static_cast<size_t>(i)];
        s = sigmoid(gate[2]) * s + sigmoid(gate[0]) * std::tanh(gate[3]);
        h[static_cast<size_t>(i)] = sigmoid(gate[1]) * std::tanh(s);
        SetElement(out, (t * r.dims[0] + dir) * batch * n + i, h[static_cast<size_t>(i)]);
      }
    }
  }
  return true;
}

}  // namespace

// The bound lets a number that lies between two codes fall to either: codes reach 255, so that it
// is about one code of the state times a weight.
GE_RANDOM_OP(microsoft_dynamic_quantize_lstm) = {"com.microsoft.DynamicQuantizeLSTM", QuantLstmCase,
                                                 4e-5, Error::kOfTerms, PlainQuantLstm};

}  // namespace ge::test
