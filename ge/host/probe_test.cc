// The host probe: plausible numbers, and a text form that only its own machine accepts.
#include "ge/host/probe.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <string>

#include "ge/ge_plugin.h"
#include "ge/host/temporary_cache_folder.h"

namespace ge {
namespace {

void InOrder(uint64_t n, void (*body)(void*, uint64_t), void* ctx) {
  for (uint64_t i = 0; i < n; ++i) body(ctx, i);
}

TEST(ProbeTest, MeasuresThisMachine) {
  const auto begin = std::chrono::steady_clock::now();
  const MachineRecord m = ProbeMachine(GE_ISA_NATIVE, 2, &InOrder);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  EXPECT_LT(took.count(), 20) << "a hang, not a speed: 0.25 s on an idle machine";
  EXPECT_TRUE(m.probed_now);
  for (uint32_t isa = GE_ISA_SSE42; isa <= m.isa; ++isa) {
    if (!(m.isa_mask >> isa & 1)) continue;
    EXPECT_GT(m.flops_per_ns[isa], 0.1) << isa;
    EXPECT_LT(m.flops_per_ns[isa], 1000) << isa;
    for (double c : m.copy_bytes_per_ns[isa]) EXPECT_GT(c, 0.05);
  }
  EXPECT_GE(m.thread_gain[0], 1);
  EXPECT_LE(m.thread_gain[0], 2);
  EXPECT_GT(m.call_ns, 0);
  MachineRecord back;
  ASSERT_TRUE(MachineFromText(MachineToText(m), IdentifyMachine(GE_ISA_NATIVE, 2), &back));
  EXPECT_EQ(back.flops_per_ns[m.isa], m.flops_per_ns[m.isa]);
  EXPECT_EQ(back.copy_bytes_per_ns[m.isa][2], m.copy_bytes_per_ns[m.isa][2]);
  EXPECT_FALSE(back.probed_now);
}

TEST(ProbeTest, RecordsOfOthersAndDamagedOnesAreRefused) {
  const MachineRecord key = IdentifyMachine(GE_ISA_SSE42, 1);
  EXPECT_EQ(key.isa, uint32_t{GE_ISA_SSE42});
  const std::string text = MachineToText(FixedMachine(GE_ISA_SSE42, 1));
  MachineRecord out;
  EXPECT_TRUE(MachineFromText(text, key, &out));
  MachineRecord other = key;
  other.cpu += "!";
  EXPECT_FALSE(MachineFromText(text, other, &out));
  other = key, other.threads = 3;
  EXPECT_FALSE(MachineFromText(text, other, &out));
  for (size_t cut = 0; cut + 2 < text.size(); cut += 5) {
    EXPECT_FALSE(MachineFromText(text.substr(0, cut), key, &out)) << cut;
  }
  std::string zero = text;
  zero.replace(zero.find("22.0"), 4, "-1.0");
  EXPECT_FALSE(MachineFromText(zero, key, &out));
}

TEST(ProbeTest, ADoubtfulRecordIsMeasuredAgainOnceItIsQuiet) {
  const TemporaryCacheFolder cache;
  const char* before = std::getenv("GE_PROBE");
  const std::string kept = before ? before : "";
  setenv("GE_PROBE", "busy", 1);
  EXPECT_TRUE(FindMachine(GE_ISA_SSE42, 1, &InOrder).doubtful);
  // Still busy: no better than what is there.
  const MachineRecord busy = FindMachine(GE_ISA_SSE42, 1, &InOrder);
  EXPECT_TRUE(busy.doubtful && !busy.probed_now);
  setenv("GE_PROBE", "quiet", 1);
  const MachineRecord quiet = FindMachine(GE_ISA_SSE42, 1, &InOrder);
  EXPECT_TRUE(!quiet.doubtful && quiet.probed_now);
  EXPECT_FALSE(FindMachine(GE_ISA_SSE42, 1, &InOrder).probed_now);
  before ? setenv("GE_PROBE", kept.c_str(), 1) : unsetenv("GE_PROBE");
}

}  // namespace
}  // namespace ge
