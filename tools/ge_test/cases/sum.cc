#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/elementwise.h"

namespace ge::test {
namespace {

void SumCase(CaseMaker& m) {
  const Dims to = m.Shape(0, 4);
  const int64_t n = m.r.Int(1, 4), whole = m.r.Int(0, n - 1);
  for (int64_t i = 0; i < n; ++i) {
    m.Add(m.Numbers(m.dtype(), i == whole ? to : m.Narrowed(to), Least(m), Greatest(m)));
  }
}

bool PlainSum(const RandomCase& c, HostTensor* out) {
  if (!IsBroadcastOf(c, out->dims)) return false;
  Index at(out->dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    double sum = 0;
    for (const auto& in : c.inputs) {
      sum += ElementAsDouble(*in.tensor, Broadcast(*in.tensor, at.at));
    }
    SetElement(out, i, sum);
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(sum) = {"Sum", SumCase, 1e-6, Error::kOfSums, PlainSum};

}  // namespace ge::test
