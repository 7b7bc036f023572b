// Whole sessions over ref and the asynchronous device: same bits as ref alone whatever the delays,
// and wrong ones when a copy or a wait is taken out of the plan. GE_TEST_FULL=1 edits the plans of
// all 200 graphs instead of 40.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "tests/unit/graph_session.h"
#include "tests/unit/plan_generator.h"
#include "tests/unit/plan_oracle.h"
#include "tests/unit/random_graph.h"

namespace ge::test {
namespace {

bool Full() { return std::getenv("GE_TEST_FULL") != nullptr; }

std::string DevsimPath() { return SamplesFolder() + "devsim.so"; }

std::string WithDevsim(const std::string& options) {
  return "ref," + DevsimPath() + ":link_latency_ns=20;link_gbps=1000;" + options;
}

// Where nodes go differs from graph to graph; so do links that pay, and streams.
std::string PlacementFor(uint64_t seed) {
  static constexpr const char* kKinds[] = {"price=20;take=50", "price=80;take=30",
                                           "price=50;take=80", "price=60;take=60"};
  return kKinds[seed % 4] + (";take_seed=" + std::to_string(seed));
}

struct Seen {
  std::mutex mutex;
  uint64_t runs = 0, nodes = 0, on_device = 0, transfers = 0, two_streams = 0, plans = 0;
  std::string failure;

  void Count(const Plan& plan) {
    std::lock_guard<std::mutex> lock(mutex);
    ++plans;
    const PlanFunction& fn = plan.functions[0];
    for (const PlanSegment& s : fn.segments) {
      for (const PlanOffer& o : s.offers) {
        nodes += o.nodes.size();
        if (plan.devices[s.device].async) on_device += o.nodes.size();
      }
    }
    two_streams += fn.streams.size() > 2;
    for (const Instruction& i : fn.code) transfers += i.op == PlanOp::kCopy;
  }
  void Fail(std::string text) {
    std::lock_guard<std::mutex> lock(mutex);
    if (failure.empty()) failure = std::move(text);
  }
};

// One graph under one delay seed: a new session, three runs with different inputs on one frame.
Status CompareOne(uint64_t seed, uint64_t delay, Session* ref, Seen* seen) {
  RandomGraphOptions options;
  options.nodes = 6 + static_cast<uint32_t>(seed % 18);
  GE_ASSIGN_OR_RETURN(auto session,
                      OpenGraph(WithDevsim(PlacementFor(seed) + ";delay=" + std::to_string(delay)),
                                RandomGraph(seed, options)));
  for (uint64_t k = 0; k < 3; ++k) {
    Io io(seed * 1000 + delay * 10 + k);
    GE_ASSIGN_OR_RETURN(Bytes wanted, RunOnce(ref, io));
    GE_ASSIGN_OR_RETURN(Bytes found, RunOnce(session.get(), io));
    if (found != wanted) {
      return Status(Code::kInternal, "graph " + std::to_string(seed) + ", delay seed " +
                                         std::to_string(delay) + ": other bits than ref");
    }
    std::lock_guard<std::mutex> lock(seen->mutex);
    ++seen->runs;
  }
  if (delay == 1) seen->Count(session->Latest("")->plan);
  return {};
}

TEST(Devsim, RandomGraphsAreBitEqualToRefUnderAnyDelays) {
  const uint64_t graphs = 200, delays = 20;
  Seen seen;
  std::atomic<uint64_t> next{1};
  // Most of the time is spent asleep in the device, so more threads than cores pay.
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (uint64_t seed; (seed = next++) <= graphs;) {
        RandomGraphOptions options;
        options.nodes = 6 + static_cast<uint32_t>(seed % 18);
        auto ref = OpenGraph("ref", RandomGraph(seed, options));
        if (!ref.ok()) return seen.Fail(ref.status().ToString());
        for (uint64_t delay = 1; delay <= delays; ++delay) {
          Status status = CompareOne(seed, delay, ref->get(), &seen);
          if (!status.ok()) {
            return seen.Fail("graph " + std::to_string(seed) + ": " + status.ToString());
          }
        }
      }
    });
  }
  for (auto& t : threads) t.join();
  std::printf(
      "%lu graphs x %lu delay seeds, %lu runs: %lu of %lu nodes on devsim, %lu transfers, %lu "
      "plans with both streams\n",
      graphs, delays, seen.runs, seen.on_device, seen.nodes, seen.transfers, seen.two_streams);
  ASSERT_EQ(seen.failure, "");
  EXPECT_EQ(seen.runs, graphs * delays * 3);
  EXPECT_GT(4 * seen.on_device, seen.nodes);
  EXPECT_GT(seen.transfers, 4 * seen.plans);
  EXPECT_GT(2 * seen.two_streams, seen.plans);
}

// ---- edited plans -------------------------------------------------------------------------

// Runs an edited plan with the execs of the proved one.
class EditedPlan {
 public:
  static Result<std::unique_ptr<EditedPlan>> Make(const Compiled& c, Plan plan) {
    std::unique_ptr<EditedPlan> e(new EditedPlan);
    e->plan_ = std::move(plan);
    GE_ASSIGN_OR_RETURN(e->program_, Program::Make(e->plan_, c.program().parts()));
    return e;
  }
  // A new frame each time: what an edited run leaves in flight must not disturb the next one.
  Result<bool> Right(const Io& io, const Bytes& wanted) const {
    GE_ASSIGN_OR_RETURN(std::unique_ptr<Frame> frame, program_->NewFrame());
    std::vector<const void*> in;
    for (const TensorView& v : io.views) in.push_back(v.data);
    Bytes found;
    std::vector<void*> out;
    for (const auto& w : wanted) {
      found.emplace_back(w.size(), 'x');
      out.push_back(found.back().data());
    }
    const Status status = program_->Run(frame.get(), in.data(), out.data());
    const bool right = status.ok() && found == wanted;
    frame.reset();  // waits for the device; only then may `found` go
    return right;
  }

 private:
  EditedPlan() = default;
  Plan plan_;
  std::unique_ptr<Program> program_;
};

struct Tally {
  int cases = 0, races = 0, wrong = 0, harmless = 0, harmless_wrong = 0;
  std::string missed;
};

// Drops instruction `at`, asks the oracle, and looks for a wrong result.
Status TryWithout(const Compiled& c, size_t at, uint64_t seed, Session* ref, Tally* tally) {
  Plan plan = c.plan;
  auto& code = plan.functions[0].code;
  code.erase(code.begin() + static_cast<std::ptrdiff_t>(at));
  const OracleVerdict verdict = Judge(plan);
  GE_ASSIGN_OR_RETURN(auto edited, EditedPlan::Make(c, std::move(plan)));
  ++tally->cases;
  // A race shows only in some interleavings; one wrong run is enough.
  const int runs = verdict.safe() ? 4 : 60;
  bool wrong = false;
  for (int k = 0; k < runs && !wrong; ++k) {
    Io io(seed * 7919 + at * 131 + static_cast<uint64_t>(k));
    GE_ASSIGN_OR_RETURN(Bytes wanted, RunOnce(ref, io));
    GE_ASSIGN_OR_RETURN(bool right, edited->Right(io, wanted));
    wrong = !right;
  }
  (verdict.safe() ? tally->harmless : tally->races) += 1;
  (verdict.safe() ? tally->harmless_wrong : tally->wrong) += wrong;
  if (!verdict.safe() && !wrong && tally->missed.size() < 4000) {
    tally->missed += "graph " + std::to_string(seed) + " without instruction " +
                     std::to_string(at) + ": " + verdict.ToString() + "\n";
  }
  return {};
}

Status TryGraph(uint64_t seed, int most, Tally* waits, Tally* copies) {
  RandomGraphOptions options;
  options.nodes = 6 + static_cast<uint32_t>(seed % 18);
  GE_ASSIGN_OR_RETURN(auto ref, OpenGraph("ref", RandomGraph(seed, options)));
  GE_ASSIGN_OR_RETURN(auto session, OpenGraph(WithDevsim(PlacementFor(seed) + ";delay=1"),
                                              RandomGraph(seed, options)));
  GE_ASSIGN_OR_RETURN(auto c, session->Compile("", Io(seed).views));
  Random random(seed);
  std::vector<size_t> found;
  const auto& code = c->plan.functions[0].code;
  for (size_t i = 0; i < code.size(); ++i) {
    if (code[i].op == PlanOp::kWait || code[i].op == PlanOp::kCopy) found.push_back(i);
  }
  for (int k = 0; k < most && !found.empty(); ++k) {
    const size_t pick = random.Below(static_cast<uint32_t>(found.size()));
    const size_t at = found[pick];
    found.erase(found.begin() + static_cast<std::ptrdiff_t>(pick));
    Tally* tally = code[at].op == PlanOp::kWait ? waits : copies;
    GE_RETURN_IF_ERROR(TryWithout(*c, at, seed, ref.get(), tally));
  }
  return {};
}

TEST(Devsim, DroppedCopiesAndWaitsGiveWrongResults) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the races are made on purpose";
#endif
  const uint64_t graphs = Full() ? 200 : 40;
  const int most = Full() ? 12 : 6;
  Tally waits, copies;
  for (uint64_t seed = 1; seed <= graphs; ++seed) {
    const Status status = TryGraph(seed, most, &waits, &copies);
    ASSERT_TRUE(status.ok()) << "graph " << seed << ": " << status.ToString();
  }
  for (const auto& [name, t] : {std::pair("waits", &waits), std::pair("copies", &copies)}) {
    std::printf(
        "dropped %s: %d cases; the oracle sees a fault in %d, of which %d gave a wrong result; of "
        "the %d harmless ones %d did\n",
        name, t->cases, t->races, t->wrong, t->harmless, t->harmless_wrong);
    EXPECT_EQ(t->harmless_wrong, 0) << name;
    EXPECT_GE(t->wrong, 0.95 * t->races) << name << ", not noticed:\n" << t->missed;
    EXPECT_GE(t->races, 20) << name;
  }
}

// ---- failures -----------------------------------------------------------------------------

TEST(Devsim, AFailureOfDeviceWorkIsReportedAndTheSessionGoesOn) {
  // The device counts its work from 1: each value fails another launch or copy.
  for (uint64_t at : {1, 2, 3, 5, 8}) {
    auto ref = OpenGraph("ref", RandomGraph(2));
    auto session = OpenGraph(WithDevsim("price=20;take=60;delay=5;fail_at=" + std::to_string(at)),
                             RandomGraph(2));
    ASSERT_TRUE(ref.ok() && session.ok()) << session.status().ToString();
    Io io(at);
    auto failed = RunOnce(session->get(), io);
    ASSERT_FALSE(failed.ok()) << "fail_at " << at;
    EXPECT_NE(failed.status().ToString().find("as option fail_at asks"), std::string::npos)
        << failed.status().ToString();
    auto wanted = RunOnce(ref->get(), io), again = RunOnce(session->get(), io);
    ASSERT_TRUE(again.ok()) << again.status().ToString();
    EXPECT_EQ(*again, *wanted) << "fail_at " << at;
  }
}

TEST(Devsim, AWrongOptionIsRefusedByName) {
  for (const auto& [options, text] :
       {std::pair("tka=3", "option 'tka' is not known"), std::pair("take=101", "take is '101'"),
        std::pair("price=cheap", "price is 'cheap'"), std::pair("wrap=nobody", "nobody.so")}) {
    auto session = OpenGraph("ref," + DevsimPath() + ":" + options, RandomGraph(1));
    ASSERT_FALSE(session.ok()) << options;
    EXPECT_NE(session.status().ToString().find(text), std::string::npos)
        << session.status().ToString();
  }
}

TEST(Devsim, CancelStopsBetweenInstructions) {
  auto session = OpenGraph(WithDevsim("price=20;take=60;delay=5"), RandomGraph(3));
  ASSERT_TRUE(session.ok()) << session.status().ToString();
  Io io(3);
  ASSERT_TRUE(RunOnce(session->get(), io).ok());
  std::vector<TensorView> out((*session)->graph().fn(1).results.size());
  Status status;
  {
    Calls::Call call(&(*session)->calls());
    (*session)->calls().CancelAll();
    const CallScope scope(&(*session)->calls(), &call);
    status = (*session)->Run("", io.views, out);
  }
  EXPECT_EQ(status.code(), Code::kCancelled) << status.ToString();
  for (const TensorView& t : out) EXPECT_EQ(t.data, nullptr);
  EXPECT_TRUE(RunOnce(session->get(), io).ok());
}

}  // namespace
}  // namespace ge::test
