// Each call of a simulated device's driver fails: no memory, a failure, the device lost; and each
// piece of its work may never end. A run then has the CPU's bits or is refused by name, the next
// one is right, and nothing is left behind. GE_TEST_FULL=1: every call of 20 graphs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "ge/base/clock.h"
#include "ge/compile/compiled/kept_run.h"
#include "tests/unit/random_graph.h"
#include "tests/unit/simulated.h"
#include "tests/unit/trained.h"

namespace ge::test {
namespace {

bool EveryCall() { return std::getenv("GE_TEST_FULL") != nullptr; }

// The k-th call, or the k-th piece of work where it runs.
constexpr const char* kFaults[] = {"fail=any:K:out_of_memory", "fail=any:K:invalid",
                                   "fail=any:K:device_lost", "fail_work=K:failed"};

struct FaultTally {
  uint64_t cases = 0, refused = 0, repeated = 0, not_opened = 0;
  double longest_ms = 0;
};

// A third of the nodes on ref; it stays where a device is lost.
SimulatedOptions WithFault(uint64_t k, const std::string& fault) {
  SimulatedOptions options;
  options.engine = ";price=1;schedule=seeded;seed=" + std::to_string(k) + fault;
  options.pinned = 30;
  options.pins = {"ref"};
  options.strict = true;
  return options;
}

void ExpectNamed(const Status& refused, const std::string& what) {
  EXPECT_NE(refused.message().find("simdev"), std::string::npos)
      << what << ": " << refused.ToString();
}

std::string Findings(const std::vector<sim::Report>& reports) {
  std::string text;
  for (const auto& r : reports) text += r.text() + "\n";
  return text;
}

struct FaultedGraph {
  uint64_t seed;
  Graph graph;
  Io io;
  Bytes wanted;

  explicit FaultedGraph(uint64_t s) : seed(s), io(s) {
    RandomGraphOptions options;
    options.nodes = 5 + static_cast<uint32_t>(seed % 8);
    graph = RandomGraph(seed, options);
    auto ref = OpenGraph("ref", graph);
    if (!ref.ok()) return;
    auto bits = RunOnce(ref->get(), io);
    if (bits.ok()) wanted = *std::move(bits);
  }
};

// False where there is no k-th call.
bool TryCall(const FaultedGraph& g, uint64_t k, std::string fault, FaultTally* tally) {
  fault.replace(fault.find('K'), 1, std::to_string(k));
  const std::string what = "graph " + std::to_string(g.seed) + ", " + fault;
  auto made = OpenSimulated(g.seed, g.graph, WithFault(k, ";" + fault));
  if (!made.ok()) {
    ++tally->cases;
    ++tally->not_opened;
    ExpectNamed(made.status(), what);
    return true;
  }
  Simulated& s = **made;
  auto found = RunAllocating(s.session.get(), g.io);
  if (found.ok()) {
    EXPECT_EQ(*found, g.wanted) << what;
  } else {
    ++tally->refused;
    ExpectNamed(found.status(), what);
  }
  const bool work = fault.starts_with("fail_work");
  if ((work ? s.simulator().order().size() : s.simulator().calls()) < k) return false;
  for (int again = 0; again < 2; ++again) {
    auto next = RunAllocating(s.session.get(), g.io);
    EXPECT_TRUE(next.ok() && *next == g.wanted) << what << ", then: " << next.status().ToString();
  }
  tally->repeated += s.session->repeated_runs();
  ++tally->cases;
  s.session.reset();
  EXPECT_EQ(Findings(*s.left), "") << what;
  return true;
}

TEST(CallFaults, EachCallOfADriverMayFail) {
  const uint64_t graphs = EveryCall() ? 20 : 4, stride = EveryCall() ? 1 : 5;
  const uint64_t kept = KeptRuns();
  FaultTally tally;
  for (uint64_t seed = 1; seed <= graphs; ++seed) {
    const FaultedGraph g(seed);
    ASSERT_FALSE(g.wanted.empty());
    for (const char* fault : kFaults) {
      uint64_t k = 1 + seed % stride;
      while (TryCall(g, k, fault, &tally)) k += stride;
      if (HasFailure()) return;
    }
  }
  std::printf(
      "%lu calls of %lu graphs failed: %lu runs refused by name, %lu repeated without the device, "
      "%lu sessions not opened, the others right at once\n",
      tally.cases, graphs, tally.refused, tally.repeated, tally.not_opened);
  EXPECT_GT(tally.cases, 40 * graphs / stride);
  EXPECT_GT(tally.refused, graphs);
  EXPECT_GT(tally.repeated, graphs);
  EXPECT_EQ(KeptRuns(), kept);
}

// ---- work that never ends ------------------------------------------------------------------

// False where there is no k-th piece of work. `cancels`: the caller ends the run, not a limit.
bool TryStall(const FaultedGraph& g, uint64_t k, bool cancels, FaultTally* tally) {
  const std::string what = "graph " + std::to_string(g.seed) + ", work " + std::to_string(k);
  auto made = OpenSimulated(
      g.seed, g.graph,
      WithFault(k, ";stall_work=" + std::to_string(k) + (cancels ? "" : ";timeout_ms=100")));
  EXPECT_TRUE(made.ok()) << what << made.status().ToString();
  if (!made.ok()) return false;
  Simulated& s = **made;
  const bool compiled = s.session->Compile("", g.io.views).ok();
  EXPECT_TRUE(compiled) << what;
  const uint64_t kept = KeptRuns();
  double begin = NowMs();
  std::thread canceller([&] {
    if (!cancels) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    begin = NowMs();
    s.session->calls().CancelAll();
  });
  auto found = RunAllocating(s.session.get(), g.io);
  canceller.join();
  const bool fired = KeptRuns() > kept;
  if (found.ok()) {
    EXPECT_EQ(*found, g.wanted) << what;
    EXPECT_FALSE(fired && cancels) << what;
  } else {
    ++tally->refused;
    EXPECT_EQ(found.status().code(), Code::kCancelled) << what << found.status().ToString();
  }
  if (!fired) return false;
  tally->longest_ms = std::max(tally->longest_ms, NowMs() - begin);
  auto next = RunAllocating(s.session.get(), g.io);
  EXPECT_TRUE(next.ok() && *next == g.wanted) << what << ", then: " << next.status().ToString();
  EXPECT_EQ(Findings(s.simulator().reports()), "") << what;
  tally->repeated += s.session->repeated_runs();
  ++tally->cases;
  return true;
}

TEST(CallFaults, EachPieceOfWorkMayNeverEnd) {
  const uint64_t graphs = EveryCall() ? 20 : 1, stride = EveryCall() ? 1 : 5;
  FaultTally limits, cancels;
  for (uint64_t seed = 1; seed <= graphs; ++seed) {
    const FaultedGraph g(seed);
    for (uint64_t k = 1; TryStall(g, k, false, &limits); k += stride) continue;
    for (uint64_t k = 2; TryStall(g, k, true, &cancels); k += 2 * stride) continue;
    if (HasFailure()) return;
  }
  std::printf(
      "%lu pieces of work never ended: %lu runs repeated without the device, at most %.0f ms "
      "behind "
      "the begin; %lu more, cancelled: at most %.0f ms behind the cancel\n",
      limits.cases, limits.repeated, limits.longest_ms, cancels.cases, cancels.longest_ms);
  EXPECT_EQ(limits.repeated, limits.cases);
  EXPECT_EQ(cancels.refused, cancels.cases);
  EXPECT_GE(limits.cases, 2 * graphs / stride);
  EXPECT_GE(cancels.cases, graphs / stride);
  EXPECT_LT(std::max(limits.longest_ms, cancels.longest_ms), 10'000);
}

// ---- states --------------------------------------------------------------------------------

// The state's value, or that it is lost, by name.
Result<std::vector<float>> StateOf(Trained* t, StateId s, const char* name) {
  std::vector<float> out(kTrainedSide * kTrainedSide);
  TensorView v;
  v.data = out.data();
  v.bytes = kTrainedBytes;
  const Status got = t->session->GetState(s, &v);
  if (got.ok()) return out;
  EXPECT_EQ(got.code(), Code::kDataCorrupt) << got.ToString();
  EXPECT_NE(got.message().find("state '" + std::string(name) + "' was lost"), std::string::npos)
      << got.ToString();
  return got;
}

struct StepTally {
  uint64_t cases = 0, refused = 0, old = 0, lost = 0, went_on = 0;
};

// Behind a failed run each state is the old one or lost by name; those are set anew.
void HealStates(Trained* device, Trained* host, const std::string& what, StepTally* tally) {
  for (const auto& [s, name] : {std::pair<StateId, const char*>{1, "w"}, {2, "m"}}) {
    const auto found = StateOf(device, s, name);
    ++(found.ok() ? tally->old : tally->lost);
    if (found.ok()) {
      EXPECT_EQ(*found, host->Get(s)) << what << ": state " << name;
    } else {
      EXPECT_TRUE(device->SetTo(s, host->Get(s)).ok()) << what;
    }
  }
  int64_t steps = host->Steps();
  const auto counted = device->session->states().NumberOf(3);
  if (counted.ok()) {
    EXPECT_EQ(*counted, steps) << what;
    return;
  }
  EXPECT_EQ(counted.status().code(), Code::kDataCorrupt) << what << counted.status().ToString();
  EXPECT_TRUE(device->session->SetState(3, {DType::kInt64, {}, &steps, sizeof steps}).ok());
}

// The k-th driver call of the second step, or with no answer its k-th piece of work. False where
// there is none.
bool TryStep(uint64_t k, const char* answer, sim::Code code, StepTally* tally) {
  const std::string what = "call " + std::to_string(k) + ": " + answer;
  SimulatedOptions options = WithFault(k, ";timeout_ms=100");
  options.pinned = 0;
  auto made = OpenSimulated(1, TrainedGraph(), options);
  EXPECT_TRUE(made.ok()) << made.status().ToString();
  if (!made.ok()) return false;
  Simulated& s = **made;
  Trained device(std::move(s.session)), host("ref");
  EXPECT_TRUE(host.Run("step", 1).ok());
  EXPECT_TRUE(device.Run("step", 1).ok());
  EXPECT_GT(device.Report("step")["state_device_bytes"].get<uint64_t>(), 2 * kTrainedBytes);
  const uint64_t before = s.simulator().calls(), kept = KeptRuns();
  const bool stalls = code == sim::Code::kOk;
  stalls ? s.simulator().StallWork(k) : s.simulator().FailCall(sim::Call::kCount, k, code);
  const auto found = device.Run("step", 2);
  const bool fired = stalls ? KeptRuns() > kept : s.simulator().calls() - before >= k;
  if (!fired) return false;
  ++tally->cases;
  if (found.ok()) {
    ++tally->went_on;
  } else {
    ++tally->refused;
    const bool by_name = found.status().message().find("simdev") != std::string::npos;
    EXPECT_TRUE(by_name) << what << ": " << found.status().ToString();
    HealStates(&device, &host, what, tally);
  }
  const auto wanted = host.Run("step", 2);
  const auto next = found.ok() ? found : device.Run("step", 2);
  EXPECT_TRUE(next.ok() && *next == *wanted) << what << ": " << next.status().ToString();
  if (next.ok()) ExpectSame(&host, &device);
  EXPECT_EQ(Findings(s.simulator().reports()), "") << what;
  device.session.reset();
  // A device that never answers keeps the engine, and what it may still use.
  EXPECT_EQ(stalls ? Findings(s.simulator().reports()) : Findings(*s.left), "") << what;
  return true;
}

TEST(CallFaults, StatesAreTheOldOnesOrLostByName) {
  const uint64_t stride = EveryCall() ? 1 : 3;
  StepTally tally;
  for (const auto& [answer, code] : {std::pair{"out of memory", sim::Code::kOutOfMemory},
                                     {"invalid", sim::Code::kInvalid},
                                     {"device lost", sim::Code::kDeviceLost},
                                     {"stall", sim::Code::kOk}}) {
    for (uint64_t k = 1; TryStep(k, answer, code, &tally); k += stride) {
      if (HasFailure()) return;
    }
  }
  std::printf("%lu faults of a step: %lu refused, %lu went on; %lu states old, %lu lost by name\n",
              tally.cases, tally.refused, tally.went_on, tally.old, tally.lost);
  EXPECT_GT(tally.old, 2u);
  EXPECT_GT(tally.lost, 2u);
}

}  // namespace
}  // namespace ge::test
