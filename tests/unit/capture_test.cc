// Captures: what an engine captured and replays has the bits of single calls, on one stream as on
// several, whatever inputs come and however late work is. CaptureRegions keep away from callers'
// buffers, and what cannot be captured runs as before.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "frontend/text/text.h"
#include "tests/unit/graph_session.h"
#include "tests/unit/random_graph.h"

namespace ge::test {
namespace {

constexpr int kRuns = 8;  // three with the same addresses, one that captures, and some of it

std::string CaptureEngines(uint64_t seed, uint64_t streams, const std::string& more) {
  return "ref," + SamplesFolder() +
         "devsim.so:link_latency_ns=20;link_gbps=1000;price=10;take=" + (seed % 2 ? "100" : "80") +
         ";take_seed=" + std::to_string(seed) + ";grow=0;streams=" + std::to_string(streams) + more;
}

struct CaptureTally {
  uint64_t calls = 0, captured = 0, made = 0, launched = 0, failed = 0, two_streams = 0;

  void Add(const Program& program) {
    calls += program.capture_regions().work;
    captured += program.capture_regions().inside;
    for (const CaptureRegion& s : program.capture_regions().found)
      two_streams += s.stream.size() > 1;
    const CaptureLog::Totals t = program.capture_log().Read();
    made += t.made;
    launched += t.launched;
    for (const auto& [why, n] : t.failed) failed += n;
  }
};

void ExpectRefsBits(uint64_t seed, uint64_t streams, const std::string& more, CaptureTally* tally) {
  RandomGraphOptions options;
  options.nodes = 10 + static_cast<uint32_t>(seed % 30);
  const auto ref = OpenGraph("ref", RandomGraph(seed, options));
  const auto session = OpenGraph(CaptureEngines(seed, streams, more), RandomGraph(seed, options));
  ASSERT_TRUE(ref.ok() && session.ok()) << ref.status().ToString() << session.status().ToString();
  for (int k = 0; k < kRuns; ++k) {
    const Io io(seed * 100 + static_cast<uint64_t>(k));
    const auto wanted = RunOnce(ref->get(), io);
    const auto found = RunOnce(session->get(), io);
    ASSERT_TRUE(wanted.ok() && found.ok()) << found.status().ToString();
    ASSERT_EQ(*found, *wanted) << "graph " << seed << ", " << streams << " streams, run " << k;
  }
  tally->Add((*session)->Latest("")->program());
}

TEST(Captures, RandomGraphsHaveTheBitsOfSingleCalls) {
  CaptureTally tally;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    for (const uint64_t streams : {1, 4}) {
      ExpectRefsBits(seed, streams, seed % 4 == 0 ? ";delay=" + std::to_string(seed) : "", &tally);
    }
    if (HasFatalFailure()) return;
  }
  std::printf(
      "%lu of %lu calls in regions, %lu of them on several streams; %lu captures, "
      "launched %lu times\n",
      tally.captured, tally.calls, tally.two_streams, tally.made, tally.launched);
  EXPECT_GT(3 * tally.captured, tally.calls);
  EXPECT_GT(tally.two_streams, 50u);
  EXPECT_GT(tally.made, 300u);
  EXPECT_GT(tally.launched, 3 * tally.made);
  EXPECT_EQ(tally.failed, 0u);
}

// Calls of the device's engine in a run, where each region is one: a join is a signal and a wait.
uint64_t CallsARun(const Program& program) {
  uint64_t calls = program.plan().functions[0].code.size();
  for (const CaptureRegion& r : program.capture_regions().found) {
    calls -= r.end - r.first;
    calls += 1 + r.before.size() + r.behind.size() + 2 * (r.joined.size() + r.released.size());
  }
  return calls;
}

TEST(Captures, AChainOfTwoHundredLaunchesIsOne) {
  std::string text = "ge 1\nopset \"\" 28\nfn main(x: f32[8,8]) -> (y) {\n";
  for (int i = 0; i < 200; ++i) {
    const std::string in = i == 0 ? "x" : "t" + std::to_string(i - 1);
    const std::string out = i == 199 ? "y" : "t" + std::to_string(i);
    text += "  " + out + ": f32[8,8] = " + (i % 2 == 0 ? "Sin(" : "Abs(") + in + ")\n";
  }
  text += "}\nentry infer \"main\" = main\n";
  const auto graph = ParseText(text, "chain.gt");
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  const auto session = OpenGraph(SamplesFolder() + "devsim.so:price=1;grow=0", *graph);
  ASSERT_TRUE(session.ok()) << session.status().ToString();
  std::vector<float> x(64, 0.5f), y(64);
  const TensorView in{DType::kFloat, {8, 8}, x.data(), x.size() * sizeof(float)};
  const auto c = (*session)->Compile("", {&in, 1});
  ASSERT_TRUE(c.ok()) << c.status().ToString();
  EXPECT_EQ((*c)->plan.functions[0].segments.size(), 200u);
  EXPECT_EQ((*c)->program().capture_regions().found.size(), 1u);
  EXPECT_EQ((*c)->program().capture_regions().inside, 200u);
  EXPECT_LE(CallsARun((*c)->program()), 10u);
}

TEST(Captures, WhatCannotBeCapturedRunsCallByCall) {
  CaptureTally fails, refuses;
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    ExpectRefsBits(seed, 2, ";capture=2", &fails);
    ExpectRefsBits(seed, 2, ";capture=0", &refuses);
  }
  EXPECT_GT(fails.failed, 0u);
  EXPECT_EQ(fails.launched, 0u);
  EXPECT_EQ(refuses.captured, 0u);
}

}  // namespace
}  // namespace ge::test
