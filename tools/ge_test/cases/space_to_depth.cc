#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/shapes.h"

namespace ge::test {
namespace {

void SpaceToDepthCase(CaseMaker& m) {
  const int64_t b = m.r.Int(1, 3);
  const int64_t most = m.large ? 40 : 4;
  m.Add(Anything(m, {m.r.Chance(0.08) ? 0 : m.r.Int(1, 2), m.r.Int(1, 3), m.r.Int(1, most) * b,
                     m.r.Int(1, most) * b}));
  m.Set("blocksize", b);
  if (m.r.Chance(0.7)) m.Set("mode", std::string(m.r.Chance(0.5) ? "DCR" : "CRD"));
}

bool PlainSpaceToDepth(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  const int64_t b = IntOr(c, "blocksize", 1), channels = x.dims[1];
  if (out->dims != Dims{x.dims[0], channels * b * b, x.dims[2] / b, x.dims[3] / b}) return false;
  const Attr* a = FindAttr(c, "mode");
  const bool depth_first = a == nullptr || std::get<std::string>(a->value) == "DCR";
  Index at(out->dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    const int64_t block = depth_first ? at.at[1] / channels : at.at[1] % (b * b);
    const int64_t channel = depth_first ? at.at[1] % channels : at.at[1] / (b * b);
    const Dims from = {at.at[0], channel, at.at[2] * b + block / b, at.at[3] * b + block % b};
    Copy(x, Flat(x.dims, from), out, i);
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(space_to_depth) = {"SpaceToDepth", SpaceToDepthCase, 0, Error::kOfElement,
                                PlainSpaceToDepth};

}  // namespace ge::test
