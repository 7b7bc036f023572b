#include "tools/ge_test/random/gradients.h"

namespace ge::test {
namespace {

void ConvGradWeightCase(CaseMaker& m) {
  const ConvDims d = MakeConvDims(m);
  if (m.large) m.c.terms = d.y[0] * ProductOf(SpatialOf(d.y));
  m.Add(Signal(m, d.x));
  m.Add(Signal(m, d.y));
  m.AddConstant(ShapeTensor(m, d.w));
}

bool PlainConvGradWeight(const RandomCase& c, HostTensor* out) {
  const HostTensor &x = *c.inputs[0].tensor, &y = *c.inputs[1].tensor;
  const std::vector<double> xs = Doubles(x), ys = Doubles(y);
  std::vector<double> sums(static_cast<size_t>(out->count()));
  ForProducts(c, {x.dims, out->dims, y.dims}, [&](int64_t xi, int64_t wi, int64_t yi) {
    sums[static_cast<size_t>(wi)] += xs[static_cast<size_t>(xi)] * ys[static_cast<size_t>(yi)];
  });
  SetElements(sums, out);
  return true;
}

}  // namespace

GE_RANDOM_OP(conv_grad_weight) = {"ge.ConvGradWeight", ConvGradWeightCase, 4e-6, Error::kOfSums,
                                  PlainConvGradWeight};

}  // namespace ge::test
