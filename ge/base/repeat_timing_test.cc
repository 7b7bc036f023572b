// Timing of work that is interrupted, on a clock that stands still but for what a test says.
#include "ge/base/repeat_timing.h"

#include <gtest/gtest.h>

namespace ge {
namespace {

// Work of 100 ns; its runs of the list take so much longer.
struct Interrupted {
  std::vector<double> by = {};  // ns, by run; then none
  double now = 0;
  size_t runs = 0;
  NsClock clock() {
    return [this] { return now; };
  }
  void Run() {
    now += 100 + (runs < by.size() ? by[runs] : 0);
    ++runs;
  }
  Result<double> Sample() {
    const double start = now;
    Run();
    return now - start;
  }
};

Repeats RepeatsOf(Interrupted* work, int wanted, double budget_ns = 1e9) {
  auto answer = RepeatTiming(work->clock(), wanted, 3, budget_ns, [&] { return work->Sample(); });
  EXPECT_TRUE(answer.ok());
  return answer.ok() ? *answer : Repeats{};
}

TEST(RepeatTiming, SamplesThatAgreeAreTakenOnce) {
  Interrupted quiet;
  const Repeats r = RepeatsOf(&quiet, 7);
  EXPECT_TRUE(r.agree);
  EXPECT_EQ(quiet.runs, 7u);
  // One of seven is what a machine does.
  Interrupted once{{0, 0, 4e6}};
  EXPECT_TRUE(RepeatsOf(&once, 7).agree);
  EXPECT_EQ(once.runs, 7u);
}

TEST(RepeatTiming, SamplesThatDisagreeAreTakenAgain) {
  Interrupted busy{{0, 4e6, 3e3, 4e6, 0, 4e6, 2e6}};
  const Repeats r = RepeatsOf(&busy, 7);
  EXPECT_TRUE(r.agree);
  EXPECT_EQ(busy.runs, 14u);
  ASSERT_EQ(r.ns.size(), 7u);  // the first seven are forgotten
  EXPECT_EQ(r.ns.back(), 100);
}

TEST(RepeatTiming, ButNotForEver) {
  Interrupted busy;
  for (int i = 0; i < 100; ++i) busy.by.push_back(i % 2 ? 3300 : 0);
  const Repeats r = RepeatsOf(&busy, 7);
  EXPECT_FALSE(r.agree);
  EXPECT_EQ(busy.runs, 21u);
  EXPECT_EQ(r.ns.size(), 21u);
  // Nor beyond the budget; one sample there is always.
  Interrupted slow{{900, 0, 0}};
  EXPECT_EQ(RepeatsOf(&slow, 7, 1).ns.size(), 1u);
}

// As offers are timed: in passes, the others between them.
TEST(RepeatTiming, APassThatAgreesReplacesThoseThatDoNot) {
  Repeats all{{100, 3300, 3400}, false};
  all.Add({{100, 3300, 3300}, false});
  EXPECT_FALSE(all.agree);
  EXPECT_EQ(all.ns.size(), 6u);
  all.Add({{100, 100, 101}, true});
  EXPECT_TRUE(all.agree);
  EXPECT_EQ(all.ns, (std::vector<double>{100, 100, 101}));
  all.Add({{100, 3300, 3300}, false});  // the machine became busy
  all.Add({});                          // no time was left
  EXPECT_EQ(all.ns.size(), 3u);
  all.Add({{99, 100, 100}, true});
  EXPECT_EQ(all.ns.size(), 6u);
  Repeats fresh;
  fresh.Add({{100, 3300}, false});
  EXPECT_FALSE(fresh.agree);
  EXPECT_EQ(fresh.ns.size(), 2u);
}

TEST(RepeatTiming, AFaultEndsIt) {
  const auto r = RepeatTiming(&SteadyNs, 7, 3, 1e9, [] {
    return Result<double>(Status(Code::kInternal, "the engine says no"));
  });
  EXPECT_EQ(r.status().code(), Code::kInternal);
}

TEST(RepeatTiming, TheShortestIsSeenTwice) {
  Interrupted quiet;
  EXPECT_EQ(ShortestNs(quiet.clock(), 0, [&] { quiet.Run(); }), 100);
  EXPECT_EQ(quiet.runs, 2u);
  // Both of two runs are interrupted: without a third the machine would seem 30 times slower.
  Interrupted busy{{3000, 9000, 4e6}};
  EXPECT_EQ(ShortestNs(busy.clock(), 0, [&] { busy.Run(); }), 100);
  EXPECT_EQ(busy.runs, 5u);
  Interrupted never;
  for (int i = 1; i <= 20; ++i) never.by.push_back(300.0 * i * i);
  EXPECT_EQ(ShortestNs(never.clock(), 0, [&] { never.Run(); }), 400);
  EXPECT_EQ(never.runs, 8u);
}

}  // namespace
}  // namespace ge
