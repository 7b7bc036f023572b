#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/shapes.h"

namespace ge::test {
namespace {

void ReverseSequenceCase(CaseMaker& m) {
  const Dims dims = m.Shape(2, 4);
  const int64_t batch = m.r.Int(0, 1);
  m.Add(Anything(m, dims));
  const auto most = static_cast<double>(dims[static_cast<size_t>(1 - batch)]);
  m.Add(m.Numbers(DType::kInt64, {dims[static_cast<size_t>(batch)]}, 0, most));
  if (batch == 0 || m.r.Chance(0.5)) {
    m.Set("batch_axis", batch);
    m.Set("time_axis", 1 - batch);
  }
}

bool PlainReverseSequence(const RandomCase& c, HostTensor* out) {
  const HostTensor &x = *c.inputs[0].tensor, &lengths = *c.inputs[1].tensor;
  if (x.dims != out->dims) return false;
  const auto batch = static_cast<size_t>(IntOr(c, "batch_axis", 1)), time = 1 - batch;
  Index at(out->dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    Dims from = at.at;
    const int64_t length = ElementAsInt(lengths, from[batch]);
    if (from[time] < length) from[time] = length - 1 - from[time];
    Copy(x, Flat(x.dims, from), out, i);
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(reverse_sequence) = {"ReverseSequence", ReverseSequenceCase, 0, Error::kOfElement,
                                  PlainReverseSequence};

}  // namespace ge::test
