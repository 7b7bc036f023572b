#include "tools/ge_test/random/gradients.h"

namespace ge::test {
namespace {

void ConvGradInputCase(CaseMaker& m) {
  const ConvDims d = MakeConvDims(m);
  if (m.large) m.c.terms = d.w[0] / IntOr(m.c, "group", 1) * ProductOf(SpatialOf(d.w));
  m.Add(Signal(m, d.y));
  m.Add(Signal(m, d.w));
  m.AddConstant(ShapeTensor(m, d.x));
}

bool PlainConvGradInput(const RandomCase& c, HostTensor* out) {
  const HostTensor &y = *c.inputs[0].tensor, &w = *c.inputs[1].tensor;
  const std::vector<double> ys = Doubles(y), ws = Doubles(w);
  std::vector<double> sums(static_cast<size_t>(out->count()));
  ForProducts(c, {out->dims, w.dims, y.dims}, [&](int64_t xi, int64_t wi, int64_t yi) {
    sums[static_cast<size_t>(xi)] += ys[static_cast<size_t>(yi)] * ws[static_cast<size_t>(wi)];
  });
  SetElements(sums, out);
  return true;
}

}  // namespace

GE_RANDOM_OP(conv_grad_input) = {"ge.ConvGradInput", ConvGradInputCase, 4e-6, Error::kOfSums,
                                 PlainConvGradInput};

}  // namespace ge::test
