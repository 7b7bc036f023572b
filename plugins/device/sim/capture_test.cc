// Captures: what they keep, what spoils them, and races inside and between launches.
#include "plugins/device/sim/machine_testing.h"

namespace ge_engines::device::sim {
namespace {

class CaptureTest : public testing::TestWithParam<Schedule> {};
INSTANTIATE_TEST_SUITE_P(All, CaptureTest, testing::ValuesIn(kSchedules));

// "a" on one; "b" on two; "c" on one behind both, if it is joined.
Graph Forked(Machine* m, Stream one, Stream two, unsigned char* block, bool ordered) {
  const Event fork = m->event(), join = m->event();
  Graph graph = Graph::kNone;
  EXPECT_EQ(m->sim.CaptureBegin(one), Code::kOk);
  if (!ordered) m->Order(one, two, fork);
  m->Launch(one, Machine::Writes("a", {{block, 8}}, 1));
  if (ordered) m->Order(one, two, fork);
  m->Launch(two, Machine::Writes("b", {{block + 4, 8}}, 2));
  m->Order(two, one, join);
  m->Launch(one, Machine::Writes("c", {{block, 2}}, 3));
  EXPECT_EQ(m->sim.CaptureEnd(one, &graph), Code::kOk);
  return graph;
}

TEST_P(CaptureTest, NothingRunsUntilTheLaunch) {
  Machine m(GetParam());
  const Stream one = m.stream(), two = m.stream();
  unsigned char* const block = m.block();
  const Graph graph = Forked(&m, one, two, block, true);
  m.Sync(one);
  EXPECT_EQ(m.sim.order(), Names{});
  for (int i = 0; i < 2; ++i) EXPECT_EQ(m.sim.GraphLaunch(graph, one), Code::kOk);
  const uint64_t calls = m.sim.calls(Call::kLaunch);
  m.Sync(one);
  EXPECT_EQ(m.sim.order(), (Names{"a", "b", "c", "a", "b", "c"}));
  EXPECT_EQ(m.sim.calls(Call::kLaunch), calls);
  EXPECT_EQ(block[0], 3);
  EXPECT_EQ(block[4], 2);
  EXPECT_EQ(m.sim.GraphDestroy(graph), Code::kOk);
  EXPECT_EQ(m.text(), "");
}

TEST_P(CaptureTest, BranchesThatNothingOrdersRace) {
  Machine m(GetParam());
  const Stream one = m.stream(), two = m.stream();
  const Graph graph = Forked(&m, one, two, m.block(), false);
  EXPECT_EQ(m.faults(), Names{});
  EXPECT_EQ(m.sim.GraphLaunch(graph, one), Code::kOk);
  EXPECT_EQ(
      m.text(),
      "race: write by 'a' (call 15, graph 5 on stream 1) and write by 'b' (call 15, graph 5 on "
      "stream 1), bytes [4, 8) of block 1 of sim 0; no wait inside the graph orders them\n");
}

TEST_P(CaptureTest, WorkAroundALaunchIsOrderedByItsStreamAlone) {
  for (const bool sound : {false, true}) {
    Machine m(GetParam());
    const Stream one = m.stream(), two = m.stream(), three = m.stream();
    const Event event = m.event();
    unsigned char* const block = m.block();
    const Graph graph = Forked(&m, one, two, block, true);
    m.Launch(one, Machine::Writes("before", {{block, 16}}));
    EXPECT_EQ(m.sim.GraphLaunch(graph, one), Code::kOk);
    m.Launch(one, Machine::Reads("after", {{block, 16}}));
    EXPECT_EQ(m.faults(), Names{});
    if (sound) m.Order(one, three, event);
    m.Launch(three, Machine::Reads("beside", {{block + 8, 1}}));
    EXPECT_EQ(m.faults(), sound ? Names{} : Names{"race"});
  }
}

TEST_P(CaptureTest, ALaunchWhileTheFormerIsInFlight) {
  for (const bool sound : {false, true}) {
    Machine m(GetParam());
    const Stream one = m.stream(), two = m.stream(), three = m.stream();
    const Graph graph = Forked(&m, one, two, m.block(), true);
    EXPECT_EQ(m.sim.GraphLaunch(graph, one), Code::kOk);
    if (sound) m.Sync(one);
    EXPECT_EQ(m.sim.GraphLaunch(graph, three), Code::kOk);
    EXPECT_EQ(m.faults().empty(), sound);
    if (!sound) {
      EXPECT_EQ(m.faults().at(0), "graph in flight");
      continue;
    }
    EXPECT_EQ(m.sim.GraphDestroy(graph), Code::kOk);
    EXPECT_EQ(m.faults(), Names{"destroyed in flight"});
    EXPECT_EQ(m.sim.GraphLaunch(graph, three), Code::kInvalid);
    EXPECT_EQ(m.sim.GraphDestroy(graph), Code::kInvalid);
    EXPECT_EQ(m.faults(),
              (Names{"destroyed in flight", "use of what was destroyed", "destroyed twice"}));
  }
}

TEST_P(CaptureTest, ALaunchAfterItsBlockIsFreed) {
  Machine m(GetParam());
  const Stream one = m.stream(), two = m.stream();
  unsigned char* const block = m.block();
  const Graph graph = Forked(&m, one, two, block, true);
  EXPECT_EQ(m.sim.Free(block), Code::kOk);
  EXPECT_EQ(m.sim.GraphLaunch(graph, one), Code::kInvalid);
  EXPECT_EQ(m.faults(), Names{"use after free"});
  m.Sync(one);
  EXPECT_EQ(m.sim.order(), Names{});
}

// Each spoils the capture; its end gives no graph and leaves the stream usable.
TEST_P(CaptureTest, WhatACaptureRefuses) {
  for (int what = 0; what < 10; ++what) {
    Machine m(GetParam());
    const Stream one = m.stream(), two = m.stream();
    const Event inside = m.event(), outside = m.event();
    unsigned char* const block = m.block();
    m.Launch(two, Machine::Reads("outside", {}));
    EXPECT_EQ(m.sim.EventRecord(outside, two), Code::kOk);
    m.Sync(two);
    EXPECT_EQ(m.sim.CaptureBegin(one), Code::kOk);
    m.Launch(one, Machine::Reads("inside", {}));
    EXPECT_EQ(m.sim.EventRecord(inside, one), Code::kOk);
    void* made = nullptr;
    Code code = Code::kOk;
    if (what == 0) code = m.sim.StreamSynchronize(one);
    if (what == 1) code = m.sim.StreamQuery(one);
    if (what == 2) code = m.sim.EventSynchronize(inside);
    if (what == 3) code = m.sim.EventQuery(inside);
    if (what == 4) code = m.sim.Alloc(0, 8, &made);
    if (what == 5) code = m.sim.Free(block);
    if (what == 6) code = m.sim.PinnedAlloc(8, &made);
    if (what == 7) code = m.sim.StreamWait(one, outside);
    if (what == 8) code = m.sim.CaptureBegin(one);
    if (what == 9) {  // forked and not joined
      EXPECT_EQ(m.sim.StreamWait(two, inside), Code::kOk);
      m.Launch(two, Machine::Reads("lost", {}));
      code = Code::kCapture;
    }
    EXPECT_EQ(code, Code::kCapture) << what;
    Graph graph = Graph::kNone;
    EXPECT_EQ(m.sim.CaptureEnd(one, &graph), Code::kCapture) << what;
    EXPECT_EQ(graph, Graph::kNone);
    EXPECT_EQ(m.faults(), Names{"capture"}) << what;
    for (const Stream each : {one, two}) {
      m.Launch(each, Machine::Reads("next", {}));
      m.Sync(each);
    }
    EXPECT_EQ(m.sim.order(), (Names{"outside", "next", "next"}));
    EXPECT_EQ(m.sim.CaptureEnd(one, &graph), Code::kCapture);  // none runs
  }
}

TEST_P(CaptureTest, AnEventOfAnEndedCaptureIsNoRecord) {
  Machine m(GetParam());
  const Stream one = m.stream(), two = m.stream();
  const Event event = m.event();
  Graph graph = Graph::kNone;
  EXPECT_EQ(m.sim.CaptureBegin(one), Code::kOk);
  m.Launch(one, Machine::Reads("inside", {}));
  EXPECT_EQ(m.sim.EventRecord(event, one), Code::kOk);
  EXPECT_EQ(m.sim.CaptureEnd(one, &graph), Code::kOk);
  EXPECT_EQ(m.sim.StreamWait(two, event), Code::kCapture);
  EXPECT_EQ(m.sim.EventQuery(event), Code::kCapture);
  EXPECT_EQ(m.faults(), (Names{"capture", "capture"}));
  EXPECT_EQ(m.sim.EventRecord(event, one), Code::kOk);
  EXPECT_EQ(m.sim.StreamWait(two, event), Code::kOk);
}

TEST_P(CaptureTest, ALostDeviceEndsItsCaptures) {
  Machine m(GetParam());
  const Stream one = m.stream();
  Graph graph = Graph::kNone;
  EXPECT_EQ(m.sim.CaptureBegin(one), Code::kOk);
  m.Launch(one, Machine::Reads("inside", {}));
  m.sim.LoseDevice(0);
  EXPECT_EQ(m.sim.CaptureEnd(one, &graph), Code::kDeviceLost);
  m.pinned();  // no capture is in the way
  EXPECT_EQ(m.text(), "");
}

TEST_P(CaptureTest, AnEndThatFailsEndsItToo) {
  Machine m(GetParam());
  const Stream one = m.stream();
  Graph graph = Graph::kNone;
  EXPECT_EQ(m.sim.CaptureBegin(one), Code::kOk);
  m.sim.FailCall(Call::kCaptureEnd, 1, Code::kFailed);
  EXPECT_EQ(m.sim.CaptureEnd(one, &graph), Code::kFailed);
  m.block();
  m.Launch(one, Machine::Reads("next", {}));
  m.Sync(one);
  EXPECT_EQ(m.sim.order(), Names{"next"});
}

}  // namespace
}  // namespace ge_engines::device::sim
