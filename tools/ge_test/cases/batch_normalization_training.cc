#include "tools/ge_test/random/gradients.h"

namespace ge::test {
namespace {

void BatchNormalizationTrainingCase(CaseMaker& m) {
  const Dims dims = AddChannels(m);
  m.Add(Signal(m, {dims[1]}));
  m.Add(Signal(m, {dims[1]}));
  m.Set("epsilon", 0.125);
  m.c.outputs = 3;
}

bool PlainTraining(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  if (out->dims != x.dims) return false;
  const PlainMoments moments(x);
  const std::vector<double> scale = Doubles(*c.inputs[1].tensor), b = Doubles(*c.inputs[2].tensor);
  for (int64_t i = 0, n = x.count(); i < n; ++i) {
    const auto of = [&](const std::vector<double>& v) { return OfChannel(v, x.dims, i); };
    const double deviation = std::sqrt(of(moments.variance) + FloatOr(c, "epsilon", 1e-5f));
    SetElement(out, i, (ElementAsDouble(x, i) - of(moments.mean)) / deviation * of(scale) + of(b));
  }
  return true;
}
bool PlainTrainingMoments(const RandomCase& c, size_t output, HostTensor* out) {
  const PlainMoments moments(*c.inputs[0].tensor);
  SetElements(output == 1 ? moments.mean : moments.variance, out);
  return true;
}

}  // namespace

GE_RANDOM_OP(batch_normalization_training) = {"ge.BatchNormalizationTraining",
                                              BatchNormalizationTrainingCase,
                                              8e-6,
                                              Error::kOfTerms,
                                              PlainTraining,
                                              PlainTrainingMoments};

}  // namespace ge::test
