#include "tools/ge_test/random_elementwise.h"

namespace ge::test {
namespace {

void CastCase(CaseMaker& m) {
  static const std::vector<DType> kTo = {
      DType::kFloat, DType::kDouble, DType::kFloat16, DType::kBfloat16, DType::kInt8, DType::kInt16,
      DType::kInt32, DType::kInt64,  DType::kUint8,   DType::kUint32,   DType::kBool};
  const DType to = m.r.Pick(kTo);
  // A negative float has no unsigned value.
  const bool unsigned_to = (Bit(to) & kUnsignedInts) != 0;
  m.Add(m.Numbers(m.dtype(), m.Shape(0, 4), unsigned_to ? 0 : Least(m) * 5, Greatest(m) * 5));
  m.Set("to", static_cast<int64_t>(to));
}

}  // namespace

GE_RANDOM_OP(cast) = {"Cast", CastCase, 0, Error::kOfOutput};

}  // namespace ge::test
