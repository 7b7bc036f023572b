// Each call of a simulated device's driver fails: no memory, a failure, the device lost; and each
// piece of its work may never end. A run then has the CPU's bits or is refused by name, the next
// one is right, and nothing is left behind. GE_TEST_FULL=1: every call of 20 graphs.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>

#include "ge/base/clock.h"
#include "ge/compile/compiled/kept_run.h"
#include "ge/domain/host_copies.h"
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
  uint64_t of_packs = 0;
  std::vector<double> ended_ms;  // behind the stall, or the cancel
};

// Says when; what does not end for so long hangs. The bound of a second is for a quiet machine.
void ExpectEnded(std::vector<double>* ms, const char* what) {
  ASSERT_FALSE(ms->empty()) << what;
  std::sort(ms->begin(), ms->end());
  std::printf("behind a %s: ended in %.0f ms in the median, %.0f at most\n", what,
              (*ms)[ms->size() / 2], ms->back());
  EXPECT_LT(ms->back(), 10'000) << what;
}

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

// Cancels the session's calls 50 ms after some work has stalled, unless it is told to look only.
class Watcher {
 public:
  Watcher(const sim::Simulator& simulator, Session* session, bool cancels)
      : thread_([this, &simulator, session, cancels] { Watch(simulator, session, cancels); }) {}
  ~Watcher() { End(); }
  // When the stall, or the cancel, was seen; 0: there was none.
  double End() {
    over_.store(true);
    if (thread_.joinable()) thread_.join();
    return seen_ms_;
  }

 private:
  void Watch(const sim::Simulator& simulator, Session* session, bool cancels) {
    while (simulator.stalls() == 0) {
      if (over_.load()) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (cancels) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    seen_ms_ = NowMs();
    if (cancels) session->calls().CancelAll();
  }
  std::atomic<bool> over_{false};
  double seen_ms_ = 0;
  std::thread thread_;
};

// False where there is no k-th piece of work. `cancels`: the caller ends the call, not a limit.
bool TryStall(const FaultedGraph& g, uint64_t k, bool cancels, FaultTally* tally) {
  const std::string what = "graph " + std::to_string(g.seed) + ", work " + std::to_string(k);
  auto made = OpenSimulated(
      g.seed, g.graph,
      WithFault(k, ";stall_work=" + std::to_string(k) + (cancels ? "" : ";timeout_ms=100")));
  EXPECT_TRUE(made.ok()) << what << made.status().ToString();
  if (!made.ok()) return false;
  Simulated& s = **made;
  const uint64_t runs = KeptRuns(), copies = KeptCopies();
  Watcher watcher(s.simulator(), s.session.get(), cancels);
  const auto compiled = s.session->Compile("", g.io.views);  // fills packs
  const bool of_pack = s.simulator().stalls() != 0;
  auto found = compiled.ok() ? RunAllocating(s.session.get(), g.io) : compiled.status();
  const double ended_ms = NowMs(), seen_ms = watcher.End();
  if (found.ok()) {
    EXPECT_EQ(*found, g.wanted) << what;
    EXPECT_FALSE(seen_ms != 0 && cancels) << what;
  } else {
    ++tally->refused;
    EXPECT_EQ(found.status().code(), Code::kCancelled) << what << found.status().ToString();
  }
  if (seen_ms == 0) return false;
  tally->ended_ms.push_back(ended_ms - seen_ms);
  EXPECT_EQ(KeptCopies() - copies, of_pack ? 1u : 0u) << what;
  EXPECT_EQ(KeptRuns() - runs, of_pack ? 0u : 1u) << what;
  auto next = RunAllocating(s.session.get(), g.io);
  EXPECT_TRUE(next.ok() && *next == g.wanted) << what << ", then: " << next.status().ToString();
  tally->repeated += s.session->repeated_runs();
  tally->of_packs += of_pack;
  ++tally->cases;
  // It answers after all: what was kept for it is used and then freed.
  s.simulator().EndStalls();
  s.simulator().HostWaits();
  EXPECT_EQ(KeptCopies(), copies) << what;
  EXPECT_EQ(KeptRuns(), runs) << what;
  s.session.reset();
  EXPECT_EQ(Findings(*s.left), "") << what;
  return true;
}

TEST(CallFaults, EachPieceOfWorkMayNeverEnd) {
  constexpr uint64_t kSmallWithPacks = 5;
  const uint64_t first = EveryCall() ? 1 : kSmallWithPacks, last = EveryCall() ? 20 : first;
  FaultTally limits, cancels;
  for (uint64_t seed = first; seed <= last; ++seed) {
    const FaultedGraph g(seed);
    for (uint64_t k = 1; TryStall(g, k, false, &limits); ++k) continue;
    for (uint64_t k = 1; TryStall(g, k, true, &cancels); ++k) continue;
    if (HasFailure()) return;
  }
  std::printf(
      "%lu pieces of work never ended, %lu of them copies of packs: %lu runs repeated without the "
      "device; %lu more were cancelled, %lu of packs\n",
      limits.cases, limits.of_packs, limits.repeated, cancels.cases, cancels.of_packs);
  EXPECT_EQ(limits.repeated + limits.of_packs, limits.cases);
  EXPECT_EQ(limits.refused, 0u);
  EXPECT_EQ(cancels.refused, cancels.cases);
  EXPECT_GE(limits.of_packs, 1u);
  EXPECT_EQ(cancels.of_packs, limits.of_packs);
  ExpectEnded(&limits.ended_ms, "stall");
  ExpectEnded(&cancels.ended_ms, "cancel");
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

// ---- states whose copies never end ---------------------------------------------------------

struct StateCall {
  const char* name;
  uint64_t lost;  // of the two states, with the device
  bool sets;      // before: that state lies at the host then
  std::function<Status(Trained*)> call;
};

const StateCall kStateCalls[] = {
    {"get", 2, false,
     [](Trained* t) {
       std::vector<float> out(kTrainedSide * kTrainedSide);
       TensorView v;
       v.data = out.data();
       v.bytes = kTrainedBytes;
       return t->session->GetState(1, &v);
     }},
    {"save", 2, false,
     [](Trained* t) {
       const CancelScope call(&t->session->calls());
       return t->session->states().Read([](auto, auto) { return Status(); });
     }},
    {"run", 1, true, [](Trained* t) { return t->Run("step", 2).status(); }},
};

// `cancels`: the caller ends the call, not a limit.
void StallState(const StateCall& one, bool cancels, std::vector<double>* all_ms) {
  const std::string what = std::string(one.name) + (cancels ? ", cancelled" : ", limited");
  SimulatedOptions options = WithFault(1, cancels ? "" : ";timeout_ms=100");
  options.pinned = 0;
  auto made = OpenSimulated(1, TrainedGraph(), options);
  ASSERT_TRUE(made.ok()) << made.status().ToString();
  Simulated& s = **made;
  Trained device(std::move(s.session)), host("ref");
  EXPECT_TRUE(host.Run("step", 1).ok());
  EXPECT_TRUE(device.Run("step", 1).ok());
  if (one.sets) {
    EXPECT_TRUE(device.SetTo(1, device.Get(1)).ok());
  }
  const uint64_t copies = KeptCopies(), runs = KeptRuns();
  s.simulator().StallWork(1);
  Watcher watcher(s.simulator(), device.session.get(), cancels);
  const Status found = one.call(&device);
  const double ended_ms = NowMs(), seen_ms = watcher.End();
  ASSERT_NE(seen_ms, 0) << what << found.ToString();
  all_ms->push_back(ended_ms - seen_ms);
  EXPECT_EQ(found.code(), cancels ? Code::kCancelled : Code::kDataCorrupt)
      << what << ": " << found.ToString();
  EXPECT_EQ(KeptCopies(), copies + 1) << what;
  EXPECT_EQ(KeptRuns(), runs) << what;
  StepTally healed;
  HealStates(&device, &host, what, &healed);
  EXPECT_EQ(healed.lost, cancels ? 0u : one.lost) << what;
  s.simulator().EndStalls();
  s.simulator().HostWaits();
  EXPECT_EQ(KeptCopies(), copies) << what;
  const auto wanted = host.Run("step", 3), next = device.Run("step", 3);
  EXPECT_TRUE(next.ok() && *next == *wanted) << what << ": " << next.status().ToString();
  ExpectSame(&host, &device);
  device.session.reset();
  EXPECT_EQ(Findings(*s.left), "") << what;
}

TEST(CallFaults, CopiesOfStatesMayNeverEnd) {
  std::vector<double> ended_ms;
  for (const StateCall& one : kStateCalls) {
    for (const bool cancels : {false, true}) StallState(one, cancels, &ended_ms);
  }
  ExpectEnded(&ended_ms, "stall or cancel");
}

}  // namespace
}  // namespace ge::test
