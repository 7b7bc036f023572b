#include "tools/ge_test/random/gradients.h"

namespace ge::test {
namespace {

void ReluGradCase(CaseMaker& m) {
  const Dims dims = m.Shape(0, 4);
  m.Add(Signal(m, dims));
  m.Add(m.Numbers(m.dtype(), dims, -1, 1));
}

bool PlainReluGrad(const RandomCase& c, HostTensor* out) {
  const HostTensor &dy = *c.inputs[0].tensor, &y = *c.inputs[1].tensor;
  if (out->dims != dy.dims) return false;
  for (int64_t i = 0, n = dy.count(); i < n; ++i) {
    SetElement(out, i, ElementAsDouble(y, i) > 0 ? ElementAsDouble(dy, i) : 0);
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(relu_grad) = {"ge.ReluGrad", ReluGradCase, 0, Error::kOfElement, PlainReluGrad};

}  // namespace ge::test
