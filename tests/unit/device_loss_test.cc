// Sessions on simulated devices that fail late, are lost, or never answer: results are those of the
// engines that are left, or the run is refused by name and the next one is right.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <thread>

#include "ge/base/clock.h"
#include "ge/compile/compiled/kept_run.h"
#include "ge/session/observation.h"
#include "tests/unit/graph_session.h"
#include "tests/unit/random_graph.h"
#include "tests/unit/simulated.h"
#include "tests/unit/trained.h"

namespace ge::test {
namespace {

// Each test opens its own engine, by a delay seed of its own: a lost device stays lost for all that
// share it.
std::string Lossy(const std::string& faults, const std::string& more = "") {
  static std::atomic<uint64_t> number{0};
  return "ref," + SamplesFolder() +
         "devsim.so:link_latency_ns=20;link_gbps=1000;price=20;take=70;" +
         "take_seed=5;delay_us=1;delay=" + std::to_string(++number) + ";" + faults + more;
}

RandomGraphOptions Sized(uint64_t seed) {
  RandomGraphOptions options;
  options.nodes = 6 + static_cast<uint32_t>(seed % 12);
  return options;
}

Bytes Wanted(uint64_t seed, const Io& io) {
  auto ref = OpenGraph("ref", RandomGraph(seed, Sized(seed)));
  auto wanted = RunOnce(ref->get(), io);
  return wanted.ok() ? *wanted : Bytes{};
}

size_t LostDevices(Session* session) {
  size_t n = 0;
  const auto engines = session->Engines();
  if (!engines.ok()) return 0;
  for (const auto& e : **engines) n += e->Losses().size();
  return n;
}

bool UsesDevice(Session* session) {
  const Plan& plan = session->Latest("")->plan;
  for (const PlanSegment& s : plan.functions[0].segments) {
    if (plan.devices[s.device].async) return true;
  }
  return false;
}

// ---- loss -----------------------------------------------------------------------------------

TEST(DeviceLoss, AtEachPieceOfWorkTheRunGoesOnWithoutTheDevice) {
  const auto kept = KeptRuns();  // of tests whose devices never answer
  int losses = 0;
  for (const char* fault : {"lost_at=", "scope=device;late_at="}) {
    for (uint64_t seed = 1; seed <= 6; ++seed) {
      Io io(seed);
      const Bytes wanted = Wanted(seed, io);
      for (int k = 1;; ++k) {
        auto session = OpenGraph(Lossy(fault + std::to_string(k)), RandomGraph(seed, Sized(seed)));
        ASSERT_TRUE(session.ok()) << session.status().ToString();
        auto found = RunOnce(session->get(), io);
        const size_t lost = LostDevices(session->get());
        ASSERT_TRUE(found.ok()) << fault << k << ": " << found.status().ToString();
        EXPECT_EQ(*found, wanted) << fault << k;
        if (lost == 0) break;  // the run has fewer pieces
        ++losses;
        EXPECT_EQ((*session)->repeated_runs(), 1u);
        EXPECT_FALSE(UsesDevice(session->get()));
        auto again = RunOnce(session->get(), io);
        ASSERT_TRUE(again.ok()) << again.status().ToString();
        EXPECT_EQ(*again, wanted);
        EXPECT_EQ((*session)->repeated_runs(), 1u);
        auto report = (*session)->ReportJson("");
        ASSERT_TRUE(report.ok());
        EXPECT_NE(report->find("\"device\":\"sim:0\""), std::string::npos) << *report;
      }
    }
  }
  std::printf("%d losses\n", losses);
  EXPECT_GE(losses, 40);
  EXPECT_EQ(KeptRuns(), kept);
}

TEST(DeviceLoss, ALateFailureOfOneCallLosesNoDevice) {
  for (int k : {1, 2, 3, 4}) {
    Io io(2);
    auto session = OpenGraph(Lossy("late_at=" + std::to_string(k)), RandomGraph(2, Sized(2)));
    ASSERT_TRUE(session.ok());
    auto failed = RunOnce(session->get(), io);
    ASSERT_FALSE(failed.ok());
    EXPECT_EQ(failed.status().code(), Code::kPluginError);
    EXPECT_EQ(LostDevices(session->get()), 0u);
    auto again = RunOnce(session->get(), io);
    ASSERT_TRUE(again.ok()) << again.status().ToString();
    EXPECT_EQ(*again, Wanted(2, io));
    EXPECT_TRUE(UsesDevice(session->get()));
  }
}

TEST(DeviceLoss, OfTwoDevicesTheOtherGoesOn) {
  Io io(3);
  const Bytes wanted = Wanted(3, io);
  int other = 0;
  for (int k = 1; k <= 6; ++k) {
    auto session =
        OpenGraph(Lossy("devices=2;lost_at=" + std::to_string(k)), RandomGraph(3, Sized(3)));
    ASSERT_TRUE(session.ok());
    auto found = RunOnce(session->get(), io);
    ASSERT_TRUE(found.ok()) << found.status().ToString();
    EXPECT_EQ(*found, wanted);
    if (LostDevices(session->get()) == 0) continue;
    EXPECT_EQ(LostDevices(session->get()), 1u);
    other += UsesDevice(session->get());
  }
  EXPECT_GE(other, 3);
}

TEST(DeviceLoss, HoldsForAllSessionsOfARuntime) {
  const std::string engines = Lossy("lost_at=3");
  Io io(4);
  auto first = OpenGraph(engines, RandomGraph(4, Sized(4)));
  auto second = OpenGraph(engines, RandomGraph(4, Sized(4)));
  ASSERT_TRUE(first.ok() && second.ok());
  ASSERT_TRUE((*second)->Compile("", io.views).ok());
  EXPECT_TRUE(UsesDevice(second->get()));
  ASSERT_TRUE(RunOnce(first->get(), io).ok());
  auto found = RunOnce(second->get(), io);  // whose plan was for the device
  ASSERT_TRUE(found.ok()) << found.status().ToString();
  EXPECT_EQ(*found, Wanted(4, io));
  EXPECT_EQ((*second)->repeated_runs(), 0u);
  EXPECT_FALSE(UsesDevice(second->get()));
  auto third = OpenGraph(engines, RandomGraph(4, Sized(4)));
  ASSERT_TRUE(third.ok());
  auto late = RunOnce(third->get(), io);
  ASSERT_TRUE(late.ok()) << late.status().ToString();
  EXPECT_FALSE(UsesDevice(third->get()));
}

TEST(DeviceLoss, RunsOfOtherThreadsGoOnLikewise) {
  Io io(5);
  const Bytes wanted = Wanted(5, io);
  for (int k : {5, 20, 60}) {
    auto session = OpenGraph(Lossy("lost_at=" + std::to_string(k)), RandomGraph(5, Sized(5)));
    ASSERT_TRUE(session.ok());
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 10; ++i) {
          auto found = RunOnce(session->get(), io);
          if (!found.ok()) std::printf("%s\n", found.status().ToString().c_str());
          wrong += !found.ok() || *found != wanted;
        }
      });
    }
    for (auto& t : threads) t.join();
    EXPECT_EQ(wrong, 0) << "lost_at " << k;
    EXPECT_EQ(LostDevices(session->get()), 1u);
  }
}

// ---- states and observers -------------------------------------------------------------------

void ExpectLostByName(const Status& refused) {
  EXPECT_EQ(refused.code(), Code::kDataCorrupt) << refused.ToString();
  const std::string& text = refused.message();
  EXPECT_NE(text.find("state '"), std::string::npos) << text;
  EXPECT_NE(text.find("was lost with"), std::string::npos) << text;
  EXPECT_NE(text.find("sim:0"), std::string::npos) << text;
}

TEST(DeviceLoss, StatesThatLivedThereAreNamedUntilTheyAreSetOrRestored) {
  for (const bool restores : {false, true}) {
    SimulatedOptions options;
    options.engine = ";price=1";
    options.pinned = 0;
    auto made = OpenSimulated(1, TrainedGraph(), options);
    ASSERT_TRUE(made.ok()) << made.status().ToString();
    Trained host("ref"), device(std::move((*made)->session));
    ASSERT_TRUE(host.Run("step", 1).ok());
    ASSERT_TRUE(device.Run("step", 1).ok());
    (*made)->simulator().LoseDevice(0);
    std::vector<float> value(kTrainedSide * kTrainedSide);
    TensorView out;
    out.data = value.data();
    out.bytes = kTrainedBytes;
    ExpectLostByName(device.session->GetState(1, &out));  // no run has met the loss yet
    for (const char* entry : {"step", "look", "step"}) {
      ExpectLostByName(device.Run(entry, 2).status());
    }
    ExpectLostByName(device.session->GetState(1, &out));
    const auto nobody = [](auto, auto) { return Status(); };
    ExpectLostByName(device.session->states().Read(nobody));
    int64_t steps = host.Steps();
    std::vector<std::vector<float>> saved = {{}, host.Get(1), host.Get(2)};
    if (restores) {
      std::vector<Const> values(4);
      for (StateId s : {1, 2}) {
        values[s].type = device.session->states().TypeOf(s);
        values[s].data = reinterpret_cast<const std::byte*>(saved[s].data());
        values[s].bytes = kTrainedBytes;
      }
      values[3].type = device.session->states().TypeOf(3);
      values[3].data = reinterpret_cast<const std::byte*>(&steps);
      values[3].bytes = sizeof steps;
      ASSERT_TRUE(device.session->states().Write(values).ok());
    } else {
      for (StateId s : {1, 2}) ASSERT_TRUE(device.SetTo(s, saved[s]).ok());
      ASSERT_TRUE(device.session->SetState(3, {DType::kInt64, {}, &steps, sizeof steps}).ok());
    }
    ExpectSame(&host, &device);
    const auto wanted = host.Run("step", 2), found = device.Run("step", 2);
    ASSERT_TRUE(wanted.ok() && found.ok()) << found.status().ToString();
    EXPECT_EQ(*wanted, *found);
    ExpectSame(&host, &device);
  }
}

TEST(DeviceLoss, AnObservedRunSaysThatItIsNotRepeated) {
  Io io(4);
  auto session = OpenGraph(Lossy("lost_at=3"), RandomGraph(4, Sized(4)));
  ASSERT_TRUE(session.ok());
  ObserveOptions observe;
  observe.record = ::testing::TempDir() + "ge_lost_" + std::to_string(getpid()) + ".gecap";
  ASSERT_TRUE((*session)->Observe(&observe).ok());
  const Status lost = RunOnce(session->get(), io).status();
  EXPECT_EQ(lost.code(), Code::kDeviceLost) << lost.ToString();
  EXPECT_NE(lost.message().find("the run was observed"), std::string::npos) << lost.ToString();
  auto again = RunOnce(session->get(), io);
  ASSERT_TRUE(again.ok()) << again.status().ToString();
  EXPECT_EQ(*again, Wanted(4, io));
  EXPECT_EQ((*session)->repeated_runs(), 0u);
  std::remove(observe.record.c_str());
}

// ---- devices that never answer ----------------------------------------------------------------

TEST(DeviceLoss, ADeviceBeyondItsTimeLimitIsLost) {
  for (int k : {1, 3}) {
    Io io(6);
    const std::string faults = "timeout_ms=100;hang_at=" + std::to_string(k);
    auto session = OpenGraph(Lossy(faults), RandomGraph(6, Sized(6)));
    ASSERT_TRUE(session.ok());
    const uint64_t kept = KeptRuns();
    const double begin = NowMs();
    auto found = RunAllocating(session->get(), io);
    std::printf("ended after %.0f ms\n", NowMs() - begin);
    ASSERT_TRUE(found.ok()) << found.status().ToString();
    EXPECT_EQ(*found, Wanted(6, io));
    EXPECT_LT(NowMs() - begin, 10'000);
    EXPECT_EQ(LostDevices(session->get()), 1u);
    EXPECT_EQ(KeptRuns(), kept + 1);
  }
}

TEST(DeviceLoss, BuffersOfTheCallerThatADeviceMayStillWriteAreNotGivenToASecondRun) {
  Io io(6);
  auto session = OpenGraph(Lossy("timeout_ms=100;hang_at=2"), RandomGraph(6, Sized(6)));
  ASSERT_TRUE(session.ok());
  static auto* const kept = new Bytes;  // never freed: a device has them
  std::vector<TensorView> out((*session)->graph().fn(1).results.size());
  const Function& f = (*session)->graph().fn(1);
  for (size_t i = 0; i < out.size(); ++i) {
    const auto bytes = ByteCount(f.value(f.results[i]).type).value_or(0);
    kept->emplace_back(static_cast<size_t>(bytes), 'x');
    out[i].data = kept->back().data();
    out[i].bytes = kept->back().size();
  }
  const Status ran = (*session)->Run("", io.views, out);
  EXPECT_EQ(ran.code(), Code::kDeviceLost) << ran.ToString();
  EXPECT_NE(ran.ToString().find("may still use the buffers"), std::string::npos) << ran.ToString();
  Io other(6);
  auto again = RunOnce(session->get(), other);
  ASSERT_TRUE(again.ok()) << again.status().ToString();
  EXPECT_EQ(*again, Wanted(6, other));
}

TEST(DeviceLoss, ACancelEndsAWaitForADeviceThatHangs) {
  Io io(7);
  auto session = OpenGraph(Lossy("hang_at=2"), RandomGraph(7, Sized(7)));
  ASSERT_TRUE(session.ok());
  const uint64_t kept = KeptRuns();
  double cancelled = 0;
  std::thread canceller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    cancelled = NowMs();
    (*session)->calls().CancelAll();
  });
  std::vector<TensorView> out((*session)->graph().fn(1).results.size());
  const Status ran = (*session)->Run("", io.views, out);
  const double ended = NowMs();
  canceller.join();
  const double took = ended - cancelled;
  std::printf("ended %.0f ms after the cancel\n", took);
  EXPECT_EQ(ran.code(), Code::kCancelled) << ran.ToString();
  EXPECT_LT(took, 10'000);
  for (const TensorView& t : out) EXPECT_EQ(t.data, nullptr);
  EXPECT_EQ(KeptRuns(), kept + 1);
  EXPECT_EQ(LostDevices(session->get()), 0u);  // it has no limit: who knows
}

TEST(DeviceLoss, ASlowDeviceGivesBackWhatItKept) {
  const uint64_t before = KeptRuns();
  Io io(8);
  bool kept = false;
  for (uint64_t delay = 1; delay <= 12 && !kept; ++delay) {  // the streams of some do not wait
    auto session = OpenGraph("ref," + SamplesFolder() +
                                 "devsim.so:link_latency_ns=20;link_gbps=1000;price=20;"
                                 "delay_us=900000;delay=" +
                                 std::to_string(delay),
                             RandomGraph(8, Sized(8)));
    ASSERT_TRUE(session.ok());
    ASSERT_TRUE((*session)->Compile("", io.views).ok());
    std::thread canceller([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      (*session)->calls().CancelAll();
    });
    std::vector<TensorView> out((*session)->graph().fn(1).results.size());
    const Status ran = (*session)->Run("", io.views, out);
    canceller.join();
    for (const TensorView& t : out) {
      if (ran.ok()) AlignedBytes(static_cast<std::byte*>(t.data)).reset();
    }
    kept = KeptRuns() > before;
    EXPECT_EQ(LostDevices(session->get()), 0u);
  }
  EXPECT_TRUE(kept);
  const double begin = NowMs();
  while (KeptRuns() > before && NowMs() - begin < 60'000) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_EQ(KeptRuns(), before);
}

}  // namespace
}  // namespace ge::test
