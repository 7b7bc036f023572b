// The simulated clock: what calls, launches and copies cost, and what overlaps. It is the same in
// all schedules. Options are the defaults: a call 1,000 ns, a launch 2,000, a copy 5,000 and its
// bytes.
#include "plugins/device/sim/machine_testing.h"

namespace ge_engines::device::sim {
namespace {

class ClockTest : public testing::TestWithParam<Schedule> {};
INSTANTIATE_TEST_SUITE_P(All, ClockTest, testing::ValuesIn(kSchedules));

Kernel Busy(int64_t cost_ns) {
  Kernel kernel;
  kernel.name = "busy";
  kernel.cost_ns = cost_ns;
  return kernel;
}

TEST_P(ClockTest, CallsLaunchesAndTheHost) {
  Machine m(GetParam());
  const Stream one = m.stream();
  const Event event = m.event();
  EXPECT_EQ(m.sim.now(), 2000);
  m.Launch(one, Busy(10000));  // called by 3,000; begins 2,000 later
  m.Launch(one, Busy(10000));
  EXPECT_EQ(m.sim.EventRecord(event, one), Code::kOk);
  EXPECT_EQ(m.sim.now(), 5000);
  m.sim.HostWork(7000);
  EXPECT_EQ(m.sim.now(), 12000);
  EXPECT_EQ(m.sim.EventSynchronize(event), Code::kOk);
  int64_t at = 0;
  EXPECT_EQ(m.sim.EventTime(event, &at), Code::kOk);
  EXPECT_EQ(at, 3000 + 2 * (2000 + 10000));
  EXPECT_EQ(m.sim.now(), at + 1000);
}

TEST_P(ClockTest, KernelsOfTwoStreamsTakeTurnsOrRunAtOnce) {
  for (const int at_once : {1, 2}) {
    SimulatorOptions options = Machine::Options(GetParam());
    options.devices[0].kernels_at_once = at_once;
    Machine m(options);
    const Stream one = m.stream(), two = m.stream();
    m.Launch(one, Busy(50000));
    m.Launch(two, Busy(50000));
    m.Sync(one);
    m.Sync(two);
    // The first was called by 3,000, the second by 4,000; each begins 2,000 later at the earliest.
    EXPECT_EQ(m.sim.now(), at_once == 1 ? 105000 : 56000);
  }
}

TEST_P(ClockTest, CopiesOverlapKernelsAndEachOther) {
  constexpr size_t kBytes = 1200000;  // 100,000 ns at 12 a ns
  Machine m(GetParam());
  const Stream one = m.stream(), two = m.stream(), three = m.stream();
  unsigned char *const block = m.block(kBytes), *const other = m.block(kBytes);
  unsigned char *const in = m.pinned(kBytes), *const out = m.pinned(kBytes);
  EXPECT_EQ(m.sim.Fill(one, other, 0, kBytes), Code::kOk);
  m.Sync(one);
  const int64_t begin = m.sim.now();
  EXPECT_EQ(m.sim.Copy(one, block, in, kBytes), Code::kOk);
  EXPECT_EQ(m.sim.Copy(two, out, other, kBytes), Code::kOk);
  m.Launch(three, Busy(100000));
  for (const Stream each : {one, two, three}) m.Sync(each);
  EXPECT_LT(m.sim.now() - begin, 112000);
  EXPECT_EQ(m.sim.Copy(one, block, in, kBytes), Code::kOk);
  EXPECT_EQ(m.sim.Copy(two, other, in, kBytes), Code::kOk);  // the same way: one at a time
  m.Sync(one);
  m.Sync(two);
  EXPECT_GT(m.sim.now() - begin, 300000);
  EXPECT_EQ(m.text(), "");
}

TEST_P(ClockTest, APageableCopyIsSlowerAndAPeerCopyFaster) {
  constexpr size_t kBytes = 1200000;
  Machine m(GetParam(), 2);
  const Stream one = m.stream();
  std::vector<unsigned char> pageable(kBytes);
  unsigned char *const block = m.block(kBytes), *const peer = m.block(kBytes, 1);
  int64_t begin = m.sim.now() + 1000;
  EXPECT_EQ(m.sim.Copy(one, block, pageable.data(), kBytes), Code::kOk);
  m.Sync(one);
  EXPECT_EQ(m.sim.now() - begin, 5000 + 200000);
  begin = m.sim.now() + 1000;
  EXPECT_EQ(m.sim.Copy(one, peer, block, kBytes), Code::kOk);
  m.Sync(one);
  EXPECT_EQ(m.sim.now() - begin, 5000 + 24000);
}

TEST_P(ClockTest, WaitsCarryTime) {
  Machine m(GetParam());
  const Stream one = m.stream(), two = m.stream();
  const Event event = m.event(), last = m.event();
  m.Launch(one, Busy(80000));
  m.Order(one, two, event);
  EXPECT_EQ(m.sim.EventRecord(last, two), Code::kOk);
  m.Sync(two);
  int64_t first = 0, at = 0;
  EXPECT_EQ(m.sim.EventTime(event, &first), Code::kOk);
  EXPECT_EQ(m.sim.EventTime(last, &at), Code::kOk);
  EXPECT_EQ(at, first);
  EXPECT_EQ(m.sim.EventTime(m.event(), &at), Code::kInvalid);  // never recorded
}

TEST_P(ClockTest, ALimitIsOfSimulatedTime) {
  Machine m(GetParam());
  const Stream one = m.stream();
  m.Launch(one, Busy(100000));
  EXPECT_EQ(m.sim.StreamSynchronize(one, 50000), Code::kNotReady);
  EXPECT_EQ(m.sim.now(), 2000 + 1000 + 50000);
  EXPECT_EQ(m.sim.StreamSynchronize(one, 60000), Code::kOk);
  EXPECT_EQ(m.sim.now(), 2000 + 2000 + 100000);
}

// A graph saves the host's calls and most of each launch.
TEST_P(ClockTest, ACapturedChainIsShorter) {
  Machine m(GetParam());
  const Stream one = m.stream();
  Graph graph = Graph::kNone;
  const int64_t begin = m.sim.now();
  for (int i = 0; i < 100; ++i) m.Launch(one, Busy(1000));
  m.Sync(one);
  EXPECT_EQ(m.sim.now() - begin, 1000 + 100 * 3000);
  EXPECT_EQ(m.sim.CaptureBegin(one), Code::kOk);
  for (int i = 0; i < 100; ++i) m.Launch(one, Busy(1000));
  EXPECT_EQ(m.sim.CaptureEnd(one, &graph), Code::kOk);
  const int64_t launch = m.sim.now();
  const uint64_t calls = m.sim.calls();
  EXPECT_EQ(m.sim.GraphLaunch(graph, one), Code::kOk);
  m.Sync(one);
  EXPECT_EQ(m.sim.now() - launch, 1000 + 2000 + 100 * 1500);
  EXPECT_EQ(m.sim.calls() - calls, 2u);
}

// What is called late may begin before what was called early and waits.
TEST_P(ClockTest, WorkTakesTheFirstGap) {
  Machine m(GetParam());
  const Stream one = m.stream(), two = m.stream(), three = m.stream();
  const Event event = m.event();
  unsigned char* const block = m.block(1200000);
  EXPECT_EQ(m.sim.Copy(one, block, m.pinned(1200000), 1200000), Code::kOk);
  m.Order(one, two, event);
  m.Launch(two, Busy(10000));  // behind the copy
  m.Launch(three, Busy(10000));
  m.Sync(three);
  EXPECT_LT(m.sim.now(), 30000);
}

}  // namespace
}  // namespace ge_engines::device::sim
