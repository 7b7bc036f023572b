#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/layers.h"

namespace ge::test {
namespace {

void BatchNormalizationCase(CaseMaker& m) {
  const int64_t channels = m.Size(5, 12);
  const bool training = m.r.Chance(0.2);
  const Dims size = m.Shape(0, 3, !training);
  m.Add(Signal(m, Cat({m.r.Int(1, 3), channels}, size)));
  const bool constant = m.r.Chance(0.6);  // as in a trained model
  for (int i = 0; i < 4; ++i) {
    m.Add(i == 3 ? m.Numbers(m.dtype(), {channels}, 0.3, 2) : Signal(m, {channels}));
    if (constant) m.c.inputs.back().constant = true;
  }
  // Small variances make the figures large.
  if (training || m.r.Chance(0.5)) m.Set("epsilon", 0.125);
  if (m.r.Chance(training ? 0.6 : 0.1)) m.Set("momentum", 0.75);
  if (!training) return;
  m.Set("training_mode", int64_t{1});
  m.c.outputs = 3;  // fewer are refused by ONNX's shape inference
}

struct BatchMeans {
  double mean = 0, variance = 0;
};
// Of all elements of channel k.
BatchMeans BatchMeansOf(const HostTensor& x, int64_t area, int64_t k) {
  double sum = 0, squares = 0, n = 0;
  for (int64_t i = 0, all = x.count(); i < all; ++i) {
    if (i / area % x.dims[1] != k) continue;
    const double v = ElementAsDouble(x, i);
    sum += v;
    squares += v * v;
    ++n;
  }
  return {sum / n, squares / n - sum / n * (sum / n)};
}

// 1 is the running mean, 2 the running variance.
bool PlainRunning(const RandomCase& c, size_t output, HostTensor* out) {
  const HostTensor &x = *c.inputs[0].tensor, &before = *c.inputs[output + 2].tensor;
  const double keep = FloatOr(c, "momentum", 0.9f);
  if (out->dims != before.dims) return false;
  int64_t area = 1;
  for (size_t d = 2; d < x.dims.size(); ++d) area *= x.dims[d];
  for (int64_t k = 0; k < out->count(); ++k) {
    const BatchMeans now = BatchMeansOf(x, area, k);
    SetElement(
        out, k,
        ElementAsDouble(before, k) * keep + (output == 1 ? now.mean : now.variance) * (1 - keep));
  }
  return true;
}

bool PlainBatchNormalization(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  if (x.dims != out->dims) return false;
  const bool training = IntOr(c, "training_mode", 0) != 0;
  int64_t area = 1;
  for (size_t d = 2; d < x.dims.size(); ++d) area *= x.dims[d];
  for (int64_t i = 0, n = x.count(); i < n; ++i) {
    const int64_t k = i / area % x.dims[1];
    const auto of = [&](size_t input) { return ElementAsDouble(*c.inputs[input].tensor, k); };
    const BatchMeans by = training ? BatchMeansOf(x, area, k) : BatchMeans{of(3), of(4)};
    const double deviation = std::sqrt(by.variance + FloatOr(c, "epsilon", 1e-5f));
    SetElement(out, i, (ElementAsDouble(x, i) - by.mean) / deviation * of(1) + of(2));
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(batch_normalization) = {"BatchNormalization", BatchNormalizationCase,  8e-6,
                                     Error::kOfInputs,     PlainBatchNormalization, PlainRunning};

}  // namespace ge::test
