#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/shapes.h"

namespace ge::test {
namespace {

void EyeLikeCase(CaseMaker& m) {
  m.Add(Anything(m, m.Shape(2, 2)));
  if (m.r.Chance(0.5)) {
    static const std::vector<DType> kTypes = {DType::kFloat,    DType::kDouble, DType::kFloat16,
                                              DType::kBfloat16, DType::kInt64,  DType::kUint8,
                                              DType::kBool};
    m.Set("dtype", static_cast<int64_t>(m.r.Pick(kTypes)));
  }
  if (m.r.Chance(0.6)) m.Set("k", m.r.Int(-6, 6));
}

bool PlainEyeLike(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  if (x.dims != out->dims) return false;
  const auto wanted = static_cast<DType>(IntOr(c, "dtype", static_cast<int64_t>(x.dtype)));
  if (wanted != out->dtype) return false;
  Index at(out->dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    const bool one = at.at[1] == at.at[0] + IntOr(c, "k", 0);
    if (IsFloat(out->dtype)) {
      SetElement(out, i, one);
    } else {
      SetIntElement(out, i, one);
    }
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(eye_like) = {"EyeLike", EyeLikeCase, 0, Error::kOfElement, PlainEyeLike};

}  // namespace ge::test
