#include "tools/ge_test/random/microsoft.h"

namespace ge::test {
namespace {

void BiasAddCase(CaseMaker& m) {
  const Dims dims = m.Shape(3, 3);
  m.Add(Signal(m, dims));
  m.Add(Signal(m, {dims[2]}));
  m.Add(Signal(m, dims));
}

bool PlainBiasAdd(const RandomCase& c, HostTensor* out) {
  const HostTensor &x = *c.inputs[0].tensor, &bias = *c.inputs[1].tensor,
                   &skip = *c.inputs[2].tensor;
  if (out->dims != x.dims) return false;
  for (int64_t i = 0, n = out->count(); i < n; ++i) {
    const double b = ElementAsDouble(bias, i % x.dims[2]);
    SetElement(out, i, ElementAsDouble(x, i) + b + ElementAsDouble(skip, i));
  }
  return true;
}

}  // namespace

// A sum of two is rounded, by 6e-8 of itself at most, before the third may cancel most of it.
GE_RANDOM_OP(microsoft_bias_add) = {"com.microsoft.BiasAdd", BiasAddCase, 2e-7, Error::kOfSums,
                                    PlainBiasAdd};

}  // namespace ge::test
