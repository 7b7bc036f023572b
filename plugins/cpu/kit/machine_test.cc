// MachineOf: the host's cap counts, and nothing counts that the host's table lacks.
#include <gtest/gtest.h>

#include <algorithm>

#include "plugins/cpu/kit/engine.h"

namespace ge_engines::cpu {
namespace {

ge_host_api Host(uint32_t cap, uint32_t threads) {
  ge_host_api host = {};
  host.h = GE_HDR(ge_host_api, GE_TAG_HOST_API);
  host.h.size = 0;  // no table of speeds
  host.isa_cap = cap;
  host.threads = threads;
  return host;
}

TEST(Machine, TheCapIsKeptAndNeverRaisesWhatThereIs) {
  const uint32_t best = MachineOf(nullptr).isa;
  for (const uint32_t cap : {GE_ISA_SSE42, GE_ISA_AVX2, GE_ISA_AVX512}) {
    const ge_host_api host = Host(cap, 1);
    EXPECT_EQ(MachineOf(&host).isa, std::min(cap, best)) << cap;
  }
  const ge_host_api none = Host(GE_ISA_NATIVE, 3);
  EXPECT_EQ(MachineOf(&none).isa, best);
  EXPECT_EQ(MachineOf(&none).threads, 3);
  const ge_host_api silent = Host(GE_ISA_NATIVE, 0);
  EXPECT_EQ(MachineOf(&silent).threads, 1);
}

}  // namespace
}  // namespace ge_engines::cpu
