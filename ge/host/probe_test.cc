// The host probe: plausible numbers, and a text form that only its own machine accepts.
#include "ge/host/probe.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "ge/ge_plugin.h"
#include "ge/host/temporary_cache_folder_testing.h"

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
  ASSERT_TRUE(MachineFromText(MachineToText(m), IdentifyMachine(GE_ISA_NATIVE, 2), &back).ok());
  EXPECT_EQ(back.flops_per_ns[m.isa], m.flops_per_ns[m.isa]);
  EXPECT_EQ(back.copy_bytes_per_ns[m.isa][2], m.copy_bytes_per_ns[m.isa][2]);
  EXPECT_FALSE(back.probed_now);
}

TEST(ProbeTest, RecordsOfOthersAndDamagedOnesAreRefused) {
  const MachineRecord key = IdentifyMachine(GE_ISA_SSE42, 1);
  EXPECT_EQ(key.isa, uint32_t{GE_ISA_SSE42});
  const std::string text = MachineToText(FixedMachine(GE_ISA_SSE42, 1));
  MachineRecord out;
  EXPECT_TRUE(MachineFromText(text, key, &out).ok());
  MachineRecord other = key;
  other.cpu += "!";
  EXPECT_FALSE(MachineFromText(text, other, &out).ok());
  other = key;
  other.threads = 3;
  EXPECT_FALSE(MachineFromText(text, other, &out).ok());
  for (size_t cut = 0; cut + 2 < text.size(); cut += 5) {
    EXPECT_FALSE(MachineFromText(text.substr(0, cut), key, &out).ok()) << cut;
  }
  std::string zero = text;
  zero.replace(zero.find("22.0"), 4, "-1.0");
  EXPECT_FALSE(MachineFromText(zero, key, &out).ok());
  std::string half = text;
  half.insert(half.find(',', half.find("\"isa_mask\"")), ".5");
  EXPECT_FALSE(MachineFromText(half, key, &out).ok()) << half;
}

TEST(ProbeTest, OnlyWhoAsksForItMeasures) {
  const TemporaryCacheFolder cache;
  const char* before = std::getenv("GE_PROBE");
  const std::string kept = before ? before : "";
  setenv("GE_PROBE", "busy", 1);
  EXPECT_FALSE(KnownMachine(GE_ISA_SSE42, 1).probed_now);
  EXPECT_TRUE(MeasuredMachine(GE_ISA_SSE42, 1, &InOrder).doubtful);
  setenv("GE_PROBE", "quiet", 1);
  const MachineRecord quiet = MeasuredMachine(GE_ISA_SSE42, 1, &InOrder);
  EXPECT_TRUE(!quiet.doubtful && quiet.probed_now);
  const MachineRecord known = KnownMachine(GE_ISA_SSE42, 1);
  EXPECT_TRUE(!known.probed_now && !known.fixed && !known.shipped);
  EXPECT_EQ(known.flops_per_ns[known.isa], quiet.flops_per_ns[known.isa]);
  before ? setenv("GE_PROBE", kept.c_str(), 1) : unsetenv("GE_PROBE");
}

TEST(ProbeTest, ADamagedRecordIsPutAside) {
  const TemporaryCacheFolder cache;
  const char* before = std::getenv("GE_PROBE");
  const std::string kept = before ? before : "";
  setenv("GE_PROBE", "quiet", 1);
  (void)MeasuredMachine(GE_ISA_SSE42, 1, &InOrder);
  std::filesystem::path file;
  for (const auto& e : std::filesystem::directory_iterator(cache.path())) {
    if (e.path().extension() == ".json") file = e.path();
  }
  ASSERT_FALSE(file.empty());
  std::ofstream(file) << "{\"probe\": 1";
  EXPECT_FALSE(KnownMachine(GE_ISA_SSE42, 1).probed_now);
  EXPECT_FALSE(std::filesystem::exists(file));
  EXPECT_TRUE(std::filesystem::exists(file.string() + ".damaged"));
  before ? setenv("GE_PROBE", kept.c_str(), 1) : unsetenv("GE_PROBE");
}

TEST(ProbeTest, ShippedRecordsServeProcessorsAlike) {
  MachineRecord one = FixedMachine(GE_ISA_SSE42, 1), two = FixedMachine(GE_ISA_SSE42, 2);
  one.flops_per_ns[GE_ISA_SSE42] = 31;
  two.flops_per_ns[GE_ISA_SSE42] = 32;
  const std::string text = *WithShippedMachine(*WithShippedMachine("", one), two);
  EXPECT_EQ(*WithShippedMachine(text, two), text) << "in the place of what was there";
  for (uint32_t threads : {1u, 2u, 8u}) {
    const MachineRecord host = IdentifyMachine(GE_ISA_SSE42, threads);
    MachineRecord m;
    ASSERT_TRUE(MachineFromShipped(text, host, &m).ok());
    EXPECT_EQ(m.flops_per_ns[GE_ISA_SSE42], threads == 1 ? 31 : 32);
    EXPECT_EQ(m.threads, threads);
    EXPECT_TRUE(m.shipped && m.thread_gain[0] <= threads && (threads == 1 || m.fork_ns > 0));
  }
  MachineRecord m;
  EXPECT_FALSE(MachineFromShipped("[]", one, &m).ok());
  EXPECT_FALSE(MachineFromShipped(text.substr(0, text.size() / 2), one, &m).ok());
  MachineRecord other = one;
  other.isa = GE_ISA_AVX2;
  EXPECT_FALSE(MachineFromShipped(text, other, &m).ok()) << "of another instruction set";
}

// A newer processor under a cap has other rates than one that has no more than the cap allows.
TEST(ProbeTest, ShippedRecordsOfTheSameGenerationComeFirst) {
  MachineRecord older = FixedMachine(GE_ISA_SSE42, 1), newer = older;
  older.isa_mask = 1u << GE_ISA_SSE42;
  newer.isa_mask = older.isa_mask | 1u << GE_ISA_AVX2;
  older.flops_per_ns[GE_ISA_SSE42] = 11;
  newer.flops_per_ns[GE_ISA_SSE42] = 22;
  MachineRecord newer_by_two = FixedMachine(GE_ISA_SSE42, 2);
  newer_by_two.isa_mask = newer.isa_mask;
  newer_by_two.flops_per_ns[GE_ISA_SSE42] = 23;
  std::string text;
  for (const MachineRecord* m : {&newer, &older, &newer_by_two}) {
    text = *WithShippedMachine(text, *m);
  }
  EXPECT_EQ(BestIsa(older), static_cast<uint32_t>(GE_ISA_SSE42));
  EXPECT_EQ(BestIsa(newer), static_cast<uint32_t>(GE_ISA_AVX2));
  const auto rate = [&](uint32_t isa_mask, uint32_t threads) {
    MachineRecord host = IdentifyMachine(GE_ISA_SSE42, threads), m;
    host.isa_mask = isa_mask;
    EXPECT_TRUE(MachineFromShipped(text, host, &m).ok());
    return m.flops_per_ns[GE_ISA_SSE42];
  };
  EXPECT_EQ(rate(older.isa_mask, 1), 11);
  EXPECT_EQ(rate(newer.isa_mask, 1), 22);
  EXPECT_EQ(rate(newer.isa_mask, 2), 23);
  EXPECT_EQ(rate(older.isa_mask, 2), 11) << "the threads count less than the generation";
}

}  // namespace
}  // namespace ge
