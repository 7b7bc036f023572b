#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/microsoft.h"

namespace ge::test {
namespace {

void SkipLayerNormalizationCase(CaseMaker& m) {
  const Dims dims = {m.r.Int(1, 3), m.Size(4, 40), m.Size(9, 800)};
  const Dims last = {dims[2]};
  m.Add(Signal(m, dims));
  m.Add(Signal(m, m.r.Pick(std::vector<Dims>{dims, {1, dims[1], dims[2]}, {dims[1], dims[2]}})));
  m.Add(Signal(m, last));
  AddMaybe(m, m.r.Chance(0.7) ? Signal(m, last) : nullptr);
  if (m.r.Chance(0.5)) m.Add(Signal(m, last));
  // Small variances make the figures large, and their differences with them.
  m.Set("epsilon", 0.125);
  m.c.outputs = m.r.Chance(0.4) ? 4 : 1;
}

// Outputs: the normalized sum, the means, the inverse deviations, the sum.
bool PlainSkipOutput(const RandomCase& c, size_t output, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  const int64_t last = x.dims[2], rows = x.dims[0] * x.dims[1];
  const bool whole = output == 0 || output == 3;
  if (out->dims != Dims{x.dims[0], x.dims[1], whole ? last : 1}) return false;
  const auto vector = [&](size_t i, int64_t k, double absent) {
    const HostTensor* t = Maybe(c, i);
    return t != nullptr ? ElementAsDouble(*t, k) : absent;
  };
  for (int64_t row = 0; row < rows; ++row) {
    std::vector<double> v(static_cast<size_t>(last));
    double mean = 0, variance = 0;
    for (int64_t k = 0; k < last; ++k) {
      const Dims at = {row / x.dims[1], row % x.dims[1], k};
      double& sum = v[static_cast<size_t>(k)];
      sum = ElementAsDouble(x, row * last + k) + vector(4, k, 0);
      sum += ElementAsDouble(*c.inputs[1].tensor, Broadcast(*c.inputs[1].tensor, at));
      mean += sum / static_cast<double>(last);
    }
    for (const double e : v) variance += (e - mean) * (e - mean) / static_cast<double>(last);
    const double inverse = 1 / std::sqrt(variance + FloatOr(c, "epsilon", 0));
    if (!whole) SetElement(out, row, output == 1 ? mean : inverse);
    for (int64_t k = 0; whole && k < last; ++k) {
      const double sum = v[static_cast<size_t>(k)];
      const double normal = (sum - mean) * inverse * vector(2, k, 1) + vector(3, k, 0);
      SetElement(out, row * last + k, output == 0 ? normal : sum);
    }
  }
  return true;
}
bool PlainSkip(const RandomCase& c, HostTensor* out) { return PlainSkipOutput(c, 0, out); }

}  // namespace

GE_RANDOM_OP(microsoft_skip_layer_normalization) = {"com.microsoft.SkipLayerNormalization",
                                                    SkipLayerNormalizationCase,
                                                    8e-6,
                                                    Error::kOfInputs,
                                                    PlainSkip,
                                                    PlainSkipOutput};

}  // namespace ge::test
