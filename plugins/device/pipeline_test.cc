// What the host does with an asynchronous device, on the simulator: results, order, faults.
#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "plugins/device/pipeline_testing.h"

namespace ge_engines::device {
namespace {

const std::vector<std::string> kSchedules = {
    "eager", "lazy", "adversarial", "timed", "seeded;seed=1", "seeded;seed=2", "seeded;seed=3"};

std::string Texts(const std::vector<sim::Report>& reports) {
  std::string out;
  for (const sim::Report& r : reports) out += r.text() + "\n";
  return out;
}

TEST(Pipeline, IsRightAndSilentUnderEverySchedule) {
  for (const std::string& schedule : kSchedules) {
    Machine m("device=all;schedule=" + schedule);
    ASSERT_TRUE(m.ok()) << m.engine().error();
    {
      Pipeline p(&m);
      EXPECT_EQ(p.All(), GE_OK) << schedule << ": " << p.text();
      EXPECT_EQ(p.All(), GE_OK) << schedule << ": " << p.text();
    }
    EXPECT_EQ(m.host().TakeComplaints(), std::vector<std::string>());
    EXPECT_EQ(Texts(m.End()), "") << schedule;
  }
}

// Two hundred orders of the same calls.
TEST(Pipeline, IsRightAndSilentInManyOrders) {
  for (int seed = 1; seed <= 200; ++seed) {
    Machine m("device=all;schedule=seeded;seed=" + std::to_string(seed));
    {
      Pipeline p(&m);
      ASSERT_EQ(p.Rounds(5), GE_OK) << seed << ": " << p.text();
      ASSERT_EQ(p.Captured(2), GE_OK) << seed << ": " << p.text();
    }
    ASSERT_EQ(Texts(m.End()), "") << seed;
  }
}

// ---- blocks ------------------------------------------------------------------------------------

// A device that wants its blocks further apart than its driver puts them.
class Coarse final : public ForwardingDriver {
 public:
  using ForwardingDriver::ForwardingDriver;
  static constexpr uint32_t kAlign = 4096;
  Result Describe(int device, DeviceFacts* facts) override {
    const Result r = to_->Describe(device, facts);
    facts->block_align = kAlign;
    return r;
  }
};

TEST(Blocks, LieWholeWhereTheirDomainWantsThem) {
  Machine m("", [](std::unique_ptr<Driver> to) { return std::make_unique<Coarse>(std::move(to)); });
  ASSERT_TRUE(m.ok()) << m.engine().error();
  for (uint64_t bytes = 1; bytes < 3 * Coarse::kAlign; bytes += 1111) {
    const Block device(m, 0, 0, bytes), pinned(m, 0, 1, bytes);
    ASSERT_EQ(device.rc(), GE_OK);
    ASSERT_EQ(pinned.rc(), GE_OK);
    for (const Block* block : {&device, &pinned}) {
      EXPECT_EQ(reinterpret_cast<uintptr_t>(block->floats()) % Coarse::kAlign, 0u) << bytes;
    }
    m.simulator().HostWrite(pinned.floats(), bytes, "test");
    EXPECT_EQ(Texts(m.simulator().TakeReports()), "") << bytes;
  }
}

// ---- timelines ---------------------------------------------------------------------------------

struct Two {
  explicit Two(Machine* m) : engine(m->engine()), event(engine, 0), stream(engine, 0) {}
  mock::Engine& engine;
  mock::Event event;
  mock::Stream stream;
};

TEST(Timeline, CountsUpAndPassesWhatItHasReached) {
  Machine m("schedule=lazy");
  Two t(&m);
  EXPECT_EQ(t.event.Wait(0, 0), GE_OK);
  EXPECT_EQ(t.event.Wait(1, 1000000), GE_PENDING);
  EXPECT_EQ(t.stream.Wait(t.event, 1), GE_FAILED_PRECONDITION);
  EXPECT_NE(t.stream.error().find("call the signal first"), std::string::npos);
  for (uint64_t v : {3, 4, 900}) EXPECT_EQ(t.stream.Signal(t.event, v), GE_OK);
  EXPECT_EQ(t.stream.Signal(t.event, 900), GE_INVALID_ARGUMENT);
  EXPECT_EQ(t.stream.Wait(t.event, 7), GE_OK);
  EXPECT_EQ(t.event.Wait(4, UINT64_MAX), GE_OK);
  EXPECT_EQ(t.event.Wait(900, UINT64_MAX), GE_OK);
  EXPECT_EQ(t.event.Wait(901, 0), GE_PENDING);
}

// A timeline of a thousand signals has as many binary events as are in flight.
TEST(Timeline, RecordsBinaryEventsAgainOnceTheyHavePassed) {
  Machine m;
  {
    Two t(&m);
    for (uint64_t v = 1; v <= 1000; ++v) ASSERT_EQ(t.stream.Signal(t.event, v), GE_OK);
    EXPECT_EQ(t.event.Wait(1000, UINT64_MAX), GE_OK);
  }
  EXPECT_LE(m.simulator().calls(sim::Call::kEventCreate), 2u);
}

TEST(Timeline, SignalsOfAnotherDevicesStreamAreRefused) {
  Machine m("device=all");
  mock::Event event(m.engine(), 0);
  mock::Stream other(m.engine(), 1);
  EXPECT_EQ(other.Signal(event, 1), GE_INVALID_ARGUMENT);
}

// ---- memory and options ------------------------------------------------------------------------

TEST(Memory, ObeysTheLimitAndSaysWhatIsLeft) {
  Machine m("memory=10000");
  ASSERT_TRUE(m.ok());
  Block first(m, 0, 0, 6000);
  ASSERT_EQ(first.rc(), GE_OK);
  ge_err err = {};
  err.h = GE_HDR(ge_err, GE_TAG_ERR);
  ge_mem* mem = nullptr;
  void* address = nullptr;
  EXPECT_EQ(m.engine().api().mem_alloc(m.engine().handle(), 0, 0, 6000, 64, &mem, &address, &err),
            GE_OUT_OF_MEMORY);
  const std::string text(err.msg, err.msg_len);
  EXPECT_NE(text.find("6144 bytes are wanted, 3856 of 10000 are left"), std::string::npos) << text;
  EXPECT_EQ(err.scope, uint32_t{GE_SCOPE_CALL});
  EXPECT_EQ(Block(m, 0, 0, 3000).rc(), GE_OK);
  EXPECT_EQ(Block(m, 0, 0, 3000).rc(), GE_OK);  // the one before is free again
  EXPECT_EQ(Block(m, 0, 1, 6000).rc(), GE_OK);  // pinned memory is the host's
}

TEST(Memory, AlignsBeyondTheDriversOwn) {
  Machine m;
  ge_mem* mem = nullptr;
  void* address = nullptr;
  const ge_engine_api& api = m.engine().api();
  ASSERT_EQ(api.mem_alloc(m.engine().handle(), 0, 0, 100, 65536, &mem, &address, nullptr), GE_OK);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(address) % 65536, 0u);
  api.mem_free(m.engine().handle(), mem);
  EXPECT_EQ(api.mem_alloc(m.engine().handle(), 0, 0, 100, 48, &mem, &address, nullptr),
            GE_INVALID_ARGUMENT);
}

TEST(Options, NameDevices) {
  EXPECT_EQ(Machine("").engine().devices().size(), 1u);
  EXPECT_EQ(Machine("device=1").engine().devices()[0].name, "sim:1");
  EXPECT_EQ(Machine("devices=3;device=2+0").engine().devices()[1].name, "sim:0");
  EXPECT_EQ(Machine("devices=3;device=all").engine().devices().size(), 3u);
  EXPECT_EQ(Machine("device=1+1").engine().created(), GE_INVALID_ARGUMENT);
  EXPECT_EQ(Machine("device=x").engine().created(), GE_INVALID_ARGUMENT);
  EXPECT_EQ(Machine("memory=0").engine().created(), GE_INVALID_ARGUMENT);
  Machine none("devices=0");
  EXPECT_EQ(none.engine().created(), GE_UNAVAILABLE);
  EXPECT_EQ(none.engine().error(), "simdev: the machine has no such device");
  Machine far("device=7");
  EXPECT_EQ(far.engine().created(), GE_UNAVAILABLE);
  EXPECT_NE(far.engine().error().find("the machine has 2"), std::string::npos);
}

// A process that only asks what there is opens nothing.
TEST(Options, DevicesAreOpenedAtTheirFirstUse) {
  class Counting final : public ForwardingDriver {
   public:
    Counting(std::unique_ptr<Driver> to, int* opened)
        : ForwardingDriver(std::move(to)), opened_(opened) {}
    Result Open(int d) override { return ++*opened_, to_->Open(d); }

   private:
    int* opened_;
  };
  int opened = 0;
  Machine m("device=all", [&](std::unique_ptr<Driver> to) {
    return std::make_unique<Counting>(std::move(to), &opened);
  });
  mock::Graph g;
  g.Output(g.Op1("Relu", {g.Input(GE_F32, {3})}, {GE_F32, {3}}));
  EXPECT_EQ(m.engine().Query(g).offers.size(), 2u);
  EXPECT_EQ(opened, 0);
  EXPECT_EQ(Block(m, 0, 0, 10).rc(), GE_OK);
  EXPECT_EQ(Block(m, 0, 0, 10).rc(), GE_OK);
  EXPECT_EQ(opened, 1);
}

// ---- faults ------------------------------------------------------------------------------------

const sim::Code kFaults[] = {sim::Code::kOutOfMemory, sim::Code::kInvalid, sim::Code::kFailed,
                             sim::Code::kDeviceLost};

// `lost`: a device may still run what a host that gave it up frees.
std::vector<sim::Report> NotOfTheFault(const std::vector<sim::Report>& reports, bool lost) {
  std::vector<sim::Report> out;
  for (const sim::Report& r : reports) {
    const bool late = r.fault == sim::Fault::kFreeInFlight ||
                      r.fault == sim::Fault::kDestroyInFlight ||
                      r.fault == sim::Fault::kUseAfterFree;
    // A capture that a fault cut short is ended before its streams are joined.
    const bool apart = r.fault == sim::Fault::kCapture && r.first.empty() &&
                       r.second.find("end of a capture") != std::string::npos;
    if (!(lost && late) && !apart) out.push_back(r);
  }
  return out;
}

// Every driver call of the pipeline answers each failure once: a code and a sentence of the
// engine's come out, nothing is left behind, and after failures of a call alone the same engine
// goes on.
TEST(Faults, OfEveryDriverCallAreNamedAndLeaveNothing) {
  uint64_t calls = 0;
  {
    Machine m("device=all;strict=0");
    Pipeline p(&m);
    ASSERT_EQ(p.All(), GE_OK) << p.text();
    calls = m.simulator().calls();
  }
  std::set<ge_rc> codes;
  for (const sim::Code code : kFaults) {
    for (uint64_t k = 1; k <= calls; ++k) {
      Machine m("device=all;strict=0;timeout_ms=300");
      m.simulator().FailCall(sim::Call::kCount, k, code);
      const std::string where = "call " + std::to_string(k) + " answers " + sim::CodeName(code);
      {
        Pipeline p(&m);
        const ge_rc rc = p.All();
        codes.insert(rc);
        EXPECT_NE(rc, GE_DATA_LOSS) << where << ": " << p.text();
        if (rc != GE_OK) {
          EXPECT_NE(p.text(), "") << where;
        }
        const bool sticks = code == sim::Code::kFailed || code == sim::Code::kDeviceLost;
        if (rc != GE_OK && !sticks) {
          Pipeline again(&m);
          EXPECT_EQ(again.All(), GE_OK) << where << ", then: " << again.text();
        }
        if (rc != GE_OK && sticks && p.error().code != 0) {
          EXPECT_EQ(p.error().scope, uint32_t{GE_SCOPE_DEVICE}) << where << ": " << p.text();
        }
      }
      const bool lost = code == sim::Code::kFailed || code == sim::Code::kDeviceLost;
      EXPECT_EQ(Texts(NotOfTheFault(m.End(), lost)), "") << where;
    }
  }
  const std::set<ge_rc> wanted = {GE_OK, GE_OUT_OF_MEMORY, GE_INTERNAL, GE_DEVICE_LOST};
  EXPECT_EQ(codes, wanted);
}

constexpr uint64_t kFirstWork = 3;  // two copies before bring a pack's bytes: the mock host's own

// Work that fails when it runs shows at a later call, with the device's scope, and for good.
TEST(Faults, OfWorkPoisonTheDevice) {
  for (const sim::Code code : {sim::Code::kFailed, sim::Code::kDeviceLost}) {
    for (uint64_t k = kFirstWork; k <= 14; ++k) {
      Machine m("device=all;strict=0;schedule=lazy");
      m.simulator().FailWork(k, code);
      Pipeline p(&m);
      const ge_rc rc = p.All();
      EXPECT_EQ(rc, code == sim::Code::kFailed ? GE_INTERNAL : GE_DEVICE_LOST) << k << p.text();
      EXPECT_EQ(p.error().scope, uint32_t{GE_SCOPE_DEVICE}) << p.text();
      // For good: one of the two devices gives no block any more.
      EXPECT_FALSE(Block(m, 0, 0, 10).rc() == GE_OK && Block(m, 1, 0, 10).rc() == GE_OK) << k;
    }
  }
}

// A device that never answers: the host's waits end in time, and its own copies by the limit.
TEST(Faults, OfASilentDeviceEndInTime) {
  for (uint64_t k = kFirstWork; k <= 14; ++k) {
    Machine m("device=all;strict=0;timeout_ms=50;schedule=lazy");
    m.simulator().StallWork(k);
    const auto start = std::chrono::steady_clock::now();
    {
      Pipeline p(&m, 50'000'000);
      const ge_rc rc = p.All();
      EXPECT_TRUE(rc == GE_PENDING || rc == GE_DEVICE_LOST) << k << ": " << rc << p.text();
    }
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1)) << k;
    EXPECT_EQ(Texts(NotOfTheFault(m.End(), true)), "") << k;
  }
}

// ---- captures ----------------------------------------------------------------------------------

TEST(Capture, RefusesWorkThatWouldNotBeRecorded) {
  Machine m;
  Two t(&m);
  mock::Stream second(m.engine(), 0);
  const ge_engine_api& api = m.engine().api();
  ge_stream* const streams[] = {t.stream.get(), second.get()};
  ASSERT_EQ(api.capture_begin(m.engine().handle(), streams, 2, nullptr), GE_OK);
  EXPECT_EQ(api.capture_begin(m.engine().handle(), streams, 1, nullptr), GE_FAILED_PRECONDITION);
  EXPECT_EQ(second.Signal(t.event, 1), GE_FAILED_PRECONDITION);  // before it waited for the origin
  ge_capture* capture = nullptr;
  EXPECT_EQ(api.capture_end(m.engine().handle(), &capture, nullptr), GE_FAILED_PRECONDITION);
  EXPECT_EQ(capture, nullptr);
  EXPECT_EQ(api.capture_end(m.engine().handle(), &capture, nullptr), GE_FAILED_PRECONDITION);
  // The streams are free again, and the timeline has not moved.
  EXPECT_EQ(second.Signal(t.event, 1), GE_OK);
  EXPECT_EQ(t.event.Wait(1, UINT64_MAX), GE_OK);
}

TEST(Capture, ValuesInsideStayInside) {
  Machine m;
  Two t(&m);
  const ge_engine_api& api = m.engine().api();
  ge_stream* const streams[] = {t.stream.get()};
  ASSERT_EQ(api.capture_begin(m.engine().handle(), streams, 1, nullptr), GE_OK);
  EXPECT_EQ(t.stream.Signal(t.event, 5), GE_OK);
  EXPECT_EQ(t.stream.Wait(t.event, 5), GE_OK);
  ge_capture* capture = nullptr;
  ASSERT_EQ(api.capture_end(m.engine().handle(), &capture, nullptr), GE_OK);
  EXPECT_EQ(api.capture_launch(capture, t.stream.get(), nullptr), GE_OK);
  EXPECT_EQ(t.event.Wait(1, 0), GE_PENDING);
  EXPECT_EQ(t.stream.Signal(t.event, 1), GE_OK);
  EXPECT_EQ(t.event.Wait(1, UINT64_MAX), GE_OK);
  api.capture_destroy(capture);
}

}  // namespace
}  // namespace ge_engines::device
