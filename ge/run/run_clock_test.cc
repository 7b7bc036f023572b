// Which runs are timed, and what their samples say.
#include "ge/run/run_clock.h"

#include <gtest/gtest.h>

namespace ge {
namespace {

// A plan of two launches on the host's own stream and one on another.
Plan ThreeLaunches() {
  Plan plan;
  plan.functions.resize(1);
  PlanFunction& f = plan.functions[0];
  f.segments.resize(3);
  for (SegmentId s = 0; s < 3; ++s) {
    Instruction i;
    i.op = PlanOp::kLaunch;
    i.segment = s;
    i.stream = s == 2 ? 1 : 0;
    f.code.push_back(i);
  }
  return plan;
}

void TakeRun(RunClock* clock, uint64_t first, uint64_t second, bool cold) {
  const uint64_t stamps[] = {0, first, first + second, first + second + 1000};
  clock->Take(stamps, cold);
}

TEST(RunClockTest, TimesTheFirstRunsAndThenFew) {
  uint64_t due = 0;
  for (uint64_t run = 0; run < 6400; ++run) due += RunClock::Due(run);
  EXPECT_TRUE(RunClock::Due(0));
  EXPECT_TRUE(RunClock::Due(4));
  EXPECT_FALSE(RunClock::Due(5));
  EXPECT_TRUE(RunClock::Due(64));
  EXPECT_LT(due, 6400u / 50);
}

TEST(RunClockTest, ColdSamplesCountOnlyWhileThereAreNoOthers) {
  const Plan plan = ThreeLaunches();
  RunClock clock(plan);
  EXPECT_EQ(clock.Read().total.count, 0u);
  TakeRun(&clock, 900'000, 50'000, true);
  RunClock::Summary s = clock.Read();
  EXPECT_TRUE(s.segments[0].cold);
  EXPECT_NEAR(s.segments[0].ns, 900'000, 1000);
  EXPECT_EQ(s.segments[2].count, 0u) << "queued on a stream: its launch is not its work";
  // Upper median of 100, 200, 300, 400 (the order does not matter).
  for (uint64_t k : {3, 1, 4, 2}) TakeRun(&clock, k * 100'000, 50'000, false);
  s = clock.Read();
  EXPECT_FALSE(s.segments[0].cold);
  EXPECT_EQ(s.segments[0].count, 4u);
  EXPECT_NEAR(s.segments[0].ns, 300'000, 1000);
  EXPECT_NEAR(s.segments[1].ns, 50'000, 1000);
  EXPECT_NEAR(s.total.ns, 351'000, 2000);
  EXPECT_EQ(clock.warm_runs(), 4u);
}

TEST(RunClockTest, KeepsTheNewest) {
  const Plan plan = ThreeLaunches();
  RunClock clock(plan);
  for (int i = 0; i < 30; ++i) TakeRun(&clock, 100'000, 1000, false);
  for (int i = 0; i < 15; ++i) TakeRun(&clock, 700'000, 1000, false);
  EXPECT_NEAR(clock.Read().segments[0].ns, 700'000, 1000);
  EXPECT_EQ(clock.Read().segments[0].count, 15u);
}

}  // namespace
}  // namespace ge
