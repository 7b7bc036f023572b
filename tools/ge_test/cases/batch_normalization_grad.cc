#include "tools/ge_test/random/gradients.h"

namespace ge::test {
namespace {

void BatchNormalizationGradCase(CaseMaker& m) {
  const Dims dims = AddChannels(m);
  m.Add(Signal(m, dims));
  for (int i = 0; i < 3; ++i) {
    m.Add(i == 2 ? m.Numbers(m.dtype(), {dims[1]}, 0.3, 2) : Signal(m, {dims[1]}));
  }
  m.Set("epsilon", 0.125);
  m.c.outputs = 3;
}

struct PlainSlopes {
  Dims dims;
  std::vector<double> dy, u, scale, deviation, mean_dy, mean_product;
  explicit PlainSlopes(const RandomCase& c) : dims(c.inputs[0].tensor->dims) {
    dy = Doubles(*c.inputs[0].tensor);
    scale = Doubles(*c.inputs[2].tensor);
    const std::vector<double> x = Doubles(*c.inputs[1].tensor), mean = Doubles(*c.inputs[3].tensor);
    for (const double v : Doubles(*c.inputs[4].tensor)) {
      deviation.push_back(std::sqrt(v + FloatOr(c, "epsilon", 1e-5f)));
    }
    for (size_t i = 0; i < x.size(); ++i) {
      const auto at = static_cast<int64_t>(i);
      u.push_back((x[i] - OfChannel(mean, dims, at)) / OfChannel(deviation, dims, at));
    }
    const auto at = [](int64_t i) { return static_cast<size_t>(i); };
    mean_dy = ChannelMeans(dims, [&](int64_t i) { return dy[at(i)]; });
    mean_product = ChannelMeans(dims, [&](int64_t i) { return dy[at(i)] * u[at(i)]; });
  }
};

bool PlainOfX(const RandomCase& c, HostTensor* out) {
  const PlainSlopes p(c);
  if (out->dims != p.dims) return false;
  for (int64_t i = 0, n = out->count(); i < n; ++i) {
    const auto of = [&](const std::vector<double>& v) { return OfChannel(v, p.dims, i); };
    const auto at = static_cast<size_t>(i);
    const double rest = p.dy[at] - of(p.mean_dy) - p.u[at] * of(p.mean_product);
    SetElement(out, i, rest * of(p.scale) / of(p.deviation));
  }
  return true;
}
bool PlainOfScale(const RandomCase& c, size_t output, HostTensor* out) {
  const PlainSlopes p(c);
  std::vector<double> sums = output == 1 ? p.mean_product : p.mean_dy;
  for (double& s : sums) s *= static_cast<double>(ProductOf(p.dims) / p.dims[1]);
  SetElements(sums, out);
  return true;
}

}  // namespace

GE_RANDOM_OP(batch_normalization_grad) = {"ge.BatchNormalizationGrad",
                                          BatchNormalizationGradCase,
                                          2e-5,
                                          Error::kOfTerms,
                                          PlainOfX,
                                          PlainOfScale};

}  // namespace ge::test
