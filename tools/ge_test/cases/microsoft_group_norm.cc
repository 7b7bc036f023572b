#include "tools/ge_test/random_microsoft.h"

namespace ge::test {
namespace {

void GroupNormCase(CaseMaker& m) {
  const int64_t groups = m.r.Int(1, 3), channels = groups * m.r.Int(1, 3);
  const bool last = m.r.Chance(0.6);
  const int64_t n = m.r.Int(1, 2), h = m.r.Int(1, 4), w = m.r.Int(1, 4);
  m.Add(Signal(m, last ? Dims{n, h, w, channels} : Dims{n, channels, h, w}));
  m.Add(Signal(m, {channels}));
  m.Add(Signal(m, {channels}));
  m.Set("groups", groups);
  m.Set("activation", m.r.Int(0, 1));
  m.Set("epsilon", 0.125);
  if (!last || m.r.Chance(0.5)) m.Set("channels_last", int64_t{last});
}

}  // namespace

GE_RANDOM_OP(microsoft_group_norm) = {"com.microsoft.GroupNorm", GroupNormCase, 8e-6,
                                      Error::kOfTerms};

}  // namespace ge::test
