#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/shapes.h"

namespace ge::test {
namespace {

void DepthToSpaceCase(CaseMaker& m) {
  const int64_t b = m.r.Int(1, 3);
  const int64_t most = m.large ? 40 : 4;
  m.Add(Anything(m, {m.r.Chance(0.08) ? 0 : m.r.Int(1, 2), m.r.Int(1, 3) * b * b, m.r.Int(1, most),
                     m.r.Int(1, most)}));
  m.Set("blocksize", b);
  if (m.r.Chance(0.7)) m.Set("mode", std::string(m.r.Chance(0.5) ? "DCR" : "CRD"));
}

bool PlainDepthToSpace(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  const int64_t b = IntOr(c, "blocksize", 1), channels = x.dims[1] / (b * b);
  if (out->dims != Dims{x.dims[0], channels, x.dims[2] * b, x.dims[3] * b}) return false;
  const Attr* a = FindAttr(c, "mode");
  const bool depth_first = a == nullptr || std::get<std::string>(a->value) == "DCR";
  Index at(out->dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    const int64_t block = at.at[2] % b * b + at.at[3] % b;
    const int64_t channel = depth_first ? block * channels + at.at[1] : at.at[1] * b * b + block;
    Copy(x, Flat(x.dims, {at.at[0], channel, at.at[2] / b, at.at[3] / b}), out, i);
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(depth_to_space) = {"DepthToSpace", DepthToSpaceCase, 0, Error::kOfElement,
                                PlainDepthToSpace};

}  // namespace ge::test
