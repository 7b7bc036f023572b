#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/shapes.h"

namespace ge::test {
namespace {

void ExpandCase(CaseMaker& m) {
  const Dims to = m.Shape(0, 4);
  m.Add(Anything(m, m.Narrowed(to)));
  Dims asked = to;  // 1 keeps the input's own size
  const Dims& from = m.c.inputs[0].tensor->dims;
  for (size_t i = 0; i < from.size(); ++i) {
    if (m.r.Chance(0.2)) asked[asked.size() - 1 - i] = 1;
  }
  AddShape(m, asked);
}

bool PlainExpand(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  Index at(out->dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    Copy(x, Broadcast(x, at.at), out, i);
  }
  Dims asked = Values(*c.inputs[1].tensor);
  for (size_t d = 0; d < asked.size(); ++d) {
    const size_t lead = asked.size() - x.dims.size();
    if (d >= lead && asked[d] == 1) asked[d] = x.dims[d - lead];
  }
  return asked == out->dims;
}

}  // namespace

GE_RANDOM_OP(expand) = {"Expand", ExpandCase, 0, Error::kOfElement, PlainExpand};

}  // namespace ge::test
