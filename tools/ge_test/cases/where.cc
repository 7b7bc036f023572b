#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/elementwise.h"

namespace ge::test {
namespace {

// The condition is bool in every case, so the type of what it chooses is drawn here.
void WhereCase(CaseMaker& m) {
  const DType type = m.r.Pick(std::vector<DType>{
      DType::kFloat, DType::kFloat, DType::kFloat, DType::kDouble, DType::kFloat16,
      DType::kBfloat16, DType::kInt8, DType::kInt16, DType::kInt32, DType::kInt64, DType::kUint8,
      DType::kUint16, DType::kUint32, DType::kUint64, DType::kBool});
  const Dims to = m.Shape(0, 4);
  const int64_t whole = m.r.Int(0, 2);
  for (int64_t i = 0; i < 3; ++i) {
    const Dims dims = i == whole || m.r.Chance(0.3) ? to : m.Narrowed(to);
    m.Add(m.Numbers(i == 0 ? DType::kBool : type, dims, -100, 100));
  }
}

bool PlainWhere(const RandomCase& c, HostTensor* out) {
  if (!IsBroadcastOf(c, out->dims)) return false;
  const HostTensor& truth = *c.inputs[0].tensor;
  Index at(out->dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    const bool first = ElementAsInt(truth, Broadcast(truth, at.at)) != 0;
    const HostTensor& from = *c.inputs[first ? 1 : 2].tensor;
    Copy(from, Broadcast(from, at.at), out, i);
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(where) = {"Where", WhereCase, 0, Error::kOfElement, PlainWhere};

}  // namespace ge::test
