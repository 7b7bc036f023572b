// Whole plans on the simulated vendor: under any order in which its streams may go on, results are
// those of the eager order and the simulator finds nothing; with a wait taken out of the plan it
// finds what the oracle of plans calls unsafe, and nothing else. GE_TEST_FULL=1: 1e5 schedules of
// 100 graphs, each wait of each.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "ge/plan/check/check.h"
#include "tests/unit/plan_oracle.h"
#include "tests/unit/random_graph.h"
#include "tests/unit/simulated.h"

namespace ge::test {
namespace {

bool EverySchedule() { return std::getenv("GE_TEST_FULL") != nullptr; }

Graph ScheduledGraph(uint64_t seed) {
  RandomGraphOptions options;
  options.nodes = 6 + static_cast<uint32_t>(seed % 18);
  return RandomGraph(seed, options);
}

// The host's loads and stores, as its engine makes them, for the race detector. One at a time.
struct Told {
  sim::Simulator* simulator = nullptr;
  decltype(ge_engine_api::enqueue) enqueue = nullptr;
};
Told g_told;

ge_rc EnqueueTold(ge_exec* exec, const ge_launch* launch, ge_err* err) {
  const auto each = [](const ge_buf* buf, uint32_t n, auto&& tell) {
    for (uint32_t i = 0; i < n; ++i) {
      if (buf[i].bytes != 0) tell(buf[i]);
    }
  };
  const auto writes = [](const ge_buf& b) { g_told.simulator->HostWrite(b.ptr, b.bytes, "ref"); };
  each(launch->in, launch->n_in,
       [](const ge_buf& b) { g_told.simulator->HostRead(b.ptr, b.bytes, "ref"); });
  each(launch->out, launch->n_out, writes);
  each(launch->internal, launch->n_internal, writes);
  each(&launch->workspace, 1, writes);
  return g_told.enqueue(exec, launch, err);
}

// A plan, run with the execs of a compiled one, by a host that tells the simulator what it does.
class ToldPlan {
 public:
  static Result<std::unique_ptr<ToldPlan>> Make(const Compiled& c, Plan plan,
                                                sim::Simulator* simulator) {
    std::unique_ptr<ToldPlan> p(new ToldPlan);
    p->plan_ = std::move(plan);
    p->simulator_ = simulator;
    ProgramParts parts = c.program().parts();
    for (RunEngine& e : parts.engines) {
      if (e.name != "ref") continue;
      g_told = {simulator, e.api.enqueue};
      e.api.enqueue = EnqueueTold;
    }
    parts.clock = nullptr;
    GE_ASSIGN_OR_RETURN(p->program_, Program::Make(p->plan_, std::move(parts)));
    for (const auto& port : c.outputs) p->out_.emplace_back(port.bytes);
    return p;
  }
  // On the same frame each time, until Forget.
  Result<Bytes> Run(const Io& io) {
    if (frame_ == nullptr) {
      GE_ASSIGN_OR_RETURN(frame_, program_->NewFrame());
    }
    in_.resize(io.in.size());
    std::vector<const void*> from;
    for (size_t i = 0; i < in_.size(); ++i) {
      in_[i].resize(io.in[i].size());
      std::copy(io.in[i].begin(), io.in[i].end(), in_[i].begin());
      simulator_->HostWrite(in_[i].data(), in_[i].size() * sizeof(float), "caller");
      from.push_back(in_[i].data());
    }
    std::vector<void*> to;
    for (auto& o : out_) {
      std::fill(o.begin(), o.end(), 'x');
      simulator_->HostWrite(o.data(), o.size(), "caller");
      to.push_back(o.data());
    }
    GE_RETURN_IF_ERROR(program_->Run(frame_.get(), from.data(), to.data()));
    for (const auto& o : out_) simulator_->HostRead(o.data(), o.size(), "caller");
    return out_;
  }
  // Lets the devices end what nobody has waited for, which a frame and buffers do not wait for.
  void Forget() {
    simulator_->HostWaits();
    frame_.reset();
  }
  const Program& program() const { return *program_; }

 private:
  ToldPlan() = default;
  Plan plan_;
  sim::Simulator* simulator_ = nullptr;
  std::unique_ptr<Program> program_;
  std::unique_ptr<Frame> frame_;
  std::vector<std::vector<float>> in_;
  Bytes out_;
};

std::string TextOf(const std::vector<sim::Report>& reports) {
  std::string text;
  for (size_t i = 0; i < std::min<size_t>(3, reports.size()); ++i) text += reports[i].text() + "\n";
  return text;
}

// ---- right plans ---------------------------------------------------------------------------

struct ScheduleTally {
  uint64_t schedules = 0, on_device = 0, nodes = 0, copies = 0, peer = 0, waits = 0, launched = 0;

  void Add(const Plan& plan) {
    const PlanFunction& f = plan.functions[0];
    for (const PlanSegment& s : f.segments) {
      for (const PlanOffer& o : s.offers) {
        nodes += o.nodes.size();
        if (plan.devices[s.device].async) on_device += o.nodes.size();
      }
    }
    for (const Instruction& in : f.code) {
      waits += in.op == PlanOp::kWait;
      if (in.op != PlanOp::kCopy) continue;
      ++copies;
      peer += f.values[in.src].domain != 0 && f.values[in.dst].domain != 0;
    }
  }
};

// Half of the schedules with captures.
void ExpectTheEagerBits(uint64_t seed, bool captures, uint64_t schedules, ScheduleTally* tally) {
  const Graph graph = ScheduledGraph(seed);
  SimulatedOptions options;
  options.engine = captures ? "" : ";captures=0";
  auto made = OpenSimulated(seed, graph, options);
  ASSERT_TRUE(made.ok()) << made.status().ToString();
  Simulated& s = **made;
  std::vector<Io> io;
  for (uint64_t k = 0; k < 3; ++k) io.emplace_back(seed * 100 + k);
  auto c = s.session->Compile("", io[0].views);
  ASSERT_TRUE(c.ok()) << c.status().ToString();
  auto plan = ToldPlan::Make(**c, (*c)->plan, &s.simulator());
  auto ref = OpenGraph("ref", graph);
  ASSERT_TRUE(plan.ok() && ref.ok());
  std::vector<Bytes> wanted;
  for (const Io& in : io) {
    auto eager = (*plan)->Run(in);
    ASSERT_TRUE(eager.ok()) << eager.status().ToString();
    wanted.push_back(std::move(*eager));
    EXPECT_EQ(wanted.back(), *RunOnce(ref->get(), in)) << "graph " << seed << ": not ref's bits";
  }
  for (uint64_t k = 0; k < schedules; ++k) {
    const auto how = k == 0   ? sim::Schedule::kLazy
                     : k == 1 ? sim::Schedule::kAdversarial
                              : sim::Schedule::kSeeded;
    s.simulator().SetSchedule(how, seed * 1'000'000 + k);
    auto found = (*plan)->Run(io[k % io.size()]);
    ASSERT_TRUE(found.ok()) << "graph " << seed << ", schedule " << k << ": "
                            << found.status().ToString();
    ASSERT_EQ(*found, wanted[k % io.size()]) << "graph " << seed << ", schedule " << k;
    const auto reports = s.simulator().reports();
    ASSERT_TRUE(reports.empty()) << "graph " << seed << ", schedule " << k << ": "
                                 << TextOf(reports);
  }
  tally->schedules += schedules;
  tally->launched += (*plan)->program().capture_log().Read().launched;
  tally->Add((*c)->plan);
  plan->reset();
  c->reset();
  s.session.reset();
  EXPECT_EQ(TextOf(*s.left), "");
}

TEST(Schedules, RandomGraphsHaveTheBitsOfTheEagerOrder) {
  const uint64_t graphs = 100, schedules = EverySchedule() ? 500 : 10;
  ScheduleTally tally;
  for (uint64_t seed = 1; seed <= graphs; ++seed) {
    ExpectTheEagerBits(seed, false, schedules, &tally);
    ExpectTheEagerBits(seed, true, schedules, &tally);
    if (HasFatalFailure()) return;
  }
  std::printf(
      "%lu schedules of %lu graphs without a report: %lu of %lu nodes on devices, %lu copies, %lu "
      "of them between devices, %lu waits; %lu launches of captures\n",
      tally.schedules, graphs, tally.on_device / 2, tally.nodes / 2, tally.copies / 2,
      tally.peer / 2, tally.waits / 2, tally.launched);
  EXPECT_EQ(tally.schedules, 2 * graphs * schedules);
  EXPECT_GT(2 * tally.on_device, tally.nodes);
  EXPECT_GT(tally.peer, graphs);
  EXPECT_GT(tally.waits, 10 * graphs);
  EXPECT_GT(tally.launched, 2 * graphs);
}

// ---- without a wait ------------------------------------------------------------------------

struct DropTally {
  uint64_t unsafe = 0, reported = 0, wrong = 0, safe = 0;
  std::string missed;
};

void TryWithoutWait(const Compiled& c, Plan plan, size_t at, uint64_t seed, const Io& io,
                    const Bytes& wanted, sim::Simulator* simulator, DropTally* tally) {
  auto& code = plan.functions[0].code;
  code.erase(code.begin() + static_cast<std::ptrdiff_t>(at));
  const OracleVerdict verdict = Judge(plan);
  EXPECT_EQ(Check(plan).ok(), verdict.safe()) << "graph " << seed << " without instruction " << at;
  (verdict.safe() ? tally->safe : tally->unsafe) += 1;
  auto told = ToldPlan::Make(c, std::move(plan), simulator);
  ASSERT_TRUE(told.ok());
  bool reported = false, wrong = false;
  // A host that asks whether an event has passed, to use it again, may learn what it did not wait
  // for. So some races are there in few orders alone.
  const uint64_t most = verdict.safe() ? 8 : 200;
  for (uint64_t k = 0; k < most && !reported; ++k) {
    const auto how = k == 0   ? sim::Schedule::kLazy
                     : k == 1 ? sim::Schedule::kAdversarial
                              : sim::Schedule::kSeeded;
    simulator->SetSchedule(how, seed * 1000 + k);
    auto found = (*told)->Run(io);
    ASSERT_TRUE(found.ok()) << found.status().ToString();
    const auto reports = simulator->reports();
    reported = !reports.empty();
    wrong |= *found != wanted;
    if (verdict.safe()) {
      EXPECT_EQ(*found, wanted) << "graph " << seed << ": safe without instruction " << at;
      EXPECT_FALSE(reported) << "graph " << seed << ": safe without instruction " << at << ": "
                             << TextOf(reports);
    }
    (*told)->Forget();
    (void)simulator->TakeReports();
  }
  tally->reported += reported;
  tally->wrong += wrong;
  if (verdict.safe() || reported || tally->missed.size() > 4000) return;
  tally->missed += "graph " + std::to_string(seed) + " without instruction " + std::to_string(at) +
                   (wrong ? " (wrong): " : ": ") + verdict.ToString() + "\n";
}

// With waits that nothing needs: for signals of other streams, behind them.
Plan WithIdleWaits(Plan plan, uint64_t seed) {
  Random random(seed);
  auto& f = plan.functions[0];
  for (int k = 0; k < 4 && f.streams.size() > 2; ++k) {
    const auto at = random.Below(static_cast<uint32_t>(f.code.size()));
    if (f.code[at].op != PlanOp::kSignal) continue;
    Instruction wait = f.code[at];
    wait.op = PlanOp::kWait;
    wait.stream = 1 + random.Below(static_cast<uint32_t>(f.streams.size() - 1));
    if (wait.stream == f.code[at].stream) continue;
    const auto behind = at + 1 + random.Below(static_cast<uint32_t>(f.code.size() - at));
    f.code.insert(f.code.begin() + behind, wait);
  }
  return plan;
}

TEST(Schedules, AWaitThatIsMissingIsFound) {
  const uint64_t graphs = EverySchedule() ? 100 : 20;
  DropTally tally;
  for (uint64_t seed = 1; seed <= graphs; ++seed) {
    SimulatedOptions options;
    options.engine = ";captures=0";
    auto made = OpenSimulated(seed, ScheduledGraph(seed), options);
    ASSERT_TRUE(made.ok()) << made.status().ToString();
    Simulated& s = **made;
    const Io io(seed);
    auto c = s.session->Compile("", io.views);
    ASSERT_TRUE(c.ok()) << c.status().ToString();
    auto wanted = RunOnce(s.session.get(), io);
    ASSERT_TRUE(wanted.ok()) << wanted.status().ToString();
    const Plan plan = WithIdleWaits((*c)->plan, seed);
    ASSERT_TRUE(Check(plan).ok()) << Check(plan).status().ToString();
    const auto& code = plan.functions[0].code;
    for (size_t i = 0; i < code.size(); ++i) {
      if (code[i].op != PlanOp::kWait) continue;
      TryWithoutWait(**c, plan, i, seed, io, *wanted, &s.simulator(), &tally);
      if (HasFatalFailure()) return;
    }
  }
  std::printf(
      "of %lu waits each dropped in turn %lu are needed: the simulator reports %lu, %lu of the "
      "results are wrong; the %lu others are silent and right\n",
      tally.unsafe + tally.safe, tally.unsafe, tally.reported, tally.wrong, tally.safe);
  EXPECT_EQ(tally.reported, tally.unsafe) << tally.missed;
  EXPECT_GT(tally.unsafe, 10 * graphs);
  EXPECT_GT(tally.safe, graphs / 2);
}

}  // namespace
}  // namespace ge::test
