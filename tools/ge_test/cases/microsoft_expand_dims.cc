#include "tools/ge_test/random/microsoft.h"

namespace ge::test {
namespace {

void ExpandDimsCase(CaseMaker& m) {
  const Dims dims = m.Shape(0, 4);
  const auto rank = static_cast<int64_t>(dims.size());
  m.Add(Signal(m, dims));
  m.AddConstant(m.Ints(DType::kInt32, {}, {m.r.Int(-rank - 1, rank)}));
}

bool PlainExpandDims(const RandomCase& c, HostTensor* out) {
  Dims wanted = c.inputs[0].tensor->dims;
  int64_t axis = ElementAsInt(*c.inputs[1].tensor, 0);
  axis += axis < 0 ? static_cast<int64_t>(wanted.size()) + 1 : 0;
  wanted.insert(wanted.begin() + axis, 1);
  return out->dims == wanted && InOrder(c, out);
}

}  // namespace

GE_RANDOM_OP(microsoft_expand_dims) = {"com.microsoft.ExpandDims", ExpandDimsCase, 0,
                                       Error::kOfElement, PlainExpandDims};

}  // namespace ge::test
