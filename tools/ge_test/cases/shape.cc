#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/shapes.h"

namespace ge::test {
namespace {

void ShapeCase(CaseMaker& m) {
  const Dims dims = m.Shape(0, 4);
  m.Add(Anything(m, dims));
  if (m.r.Chance(0.5)) m.Set("start", m.r.Int(-5, 5));
  if (m.r.Chance(0.5)) m.Set("end", m.r.Int(-5, 5));
}

bool PlainShape(const RandomCase& c, HostTensor* out) {
  const Dims& dims = c.inputs[0].tensor->dims;
  const auto rank = static_cast<int64_t>(dims.size());
  auto clamp = [&](int64_t v) { return std::clamp<int64_t>(v < 0 ? v + rank : v, 0, rank); };
  const int64_t start = clamp(IntOr(c, "start", 0)), end = clamp(IntOr(c, "end", rank));
  if (out->dims != Dims{std::max<int64_t>(0, end - start)}) return false;
  for (int64_t i = start; i < end; ++i) SetIntElement(out, i - start, dims[static_cast<size_t>(i)]);
  return true;
}

}  // namespace

GE_RANDOM_OP(shape) = {"Shape", ShapeCase, 0, Error::kOfElement, PlainShape};

}  // namespace ge::test
