// The order in which each schedule runs work, and what it does to a program that forgot a wait.
#include <algorithm>

#include "plugins/device/sim/machine_testing.h"

namespace ge_engines::device::sim {
namespace {

// Stream one: "a1", "a2"; stream two: "b1", a wait for a1, "b2"; stream three: "c".
void Queue(Machine* m, Stream one, Stream two, Stream three) {
  const Event event = m->event();
  m->Launch(one, Machine::Reads("a1", {}));
  EXPECT_EQ(m->sim.EventRecord(event, one), Code::kOk);
  m->Launch(two, Machine::Reads("b1", {}));
  EXPECT_EQ(m->sim.StreamWait(two, event), Code::kOk);
  m->Launch(two, Machine::Reads("b2", {}));
  m->Launch(one, Machine::Reads("a2", {}));
  m->Launch(three, Machine::Reads("c", {}));
}

Names OrderOf(Schedule schedule, bool sync_two, uint64_t seed = 1) {
  SimulatorOptions options = Machine::Options(schedule);
  options.seed = seed;
  options.devices[0].kernels_at_once = 3;
  Machine m(options);
  const Stream one = m.stream(), two = m.stream(), three = m.stream();
  Queue(&m, one, two, three);
  if (sync_two) m.Sync(two);
  return m.sim.order();
}

TEST(Schedules, EagerRunsAtTheCall) {
  EXPECT_EQ(OrderOf(Schedule::kEager, false), (Names{"a1", "b1", "b2", "a2", "c"}));
}

TEST(Schedules, LazyRunsWhatAWaitNeedsAndNoMore) {
  EXPECT_EQ(OrderOf(Schedule::kLazy, false), Names{});
  EXPECT_EQ(OrderOf(Schedule::kLazy, true), (Names{"b1", "a1", "b2"}));
}

TEST(Schedules, AdversarialRunsWhatNobodyNeedsFirstAndProducersLast) {
  EXPECT_EQ(OrderOf(Schedule::kAdversarial, false), Names{});
  EXPECT_EQ(OrderOf(Schedule::kAdversarial, true), (Names{"c", "b1", "a1", "a2", "b2"}));
}

TEST(Schedules, SeededRunsAnyOrderThatTheEdgesAllow) {
  std::vector<Names> seen;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    const Names order = OrderOf(Schedule::kSeeded, true, seed);
    const auto at = [&](const char* name) { return std::find(order.begin(), order.end(), name); };
    ASSERT_LT(at("b1"), at("b2"));
    ASSERT_LT(at("a1"), at("b2"));
    ASSERT_TRUE(at("a2") == order.end() || at("a1") < at("a2"));
    if (order.size() == 5 && std::find(seen.begin(), seen.end(), order) == seen.end())
      seen.push_back(order);
    ASSERT_EQ(order, OrderOf(Schedule::kSeeded, true, seed));
  }
  // Linear orders of {a1 a2, b1 b2, c, a1 before b2}: 25.
  EXPECT_GE(seen.size(), 12u);
}

TEST(Schedules, TimedRunsWhenTheTimeHasCome) {
  Machine m(Schedule::kTimed);
  const Stream one = m.stream();
  m.Launch(one, Machine::Reads("a", {}));  // it ends 3,000 ns after its call
  EXPECT_EQ(m.sim.StreamQuery(one), Code::kNotReady);
  EXPECT_EQ(m.sim.order(), Names{});
  m.sim.HostWork(3000);
  EXPECT_EQ(m.sim.StreamQuery(one), Code::kOk);
  EXPECT_EQ(m.sim.order(), Names{"a"});
}

// Who polls comes to an end in every schedule.
TEST(Schedules, QueriesGoOnUntilTheWorkIsDone) {
  for (const Schedule schedule : kSchedules) {
    Machine m(schedule);
    const Stream one = m.stream(), two = m.stream(), three = m.stream();
    Queue(&m, one, two, three);
    int queries = 1;
    for (; m.sim.StreamQuery(two) == Code::kNotReady && queries < 100; ++queries) continue;
    EXPECT_EQ(m.sim.StreamQuery(two), Code::kOk) << queries;
    EXPECT_LT(queries, 20);
    EXPECT_EQ(schedule == Schedule::kLazy ? queries : 4, 4);
  }
}

// The consumer comes first where nothing holds it.
TEST(Schedules, AForgottenWaitShowsInTheBytes) {
  const auto seen = [](Schedule schedule) {
    Machine m(schedule);
    const Stream one = m.stream(), two = m.stream();
    unsigned char *const block = m.block(1), *const out = m.pinned(1);
    m.Launch(one, Machine::Writes("producer", {{block, 1}}, 5));
    EXPECT_EQ(m.sim.Copy(two, out, block, 1), Code::kOk);
    m.Sync(one);
    m.Sync(two);
    return out[0];
  };
  EXPECT_EQ(seen(Schedule::kEager), 5);
  EXPECT_EQ(seen(Schedule::kLazy), 5);
  EXPECT_EQ(seen(Schedule::kAdversarial), 0xFF);  // poison
}

// A pageable source: read at the call, or when the copy runs.
TEST(Schedules, APageableSourceIsReadAtTheCallOrLater) {
  bool early = false, late = false;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    SimulatorOptions options = Machine::Options(Schedule::kSeeded);
    options.seed = seed;
    Machine m(options);
    const Stream one = m.stream();
    unsigned char* const block = m.block(1);
    unsigned char source = 1, seen = 0;
    EXPECT_EQ(m.sim.Copy(one, block, &source, 1), Code::kOk);
    source = 2;
    EXPECT_EQ(m.sim.Copy(one, &seen, block, 1), Code::kOk);
    m.Sync(one);
    (seen == 1 ? early : late) = true;
  }
  EXPECT_TRUE(early && late);
}

}  // namespace
}  // namespace ge_engines::device::sim
