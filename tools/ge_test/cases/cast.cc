#include "tools/ge_test/random/casts.h"

namespace ge::test {
namespace {

void CastCase(CaseMaker& m) {
  static const std::vector<DType> kNarrow = [] {
    std::vector<DType> all = NarrowTypes();
    all.insert(all.end(), {DType::kFloat6e2m3, DType::kFloat6e3m2});
    return all;
  }();
  m.Set("to", static_cast<int64_t>(AddCastInput(m, kNarrow)));
}

bool PlainCast(const RandomCase& c, HostTensor* out) {
  if (out->dtype != static_cast<DType>(IntOr(c, "to", 0))) return false;
  return PlainCastTo(c, out);
}

}  // namespace

GE_RANDOM_OP(cast) = {"Cast", CastCase, 0, Error::kOfElement, PlainCast};

}  // namespace ge::test
