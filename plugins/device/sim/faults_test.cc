// Faults that tests plant: failing calls, late errors, lost devices, streams that never answer.
#include <cstring>

#include "plugins/device/sim/machine_testing.h"

namespace ge_engines::device::sim {
namespace {

TEST(Faults, TheKthCallOfAKindFailsAndDoesNothing) {
  for (const Code code : {Code::kOutOfMemory, Code::kFailed}) {
    Machine m;
    m.block();
    m.sim.FailCall(Call::kAlloc, 2, code);
    m.block();
    void* block = nullptr;
    EXPECT_EQ(m.sim.Alloc(0, 16, &block), code);
    EXPECT_EQ(block, nullptr);
    EXPECT_EQ(m.sim.device_bytes(0), 32u);
    m.block();  // that call alone
    EXPECT_EQ(m.sim.calls(Call::kAlloc), 4u);
    EXPECT_EQ(m.sim.calls(), 4u);
  }
}

TEST(Faults, TheKthCallOfAllFails) {
  Machine m;
  const Stream one = m.stream();
  m.sim.FailCall(Call::kCount, 2, Code::kFailed);
  m.Launch(one, Machine::Reads("good", {}));
  EXPECT_EQ(m.sim.Launch(one, Machine::Reads("bad", {})), Code::kFailed);
  m.Launch(one, Machine::Reads("next", {}));
  m.Sync(one);
  EXPECT_EQ(m.sim.order(), (Names{"good", "next"}));
}

TEST(Faults, ADestroyThatFailsDestroysNevertheless) {
  Machine m;
  const Stream one = m.stream();
  const Event event = m.event();
  unsigned char* const block = m.block();
  for (const Call call : {Call::kStreamDestroy, Call::kEventDestroy, Call::kFree})
    m.sim.FailCall(call, 1, Code::kFailed);
  EXPECT_EQ(m.sim.StreamDestroy(one), Code::kFailed);
  EXPECT_EQ(m.sim.EventDestroy(event), Code::kFailed);
  EXPECT_EQ(m.sim.Free(block), Code::kFailed);
  m.sim.Finish();
  EXPECT_EQ(m.text(), "");
}

TEST(Faults, TheMemoryLimit) {
  SimulatorOptions options = Machine::Options(Schedule::kEager);
  options.devices[0].bytes = 100;
  Machine m(options);
  unsigned char* const first = m.block(60);
  void* block = nullptr;
  EXPECT_EQ(m.sim.Alloc(0, 41, &block), Code::kOutOfMemory);
  m.block(40);
  size_t free_bytes = 1, total = 0;
  EXPECT_EQ(m.sim.MemoryInfo(0, &free_bytes, &total), Code::kOk);
  EXPECT_EQ(free_bytes, 0u);
  EXPECT_EQ(total, 100u);
  EXPECT_EQ(m.sim.Free(first), Code::kOk);
  m.block(60);
  EXPECT_EQ(m.sim.most_device_bytes(0), 100u);
}

TEST(Faults, ALateErrorShowsAtALaterCallAndStaysUntilReset) {
  Machine m(Schedule::kLazy);
  const Stream one = m.stream(), two = m.stream();
  const Event event = m.event();
  unsigned char* const block = m.block();
  m.sim.FailWork(2);
  m.Launch(one, Machine::Reads("first", {}));
  m.Launch(one, Machine::Writes("second", {{block, 16}}));
  m.Launch(one, Machine::Reads("third", {{block, 16}}));  // nothing shows yet
  EXPECT_EQ(m.sim.StreamSynchronize(one), Code::kFailed);
  EXPECT_EQ(m.sim.order(), Names{"first"});
  EXPECT_EQ(m.sim.Launch(two, Machine::Reads("other", {})), Code::kFailed);
  EXPECT_EQ(m.sim.EventRecord(event, two), Code::kFailed);
  EXPECT_EQ(m.sim.StreamQuery(two), Code::kFailed);
  void* more = nullptr;
  EXPECT_EQ(m.sim.Alloc(0, 16, &more), Code::kFailed);
  EXPECT_EQ(m.sim.Reset(0), Code::kOk);
  EXPECT_EQ(m.sim.device_bytes(0), 0u);
  EXPECT_EQ(m.faults(), Names{});
  // What was made before can be destroyed, once, and nothing else.
  EXPECT_EQ(m.sim.StreamQuery(one), Code::kInvalid);
  EXPECT_EQ(m.faults(), Names{"use of what was destroyed"});
  EXPECT_EQ(m.sim.StreamDestroy(one), Code::kOk);
  EXPECT_EQ(m.sim.EventDestroy(event), Code::kOk);
  EXPECT_EQ(m.sim.Free(block), Code::kOk);
  EXPECT_EQ(m.faults().size(), 1u);
  EXPECT_EQ(m.sim.StreamDestroy(one), Code::kInvalid);
  EXPECT_EQ(m.faults().back(), "destroyed twice");
  // And the device works again.
  const Stream fresh = m.stream();
  m.Launch(fresh, Machine::Writes("again", {{m.block(), 16}}));
  m.Sync(fresh);
  EXPECT_EQ(m.sim.order(), (Names{"first", "again"}));
}

TEST(Faults, ABodyThatFailsFailsTheDevice) {
  for (const Schedule schedule : kSchedules) {
    Machine m(schedule, 2);
    const Stream one = m.stream(), other = m.stream(1);
    Kernel kernel = Machine::Reads("bad", {});
    kernel.body = [] { return false; };
    m.Launch(one, kernel);
    EXPECT_EQ(m.sim.StreamSynchronize(one), Code::kFailed);
    m.Launch(other, Machine::Reads("elsewhere", {}));
    m.Sync(other);
  }
}

// All calls answer lost, what is made can be destroyed, and nothing is called a leak or a race.
TEST(Faults, ALostDevice) {
  for (const Schedule schedule : kSchedules) {
    Machine m(schedule, 2);
    const Stream one = m.stream(), other = m.stream(1);
    const Event event = m.event();
    unsigned char *const block = m.block(), *const kept = m.block(16, 1),
                         *const pinned = m.pinned();
    m.Launch(one, Machine::Writes("work", {{block, 16}}));
    EXPECT_EQ(m.sim.Copy(one, pinned, block, 16, "out"), Code::kOk);
    EXPECT_EQ(m.sim.EventRecord(event, one), Code::kOk);
    EXPECT_EQ(m.sim.StreamWait(other, event), Code::kOk);
    m.Launch(other, Machine::Writes("kept", {{kept, 16}}));
    m.sim.LoseDevice(0);
    EXPECT_EQ(m.sim.StreamSynchronize(one), Code::kDeviceLost);
    EXPECT_EQ(m.sim.EventQuery(event), Code::kDeviceLost);
    EXPECT_EQ(m.sim.Reset(0), Code::kDeviceLost);
    EXPECT_EQ(m.sim.Copy(other, kept, block, 16), Code::kDeviceLost);
    Stream none = Stream::kNone;
    EXPECT_EQ(m.sim.StreamCreate(0, &none), Code::kDeviceLost);
    m.sim.HostWrite(pinned, 16);
    m.Sync(other);
    EXPECT_EQ(m.sim.StreamDestroy(one), Code::kDeviceLost);
    EXPECT_EQ(m.sim.EventDestroy(event), Code::kDeviceLost);
    EXPECT_EQ(m.sim.Free(block), Code::kDeviceLost);
    EXPECT_EQ(m.sim.PinnedFree(pinned), Code::kOk);
    EXPECT_EQ(m.sim.Free(kept), Code::kOk);
    EXPECT_EQ(m.sim.StreamDestroy(other), Code::kOk);
    m.sim.Finish();
    EXPECT_EQ(m.text(), "");
  }
}

TEST(Faults, ACallOrAPieceOfWorkLosesTheDevice) {
  Machine m(Schedule::kLazy, 2);
  const Stream one = m.stream(), other = m.stream(1);
  m.sim.FailCall(Call::kLaunch, 1, Code::kDeviceLost);
  EXPECT_EQ(m.sim.Launch(one, Machine::Reads("a", {})), Code::kDeviceLost);
  EXPECT_EQ(m.sim.StreamQuery(one), Code::kDeviceLost);
  m.sim.FailWork(1, Code::kDeviceLost);
  m.Launch(other, Machine::Reads("b", {}));
  EXPECT_EQ(m.sim.StreamSynchronize(other), Code::kDeviceLost);
  EXPECT_EQ(m.sim.order(), Names{});
}

TEST(Faults, AStreamThatNeverAnswers) {
  for (const Schedule schedule : kSchedules) {
    for (const bool by_work : {false, true}) {
      Machine m(schedule);
      const Stream one = m.stream(), two = m.stream();
      const Event event = m.event();
      if (by_work)
        m.sim.StallWork(1);
      else
        m.sim.StallStream(one);
      m.Launch(one, Machine::Reads("never", {}));
      EXPECT_EQ(m.sim.EventRecord(event, one), Code::kOk);
      for (int i = 0; i < 100; ++i) ASSERT_EQ(m.sim.EventQuery(event), Code::kNotReady);
      const int64_t before = m.sim.now();
      EXPECT_EQ(m.sim.StreamSynchronize(one, 5000000), Code::kNotReady);
      EXPECT_EQ(m.sim.now(), before + 5000000 + 1000);
      m.Launch(two, Machine::Reads("free", {}));
      m.Sync(two);
      EXPECT_EQ(m.sim.StreamWait(two, event), Code::kOk);
      m.Launch(two, Machine::Reads("held", {}));
      EXPECT_EQ(m.sim.StreamSynchronize(two, 1000000), Code::kNotReady);
      EXPECT_EQ(m.sim.order(), Names{"free"});
      EXPECT_EQ(m.faults(), Names{});
      EXPECT_EQ(m.sim.StreamSynchronize(two), Code::kNotReady);  // it would hang
      EXPECT_EQ(m.faults(), Names{"endless wait"});
      for (const Stream each : {one, two}) EXPECT_EQ(m.sim.StreamDestroy(each), Code::kOk);
      EXPECT_EQ(m.sim.EventDestroy(event), Code::kOk);
      m.sim.Finish();
      EXPECT_EQ(m.sim.reports().size(), 1u) << m.text();
    }
  }
}

TEST(Faults, AHookSeesEachCall) {
  Machine m;
  Names seen;
  m.sim.OnCall([&](Call call, uint64_t number) {
    seen.push_back(std::to_string(number) + " " + CallName(call));
  });
  const Stream one = m.stream();
  m.Sync(one);
  m.sim.OnCall(nullptr);
  m.block();
  EXPECT_EQ(seen, (Names{"1 stream create", "2 stream synchronize"}));
}

// Every position of a small run, each code: it ends, and nothing leaks, races or is used wrongly.
TEST(Faults, EveryPositionOfARun) {
  for (const Code code : {Code::kOutOfMemory, Code::kFailed, Code::kDeviceLost}) {
    for (uint64_t k = 1; k < 16; ++k) {
      Machine m(Schedule::kAdversarial);
      Stream stream = Stream::kNone;
      Event event = Event::kNone;
      void* block = nullptr;
      unsigned char in[16] = {}, out[16] = {};
      m.sim.FailCall(Call::kCount, k, code);
      bool good = m.sim.StreamCreate(0, &stream) == Code::kOk;
      good = good && m.sim.EventCreate(0, &event) == Code::kOk;
      good = good && m.sim.Alloc(0, 16, &block) == Code::kOk;
      good = good && m.sim.Copy(stream, block, in, 16) == Code::kOk;
      good = good && m.sim.Fill(stream, block, 3, 16) == Code::kOk;
      good = good && m.sim.Copy(stream, out, block, 16) == Code::kOk;
      good = good && m.sim.EventRecord(event, stream) == Code::kOk;
      good = good && m.sim.EventSynchronize(event) == Code::kOk;
      if (!good && stream != Stream::kNone && m.sim.StreamSynchronize(stream) != Code::kOk) {
        EXPECT_EQ(code, Code::kDeviceLost);
      }
      if (block != nullptr) m.sim.Free(block);
      if (event != Event::kNone) m.sim.EventDestroy(event);
      if (stream != Stream::kNone) m.sim.StreamDestroy(stream);
      m.sim.Finish();
      EXPECT_EQ(m.text(), "") << k << " " << CodeName(code);
      EXPECT_EQ(out[15], good ? 3 : out[15]);
      EXPECT_EQ(good, k > 8) << k;
    }
  }
}

}  // namespace
}  // namespace ge_engines::device::sim
