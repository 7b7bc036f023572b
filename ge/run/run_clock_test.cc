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
  clock->Take(stamps, {}, cold);
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

// Of one visit to a device: a copy there, a launch, a copy back, and the host's wait.
struct VisitPlan {
  VisitPlan() {
    plan.devices = {PlanDevice{0, 0, "host", 0, false, 1}, PlanDevice{1, 0, "dev/0", 1, true, 1}};
    plan.functions.resize(1);
    PlanFunction& f = plan.functions[0];
    f.streams = {PlanStream{0}, PlanStream{1}};
    f.events.resize(1);
    f.values.resize(5);
    f.values[2].domain = f.values[3].domain = 1;  // 1 -> 2, 2 -> 3, 3 -> 4
    f.segments.resize(2);
    Add(PlanOp::kCopy, 1);
    f.code.back().src = 1;
    f.code.back().dst = 2;
    Add(PlanOp::kLaunch, 1);
    Add(PlanOp::kCopy, 1);
    f.code.back().src = 3;
    f.code.back().dst = 4;
    Add(PlanOp::kSignal, 1);
    Add(PlanOp::kLaunch, 0);  // the host works meanwhile
    f.code.back().segment = 1;
    Add(PlanOp::kWait, 0);
  }
  void Add(PlanOp op, uint32_t stream) {
    Instruction i;
    i.op = op;
    i.stream = stream;
    plan.functions[0].code.push_back(i);
  }
  Plan plan;
};

TEST(RunClockTest, WorkOnStreamsIsTimedByTheirDevice) {
  const VisitPlan visit;
  RunClock clock(visit.plan);
  // Queued within 4 us; the device begins at 10 us, and the host sees its end 100 us late.
  const uint64_t at[] = {1000, 2000, 3000, 4000, 5000, 25'000, 170'000};
  const RunClock::Span work[] = {{10'000, 20'000}, {20'000, 60'000}, {60'000, 70'000}, {}, {}, {}};
  clock.Take(at, work, false);
  const RunClock::Summary s = clock.Read();
  EXPECT_EQ(s.segments[0].ns, 40'000);
  EXPECT_NEAR(s.segments[1].ns, 20'000, 1000) << "the host's own";
  ASSERT_EQ(s.copies.size(), 2u);
  EXPECT_EQ(s.copies[0].instruction, 0u);
  EXPECT_EQ(s.copies[0].time.ns, 10'000);
  EXPECT_EQ(s.copies[1].time.ns, 10'000);
  // Of 169 us the device worked from 10 to 70, and the host from 5 to 25.
  ASSERT_EQ(s.waits.size(), 2u);
  EXPECT_EQ(s.waits[0].count, 0u);
  EXPECT_NEAR(s.waits[1].ns, 169'000 - 65'000, 1);
}

TEST(RunClockTest, WithoutStampsStreamsStayUntimed) {
  const VisitPlan visit;
  RunClock clock(visit.plan);
  const uint64_t at[] = {1000, 2000, 3000, 4000, 5000, 25'000, 170'000};
  clock.Take(at, {}, false);
  const RunClock::Summary s = clock.Read();
  EXPECT_EQ(s.segments[0].count, 0u);
  EXPECT_EQ(s.copies[0].time.count, 0u);
  EXPECT_EQ(s.waits[1].count, 0u);
  EXPECT_EQ(s.total.count, 1u);
}

TEST(RunClockTest, TwoWaitsOfOneVisitAreOne) {
  VisitPlan visit;
  visit.Add(PlanOp::kWait, 0);  // for the same event: nothing was called between
  RunClock clock(visit.plan);
  const uint64_t at[] = {0, 0, 0, 0, 0, 0, 100'000, 130'000};
  const RunClock::Span work[] = {{0, 20'000}, {20'000, 60'000}, {60'000, 90'000}, {}, {}, {}, {}};
  clock.Take(at, work, false);
  EXPECT_NEAR(clock.Read().waits[1].ns, 10'000 + 30'000, 1);
}

TEST(RunClockTest, ABusyMachineMakesFewVisitsLonger) {
  const VisitPlan visit;
  RunClock clock(visit.plan);
  const RunClock::Span work[] = {{0, 20'000}, {20'000, 60'000}, {60'000, 90'000}, {}, {}, {}};
  for (int run = 0; run < 12; ++run) {
    const uint64_t late = run % 3 == 0 ? 10'000 : 900'000;
    const uint64_t at[] = {0, 0, 0, 0, 0, 0, 90'000 + late};
    clock.Take(at, work, false);
  }
  EXPECT_NEAR(clock.Read().waits[1].ns, 10'000, 1);
}

}  // namespace
}  // namespace ge
