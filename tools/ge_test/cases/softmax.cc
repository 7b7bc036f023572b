#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random_case.h"

namespace ge::test {
namespace {

void SoftmaxCase(CaseMaker& m) {
  const Dims dims = m.Shape(1, 4);
  const auto rank = static_cast<int64_t>(dims.size());
  m.Add(m.Numbers(m.dtype(), dims, -5, 5));
  if (m.r.Chance(0.8)) m.Set("axis", m.Axis(m.r.Int(0, rank - 1), rank));
}

bool PlainSoftmax(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  if (x.dims != out->dims) return false;
  const auto rank = static_cast<int64_t>(x.dims.size());
  const int64_t given = IntOr(c, "axis", -1);
  const auto axis = static_cast<size_t>(given < 0 ? given + rank : given);
  Index at(x.dims);
  for (int64_t i = 0, n = x.count(); i < n; ++i, at.Next()) {
    double sum = 0;
    Dims other = at.at;
    for (other[axis] = 0; other[axis] < x.dims[axis]; ++other[axis]) {
      sum += std::exp(ElementAsDouble(x, Flat(x.dims, other)));
    }
    SetElement(out, i, std::exp(ElementAsDouble(x, i)) / sum);
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(softmax) = {"Softmax", SoftmaxCase, 4e-6, Error::kOfInputs, PlainSoftmax};

}  // namespace ge::test
