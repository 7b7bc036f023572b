// Each kind of race, found in every schedule, and its sound twin, which is not.
#include "plugins/device/sim/machine_testing.h"

namespace ge_engines::device::sim {
namespace {

class RaceTest : public testing::TestWithParam<Schedule> {};
INSTANTIATE_TEST_SUITE_P(All, RaceTest, testing::ValuesIn(kSchedules));

TEST_P(RaceTest, AReadWithoutAWaitForItsWrite) {
  for (const bool sound : {false, true}) {
    Machine m(GetParam());
    const Stream one = m.stream(), two = m.stream();
    const Event event = m.event();
    unsigned char* const block = m.block();
    m.Launch(one, Machine::Writes("producer", {{block, 16}}));
    if (sound) m.Order(one, two, event);
    m.Launch(two, Machine::Reads("consumer", {{block + 4, 8}}));
    EXPECT_EQ(m.text(),
              sound ? ""
                    : "race: write by 'producer' (call 5, stream 1) and read by 'consumer' "
                      "(call 6, stream 2), bytes [4, 12) of block 1 of sim 0; stream 2 must "
                      "wait for an event recorded on stream 1 behind 'producer'\n");
  }
}

TEST_P(RaceTest, AWriteOverWhatIsStillRead) {
  for (const bool sound : {false, true}) {
    Machine m(GetParam());
    const Stream one = m.stream(), two = m.stream();
    const Event event = m.event();
    unsigned char* const block = m.block();
    m.Launch(one, Machine::Writes("fill", {{block, 16}}));
    m.Order(one, two, event);
    m.Launch(one, Machine::Reads("reader", {{block, 8}}));
    m.Launch(two, Machine::Reads("other reader", {{block, 8}}));
    if (sound) m.Order(one, two, event);
    m.Launch(two, Machine::Writes("writer", {{block + 7, 2}}));
    EXPECT_EQ(m.faults(), sound ? Names{} : Names{"race"});
    if (sound) continue;
    const Report report = m.sim.reports()[0];
    EXPECT_EQ(report.first, "read by 'reader' (call 8, stream 1)");
    EXPECT_EQ(report.begin, 7u);
    EXPECT_EQ(report.end, 8u);
  }
}

TEST_P(RaceTest, TwoWritesAndNeighbours) {
  Machine m(GetParam());
  const Stream one = m.stream(), two = m.stream();
  unsigned char* const block = m.block();
  m.Launch(one, Machine::Writes("low", {{block, 8}}));
  m.Launch(two, Machine::Writes("high", {{block + 8, 8}}));  // they touch and do not meet
  EXPECT_EQ(m.faults(), Names{});
  m.Launch(one, Machine::Writes("across", {{block + 6, 4}}));
  EXPECT_EQ(m.faults(), Names{"race"});
  EXPECT_EQ(m.sim.reports()[0].begin, 8u);
  EXPECT_EQ(m.sim.reports()[0].end, 10u);
}

TEST_P(RaceTest, AWaitBeforeTheFirstRecordWaitsForNothing) {
  Machine m(GetParam());
  const Stream one = m.stream(), two = m.stream();
  const Event event = m.event();
  unsigned char* const block = m.block();
  EXPECT_EQ(m.sim.StreamWait(two, event), Code::kOk);
  m.Launch(one, Machine::Writes("producer", {{block, 16}}));
  EXPECT_EQ(m.sim.EventRecord(event, one), Code::kOk);
  m.Launch(two, Machine::Reads("consumer", {{block, 16}}));
  EXPECT_EQ(m.faults(), Names{"race"});
  EXPECT_EQ(m.sim.reports()[0].missing,
            "stream 2 must wait for an event recorded on stream 1 behind 'producer'; its wait for "
            "event 3 (call 5) came before the event's first record and waited for nothing");
}

TEST_P(RaceTest, AWaitMeansTheRecordBeforeIt) {
  for (const bool sound : {false, true}) {
    Machine m(GetParam());
    const Stream one = m.stream(), two = m.stream();
    const Event event = m.event();
    unsigned char* const block = m.block();
    EXPECT_EQ(m.sim.EventRecord(event, one), Code::kOk);
    if (!sound) {
      EXPECT_EQ(m.sim.StreamWait(two, event), Code::kOk);
    }
    m.Launch(one, Machine::Writes("producer", {{block, 16}}));
    EXPECT_EQ(m.sim.EventRecord(event, one), Code::kOk);  // it moves no wait that was called
    if (sound) {
      EXPECT_EQ(m.sim.StreamWait(two, event), Code::kOk);
    }
    m.Launch(two, Machine::Reads("consumer", {{block, 16}}));
    EXPECT_EQ(m.faults(), sound ? Names{} : Names{"race"});
  }
}

TEST_P(RaceTest, OrderGoesThroughOtherStreamsAndTheHost) {
  Machine m(GetParam(), 2);
  const Stream one = m.stream(), two = m.stream(), three = m.stream(1);
  const Event event = m.event(), next = m.event();
  unsigned char *const block = m.block(), *const peer = m.block(16, 1);
  m.Launch(one, Machine::Writes("producer", {{block, 16}}));
  m.Order(one, two, event);
  m.Order(two, three, next);
  EXPECT_EQ(m.sim.Copy(three, peer, block, 16, "peer copy"), Code::kOk);
  m.Sync(three);
  m.Launch(two, Machine::Writes("again", {{block, 16}}));
  m.Sync(two);
  m.Launch(one, Machine::Reads("reader", {{block, 16}}));
  EXPECT_EQ(m.text(), "");
}

TEST_P(RaceTest, APeerCopyThatNothingOrders) {
  Machine m(GetParam(), 2);
  const Stream one = m.stream(), other = m.stream(1);
  unsigned char *const block = m.block(), *const peer = m.block(16, 1);
  m.Launch(one, Machine::Writes("producer", {{block, 16}}));
  EXPECT_EQ(m.sim.Copy(other, peer, block, 16, "peer copy"), Code::kOk);
  EXPECT_EQ(m.faults(), Names{"race"});
}

TEST_P(RaceTest, TheHostReadsAResultTooEarly) {
  for (const bool sound : {false, true}) {
    Machine m(GetParam());
    const Stream one = m.stream();
    unsigned char *const block = m.block(), *const result = m.pinned();
    m.Launch(one, Machine::Writes("producer", {{block, 16}}));
    EXPECT_EQ(m.sim.Copy(one, result, block, 16, "out"), Code::kOk);
    if (sound) m.Sync(one);
    m.sim.HostRead(result, 16, "caller");
    EXPECT_EQ(m.text(), sound
                            ? ""
                            : "race: write by 'out' (call 5, stream 1) and read by 'caller' (host, "
                              "after call 5), bytes [0, 16) of pinned block 2; the host must wait "
                              "first for stream 1 behind 'out'\n");
  }
}

TEST_P(RaceTest, TheHostWritesASourceAgainTooEarly) {
  for (const bool pinned : {false, true}) {
    for (const bool sound : {false, true}) {
      Machine m(GetParam());
      const Stream one = m.stream();
      std::vector<unsigned char> pageable(16);
      unsigned char* const source = pinned ? m.pinned() : pageable.data();
      unsigned char* const block = m.block();
      m.sim.HostWrite(source, 16, "first");
      EXPECT_EQ(m.sim.Copy(one, block, source, 16, "in"), Code::kOk);
      if (sound) m.Sync(one);
      m.sim.HostWrite(source, 16, "second");
      EXPECT_EQ(m.faults(), sound ? Names{} : Names{"race"});
      if (!sound) m.Sync(one);  // before `pageable` goes
    }
  }
}

// A copy from pageable memory may read it at the call, where the stream's own order comes too late.
TEST_P(RaceTest, APageableSourceMustBeReadyAtTheCall) {
  for (const bool pinned : {false, true}) {
    for (const bool sound : {false, true}) {
      Machine m(GetParam());
      const Stream one = m.stream();
      std::vector<unsigned char> pageable(16);
      unsigned char* const between = pinned ? m.pinned() : pageable.data();
      unsigned char *const block = m.block(), *const next = m.block();
      m.Launch(one, Machine::Writes("producer", {{block, 16}}));
      EXPECT_EQ(m.sim.Copy(one, between, block, 16, "out"), Code::kOk);
      if (sound) m.Sync(one);
      EXPECT_EQ(m.sim.Copy(one, next, between, 16, "in"), Code::kOk);
      EXPECT_EQ(m.faults(), sound || pinned ? Names{} : Names{"race"});
      m.Sync(one);
    }
  }
}

TEST_P(RaceTest, BytesThatNobodyWrote) {
  Machine m(GetParam());
  const Stream one = m.stream();
  unsigned char* const block = m.block();
  m.Launch(one, Machine::Writes("low", {{block, 4}}));
  m.Launch(one, Machine::Writes("high", {{block + 10, 6}}));
  m.Launch(one, Machine::Reads("all", {{block, 16}}));
  EXPECT_EQ(
      m.text(),
      "read of bytes that nobody wrote: read by 'all' (call 5, stream 1), bytes [4, 10) of block "
      "1 of sim 0\n");
  std::vector<unsigned char> seen(16);
  EXPECT_EQ(m.sim.Copy(one, seen.data(), block, 16), Code::kOk);
  m.Sync(one);
  EXPECT_EQ(seen, (std::vector<unsigned char>{1, 1, 1, 1, 255, 255, 255, 255, 255, 255, 1, 1, 1, 1,
                                              1, 1}));
}

TEST_P(RaceTest, WorkAfterFree) {
  Machine m(GetParam());
  const Stream one = m.stream();
  unsigned char* const block = m.block();
  m.Launch(one, Machine::Writes("fill", {{block, 16}}));
  m.Sync(one);
  EXPECT_EQ(m.sim.Free(block), Code::kOk);
  EXPECT_EQ(m.text(), "");
  EXPECT_EQ(m.sim.Launch(one, Machine::Writes("late", {{block, 4}})), Code::kInvalid);
  EXPECT_EQ(m.sim.Copy(one, m.block(), block, 4, "late copy"), Code::kInvalid);
  EXPECT_EQ(m.faults(), (Names{"use after free", "use after free"}));
  EXPECT_EQ(m.sim.Free(block), Code::kInvalid);
  EXPECT_EQ(m.faults().back(), "destroyed twice");
}

TEST_P(RaceTest, AFreeWaitsForNothing) {
  Machine m(GetParam());
  const Stream one = m.stream();
  unsigned char* const block = m.block();
  m.Launch(one, Machine::Writes("fill", {{block, 16}}));
  EXPECT_EQ(m.sim.Free(block), Code::kOk);
  EXPECT_EQ(
      m.text(),
      "freed in flight: write by 'fill' (call 3, stream 1) and free (call 4), bytes [0, 16) of "
      "block 1 of sim 0; the host must wait first for stream 1 behind 'fill'\n");
  m.Sync(one);  // and the late work harms nobody
}

TEST_P(RaceTest, WhatIsDestroyedIsGone) {
  Machine m(GetParam());
  const Stream one = m.stream(), two = m.stream();
  const Event event = m.event();
  EXPECT_EQ(m.sim.StreamDestroy(one), Code::kOk);
  EXPECT_EQ(m.sim.EventDestroy(event), Code::kOk);
  EXPECT_EQ(m.faults(), Names{});
  EXPECT_EQ(m.sim.StreamDestroy(one), Code::kInvalid);
  EXPECT_EQ(m.sim.EventDestroy(event), Code::kInvalid);
  EXPECT_EQ(m.faults(), (Names{"destroyed twice", "destroyed twice"}));
  EXPECT_EQ(m.sim.Launch(one, Machine::Reads("late", {})), Code::kInvalid);
  EXPECT_EQ(m.sim.StreamWait(two, event), Code::kInvalid);
  EXPECT_EQ(m.sim.StreamQuery(static_cast<Stream>(99)), Code::kInvalid);
  EXPECT_EQ(m.faults().back(), "use of what was destroyed");
  EXPECT_EQ(m.faults().size(), 5u);
}

TEST_P(RaceTest, AStreamDestroyedWithWork) {
  Machine m(GetParam());
  const Stream one = m.stream();
  unsigned char* const block = m.block();
  m.Launch(one, Machine::Writes("fill", {{block, 16}}));
  EXPECT_EQ(m.sim.StreamDestroy(one), Code::kOk);
  EXPECT_EQ(m.faults(), Names{"destroyed in flight"});
  m.sim.Finish();
  EXPECT_EQ(m.sim.order(), Names{"fill"});  // it runs nevertheless
}

TEST_P(RaceTest, WrongMemoryAndBounds) {
  Machine m(GetParam(), 2);
  const Stream one = m.stream();
  unsigned char *const block = m.block(), *const other = m.block(16, 1);
  std::vector<unsigned char> pageable(16);
  EXPECT_EQ(m.sim.Launch(one, Machine::Writes("w", {{pageable.data(), 4}})), Code::kInvalid);
  EXPECT_EQ(m.sim.Launch(one, Machine::Writes("w", {{other, 4}})), Code::kInvalid);
  EXPECT_EQ(m.sim.Copy(one, pageable.data(), m.pinned(), 4), Code::kInvalid);
  m.sim.HostRead(block, 4);
  EXPECT_EQ(m.faults(), Names(4, "wrong memory"));
  EXPECT_EQ(m.sim.Launch(one, Machine::Writes("w", {{block + 10, 7}})), Code::kInvalid);
  EXPECT_EQ(m.sim.Launch(one, Machine::Writes("w", {{block + 16, 1}})), Code::kInvalid);
  EXPECT_EQ(m.faults().back(), "out of bounds");
  EXPECT_EQ(m.faults().size(), 6u);
  m.Launch(one, Machine::Writes("pinned", {{m.pinned(), 16}}));  // which all devices see
  EXPECT_EQ(m.faults().size(), 6u);
}

TEST_P(RaceTest, AKernelThatWritesBehindItsBlock) {
  Machine m(GetParam());
  const Stream one = m.stream();
  unsigned char* const block = m.block();
  Kernel kernel = Machine::Writes("liar", {{block, 16}});
  kernel.body = [block] {
    block[16] = 0;
    return true;
  };
  m.Launch(one, kernel);
  m.Sync(one);
  EXPECT_EQ(m.sim.Free(block), Code::kOk);
  EXPECT_EQ(m.faults(), Names{"out of bounds"});
}

TEST_P(RaceTest, AHostMemoryDeviceSeesEverything) {
  SimulatorOptions options = Machine::Options(GetParam());
  options.devices[0].own_memory = false;
  Machine m(options);
  const Stream one = m.stream();
  std::vector<unsigned char> pageable(16);
  unsigned char* const block = m.block();
  m.sim.HostWrite(block, 16);
  m.Launch(one, Machine::Reads("reader", {{block, 16}}));
  m.Launch(one, Machine::Writes("writer", {{pageable.data(), 16}}, 7));
  EXPECT_EQ(m.faults(), Names{});
  m.sim.HostRead(pageable.data(), 16);
  EXPECT_EQ(m.faults(), Names{"race"});
  m.Sync(one);
  m.sim.HostRead(pageable.data(), 16);
  EXPECT_EQ(m.faults(), Names{"race"});
  EXPECT_EQ(pageable[15], 7);
}

TEST_P(RaceTest, WhatIsLeftIsListed) {
  Machine m(GetParam());
  m.stream();
  m.event();
  m.block(32);
  m.pinned(8);
  const Stream one = m.stream();
  EXPECT_EQ(m.sim.StreamDestroy(one), Code::kOk);
  m.sim.Finish();
  EXPECT_EQ(m.text(),
            "leak: stream 1; nobody destroyed it\nleak: event 2; nobody destroyed it\n"
            "leak: block 1 of sim 0, 32 bytes; nobody destroyed it\n"
            "leak: pinned block 2, 8 bytes; nobody destroyed it\n");
}

}  // namespace
}  // namespace ge_engines::device::sim
