#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/elementwise.h"

namespace ge::test {
namespace {

void MinCase(CaseMaker& m) {
  const Dims to = m.Shape(0, 4);
  const int64_t n = m.r.Int(1, 4);
  for (int64_t i = 0; i < n; ++i) {
    m.Add(m.Numbers(m.dtype(), i == 0 ? to : m.Narrowed(to), Least(m), Greatest(m)));
  }
}

bool PlainMin(const RandomCase& c, HostTensor* out) {
  if (!IsBroadcastOf(c, out->dims)) return false;
  Index at(out->dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    const HostTensor* best = nullptr;
    int64_t where = 0;
    for (const auto& in : c.inputs) {
      const int64_t k = Broadcast(*in.tensor, at.at);
      if (best == nullptr || ElementAsDouble(*in.tensor, k) < ElementAsDouble(*best, where)) {
        best = in.tensor.get();
        where = k;
      }
    }
    Copy(*best, where, out, i);
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(min) = {"Min", MinCase, 0, Error::kOfElement, PlainMin};

}  // namespace ge::test
