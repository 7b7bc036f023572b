#include <cstring>

#include "tools/ge_test/random/casts.h"

namespace ge::test {
namespace {

void BitCastCase(CaseMaker& m) {
  const DType from = m.r.Chance(0.4) ? m.r.Pick(NarrowTypes()) : m.dtype();
  std::vector<DType> same;
  for (int i = 1; i < kDTypeCount; ++i) {
    const auto t = static_cast<DType>(i);
    // Any byte may become a bool, but then it is no longer one of two values.
    if (DTypeBits(t) == DTypeBits(from) && t != DType::kBool) same.push_back(t);
  }
  m.Add(m.Numbers(from, m.Shape(0, 4), Least(m), Greatest(m)));
  m.Set("to", static_cast<int64_t>(m.r.Pick(same)));
  m.c.typed = false;
}

bool PlainBitCast(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  if (x.dims != out->dims || x.bytes != out->bytes) return false;
  if (x.bytes > 0) std::memcpy(out->data.get(), x.data.get(), x.bytes);
  return out->dtype == static_cast<DType>(IntOr(c, "to", 0));
}

}  // namespace

GE_RANDOM_OP(bit_cast) = {"BitCast", BitCastCase, 0, Error::kOfElement, PlainBitCast};

}  // namespace ge::test
