// States that runs overwrite where they lie: 75 random plans, in each of which a failure and a
// cancel strike at every instruction, and 1,000 wrong commits that the prover has to refuse.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "frontend/state_file.h"
#include "frontend/text/text.h"
#include "ge/plan/check/check.h"
#include "tests/unit/graph_session.h"
#include "tests/unit/plan_generator.h"

namespace ge::test {
namespace {

constexpr int64_t kSide = 128;  // a state of 64 KiB: large enough to be overwritten where it lies
using StateValues = std::vector<std::vector<float>>;

// Three states, each with a new value of some of them and the input; some by a node that
// overwrites, some by products, which do not; behind kLastApart the first two by one node together.
// Old values and sums of them are outputs.
constexpr uint64_t kLastApart = 50;
std::string ModelText(uint64_t seed) {
  Random random(seed * 31 + 7);
  const std::string type = "f32[" + std::to_string(kSide) + "," + std::to_string(kSide) + "]";
  std::string states, body, ends;
  std::vector<std::string> known = {"x"};
  auto pick = [&] { return known[random.Below(static_cast<uint32_t>(known.size()))]; };
  for (int s = 0; s < 3; ++s) {
    const std::string n = std::to_string(s);
    states += "state s" + n + " : " + type + " buffer\n";
    body += "  r" + n + ": " + type + " = ge.Read() effects [state s" + n + "]\n";
    known.push_back("r" + n);
  }
  static constexpr const char* kTwo[] = {"Add", "Sub", "Mul", "Max"};
  for (uint32_t k = 0, count = 2 + random.Below(5); k < count; ++k) {
    const std::string name = "t" + std::to_string(k);
    const std::string call = random.Chance(40)   ? "Tanh(" + pick() + ")"
                             : random.Chance(20) ? "MatMul(" + pick() + ", " + pick() + ")"
                                                 : std::string(kTwo[random.Below(4)]) + "(" +
                                                       pick() + ", " + pick() + ")";
    body += "  " + name + ": " + type + " = " + call + "\n";
    known.push_back(name);
  }
  const bool together = seed > kLastApart;
  if (together) {
    ends += "  rate: f32[] = const rate\n  n0: " + type + ", n1: " + type +
            " = ge.MomentumStep(r0, r1, " + pick() +
            ", rate) {momentum=0.5, nesterov=1}\n  ge.Assign(n0) effects [state s0]\n"
            "  ge.Assign(n1) effects [state s1]\n";
  }
  for (int s = together ? 2 : 0; s < 3; ++s) {
    const std::string n = std::to_string(s);
    const std::string call =
        random.Chance(75) ? std::string(kTwo[random.Below(3)]) + "(r" + n + ", " + pick() + ")"
                          : "Sigmoid(" + pick() + ")";
    ends += "  n" + n + ": " + type + " = " + call + "\n  ge.Assign(n" + n + ") effects [state s" +
            n + "]\n";
  }
  return "ge 1\nopset \"\" 28\nopset \"ge\" 1\nconst rate : f32[] = [0.25]\n" + states +
         "fn main(x: " + type + ") -> (y) effects [state s0, state s1, state s2] {\n" + body +
         ends + "  y: " + type + " = Add(" + known.back() + ", r" +
         std::to_string(random.Below(3)) + ")\n}\n" + "entry train_step \"main\" = main\n";
}

Result<std::unique_ptr<Session>> OpenText(const std::string& engines, const std::string& text) {
  GE_ASSIGN_OR_RETURN(Graph graph, ParseText(text, "states.gt"));
  return OpenGraph(engines, std::move(graph));
}

Status Set(Session* session, const StateValues& values) {
  for (StateId s = 1; s <= values.size(); ++s) {
    TensorView v;
    v.dtype = DType::kFloat;
    v.dims = {kSide, kSide};
    v.data = const_cast<float*>(values[s - 1].data());
    v.bytes = values[s - 1].size() * 4;
    GE_RETURN_IF_ERROR(session->SetState(s, v));
  }
  return {};
}

Result<StateValues> Get(Session* session) {
  StateValues out(3, std::vector<float>(kSide * kSide));
  for (StateId s = 1; s <= out.size(); ++s) {
    TensorView v;
    v.data = out[s - 1].data();
    v.bytes = out[s - 1].size() * 4;
    GE_RETURN_IF_ERROR(session->GetState(s, &v));
  }
  return out;
}

std::vector<float> Noise(uint64_t seed) {
  Random random(seed);
  std::vector<float> out(kSide * kSide);
  for (float& x : out) x = static_cast<float>(random.Below(2000)) / 1000.0f - 1.0f;
  return out;
}

Status RunAt(Session* session, const std::vector<float>& x, std::vector<float>* y) {
  y->resize(kSide * kSide);
  TensorView in, out;
  in.dtype = DType::kFloat;
  in.dims = {kSide, kSide};
  in.data = const_cast<float*>(x.data());
  in.bytes = x.size() * 4;
  out.data = y->data();
  out.bytes = y->size() * 4;
  return session->Run("", std::span(&in, 1), std::span(&out, 1));
}

// ---- strikes: every launch and copy of a plan goes through these -----------------------------

constexpr size_t kMostEngines = 3;
struct Strike {
  decltype(ge_engine_api::enqueue) enqueue[kMostEngines] = {};
  decltype(ge_engine_api::copy) copy[kMostEngines] = {};
  int at = -1, seen = 0;             // the call that is struck, counted from 0
  std::function<ge_rc(ge_rc)> what;  // after the call was made: its answer
} strike;

ge_rc Struck(ge_rc rc, ge_err* err) {
  const int now = strike.seen++;
  if (now != strike.at) return rc;
  const ge_rc answer = strike.what(rc);
  if (answer != GE_OK && err != nullptr) err->msg_len = 0;
  return answer;
}
template <size_t kEngine>
ge_rc Enqueue(ge_exec* exec, const ge_launch* launch, ge_err* err) {
  return Struck(strike.enqueue[kEngine](exec, launch, err), err);
}
template <size_t kEngine>
ge_rc Copy(ge_engine* engine, const ge_copy* copy, ge_err* err) {
  return Struck(strike.copy[kEngine](engine, copy, err), err);
}

void Arm(const Compiled& c) {
  static constexpr decltype(ge_engine_api::enqueue) kEnqueue[] = {Enqueue<0>, Enqueue<1>,
                                                                  Enqueue<2>};
  static constexpr decltype(ge_engine_api::copy) kCopy[] = {Copy<0>, Copy<1>, Copy<2>};
  auto& engines = const_cast<ProgramParts&>(c.program().parts()).engines;
  for (size_t e = 0; e < engines.size() && e < kMostEngines; ++e) {
    strike.enqueue[e] = engines[e].api.enqueue;
    strike.copy[e] = engines[e].api.copy;
    engines[e].api.enqueue = kEnqueue[e];
    engines[e].api.copy = kCopy[e];
  }
}

struct StateTally {
  int plans = 0, in_place = 0, beside = 0, strikes = 0, kept = 0, renewed = 0;
};

// The number of engine calls before the commit, and of all.
std::pair<int, int> CallsOf(const Plan& plan) {
  int before = 0, all = 0;
  bool committed = false;
  for (const Instruction& in : plan.functions[0].code) {
    committed |= in.op == PlanOp::kCommit;
    const bool call = in.op == PlanOp::kLaunch || (in.op == PlanOp::kCopy && in.engine != 0);
    all += call;
    before += call && !committed;
  }
  return {before, all};
}

void TryPlan(uint64_t seed, const std::string& engines, StateTally* tally) {
  const std::string text = ModelText(seed);
  auto session = OpenText(engines, text), ref = OpenText("ref", text);
  ASSERT_TRUE(session.ok() && ref.ok()) << session.status().ToString() << "\n" << text;
  const StateValues before = {Noise(seed + 1), Noise(seed + 2), Noise(seed + 3)};
  const std::vector<float> x = Noise(seed + 4);
  std::vector<float> y, wanted;
  ASSERT_TRUE(Set(ref->get(), before).ok() && RunAt(ref->get(), x, &wanted).ok());
  ASSERT_TRUE(Set(session->get(), before).ok());
  const Status first = RunAt(session->get(), x, &y);
  ASSERT_TRUE(first.ok()) << first.ToString() << "\n" << text;
  const StateValues after = *Get(session->get()), meant = *Get(ref->get());
  for (size_t s = 0; s < after.size(); ++s) {
    for (size_t i = 0; i < after[s].size(); ++i) {
      ASSERT_NEAR(after[s][i], meant[s][i], 1e-4 + 1e-4 * std::abs(meant[s][i])) << text;
    }
  }
  const auto c = (*session)->Latest("");
  for (bool there : c->in_place) ++(there ? tally->in_place : tally->beside);
  ++tally->plans;
  Arm(*c);
  const auto [fallible, all] = CallsOf(c->plan);
  for (int at = 0; at < 2 * all; ++at) {
    const bool cancel = at >= all;
    if (!cancel && at >= fallible) continue;  // behind the commit no engine may fail
    ASSERT_TRUE(Set(session->get(), before).ok());
    strike.at = at % all;
    strike.seen = 0;
    strike.what = [&](ge_rc rc) {
      if (!cancel) return ge_rc(GE_INTERNAL);
      (*session)->calls().CancelAll();
      return rc;
    };
    const Status status = RunAt(session->get(), x, &y);
    strike.at = -1;
    const StateValues found = *Get(session->get());
    ++tally->strikes;
    ++(status.ok() ? tally->renewed : tally->kept);
    ASSERT_EQ(found, status.ok() ? after : before)
        << "plan " << seed << " on " << engines << ", " << (cancel ? "cancelled" : "failed")
        << " at call " << at % all << ": " << status.ToString();
  }
}

TEST(InPlaceStates, AreAsBeforeOrWhollyNewAfterAnyFailure) {
  StateTally tally;
  const std::string devsim = "ref," + SamplesFolder() + "devsim.so:price=20;take=50";
  for (uint64_t seed = 1; seed <= kLastApart + 25; ++seed) {
    const std::string engines = seed % 3 == 0 ? "ref" : seed % 3 == 1 ? "native,ref" : devsim;
    TryPlan(seed, engines, &tally);
    if (HasFatalFailure()) return;
  }
  std::printf(
      "%d plans: %d states overwritten where they lie, %d beside; %d strikes: %d runs failed and "
      "left all states as they were, %d ended with all new\n",
      tally.plans, tally.in_place, tally.beside, tally.strikes, tally.kept, tally.renewed);
  EXPECT_EQ(tally.plans, 75);
  EXPECT_GT(tally.in_place, 60);
  EXPECT_GT(tally.beside, 20);
  EXPECT_GT(tally.kept, 300);
  EXPECT_GT(tally.renewed, 30);
}

TEST(InPlaceStates, AnEngineThatFailsWhereItCannotCostsTheState) {
  auto session = OpenText("ref", R"(ge 1
opset "" 28
opset "ge" 1
state s : f32[128,128] buffer
fn main(x: f32[128,128]) -> (y) effects [state s] {
  r: f32[128,128] = ge.Read() effects [state s]
  n: f32[128,128] = Add(r, x)
  ge.Assign(n) effects [state s]
  y: f32[128,128] = Neg(x)
}
entry train_step "main" = main
)");
  ASSERT_TRUE(session.ok()) << session.status().ToString();
  const std::vector<float> x = Noise(1);
  std::vector<float> y;
  ASSERT_TRUE(RunAt(session->get(), x, &y).ok());
  Arm(*(*session)->Latest(""));
  strike.at = 1;
  strike.seen = 0;
  strike.what = [](ge_rc) { return ge_rc(GE_INTERNAL); };
  const Status torn = RunAt(session->get(), x, &y);
  strike.at = -1;
  EXPECT_EQ(torn.code(), Code::kDataCorrupt) << torn.ToString();
  const Status lost = RunAt(session->get(), x, &y);
  EXPECT_NE(lost.ToString().find("state 's' was lost"), std::string::npos) << lost.ToString();
  TensorView v;
  v.dtype = DType::kFloat;
  v.dims = {kSide, kSide};
  v.data = const_cast<float*>(x.data());
  v.bytes = x.size() * 4;
  ASSERT_TRUE((*session)->SetState(1, v).ok());
  EXPECT_TRUE(RunAt(session->get(), x, &y).ok());
}

TEST(InPlaceStates, TakeTheirBytesOnce) {
  for (const char* engines : {"ref", "native,ref", "native,onednn,openblas,ref"}) {
    auto session = OpenText(engines, R"(ge 1
opset "" 28
opset "ge" 1
state w : f32[25,1024,1024] param trainable
fn main(x: f32[1,1024,1024]) -> (y) effects [state w] {
  r: f32[25,1024,1024] = ge.Read() effects [state w]
  n: f32[25,1024,1024] = Sub(r, x)
  ge.Assign(n) effects [state w]
  y: f32[1,1024,1024] = Neg(x)
}
entry train_step "main" = main
)");
    ASSERT_TRUE(session.ok()) << session.status().ToString();
    std::vector<float> x(1024 * 1024, 0.5f), y(x.size());
    TensorView in{DType::kFloat, {1, 1024, 1024}, x.data(), x.size() * 4}, out;
    out.data = y.data();
    out.bytes = y.size() * 4;
    for (int k = 0; k < 2; ++k) {
      const Status ran = (*session)->Run("", std::span(&in, 1), std::span(&out, 1));
      ASSERT_TRUE(ran.ok()) << engines << ": " << ran.ToString();
    }
    const auto report = nlohmann::json::parse(*(*session)->ReportJson(""));
    const double share = report["state_bytes"].get<double>() / (25.0 * 1024 * 1024 * 4);
    std::printf("%s: state bytes allocated / state bytes %.3f, arena %ld\n", engines, share,
                report["arena_bytes"].get<int64_t>());
    EXPECT_LE(share, 1.05) << engines;
    EXPECT_LE(report["arena_bytes"].get<int64_t>(), 25 * 1024 * 1024 * 4 / 20) << engines;
    std::vector<float> w(25 * 1024 * 1024);
    TensorView state;
    state.data = w.data();
    state.bytes = w.size() * 4;
    ASSERT_TRUE((*session)->GetState(1, &state).ok());
    EXPECT_TRUE(std::all_of(w.begin(), w.end(), [](float v) { return v == -1.0f; })) << engines;
  }
}

// ---- beside control flow, and on disk -----------------------------------------------------------

TEST(States, AreReadAndWrittenBesideControlFlow) {
  auto session = OpenText("native,ref", R"(ge 1
opset "" 28
opset "ge" 1
const one : f32[2] = [1, 1]
const limit : f32[] = [2.5]
state count : f32[2] buffer
fn more(a: f32[2]) -> (b) {
  b: f32[2] = Mul(a, a)
}
fn less(a: f32[2]) -> (b) {
  b: f32[2] = Neg(a)
}
fn main(x: f32[2]) -> (y) effects [state count] {
  r: f32[2] = ge.Read() effects [state count]
  n: f32[2] = Add(r, x)
  s: f32[] = ReduceSum(n) {keepdims=0}
  c: bool[] = Greater(s, limit)
  y: f32[2] = If(c, n) calls {then_branch=more, else_branch=less}
  ge.Assign(y) effects [state count]
}
entry train_step "main" = main
)");
  ASSERT_TRUE(session.ok()) << session.status().ToString();
  std::vector<float> x = {1, 1}, y(2), state(2);
  const std::vector<std::vector<float>> wanted = {{-1, -1}, {0, 0}, {-1, -1}};
  for (const auto& w : wanted) {
    TensorView in{DType::kFloat, {2}, x.data(), 8}, out;
    out.data = y.data();
    out.bytes = 8;
    const Status ran = (*session)->Run("", std::span(&in, 1), std::span(&out, 1));
    ASSERT_TRUE(ran.ok()) << ran.ToString();
    TensorView v;
    v.data = state.data();
    v.bytes = 8;
    ASSERT_TRUE((*session)->GetState(1, &v).ok());
    EXPECT_EQ(y, w);
    EXPECT_EQ(state, w);
  }
}

TEST(States, GoToAFileAndBackOrNotAtAll) {
  const std::string text = ModelText(3),
                    path = ::testing::TempDir() + "ge_states_" + std::to_string(getpid());
  auto session = OpenText("ref", text), other = OpenText("native,ref", text);
  ASSERT_TRUE(session.ok() && other.ok());
  const StateValues values = {Noise(1), Noise(2), Noise(3)};
  ASSERT_TRUE(Set(session->get(), values).ok());
  const auto save = [&](std::span<const Type> types, std::span<const std::byte* const> at) {
    return WriteStateFile((*session)->graph(), types, at, path);
  };
  ASSERT_TRUE((*session)->states().Read(save).ok());
  auto read = ReadStateFile((*other)->graph(), path);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  ASSERT_TRUE((*other)->states().Write(*read).ok());
  EXPECT_EQ(*Get(other->get()), values);

  std::ifstream in(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  for (size_t at : {bytes.size() / 3, bytes.size() / 2, bytes.size() - 40}) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    std::ofstream(path, std::ios::binary) << damaged;
    EXPECT_FALSE(ReadStateFile((*other)->graph(), path).ok()) << at;
  }
  std::ofstream(path, std::ios::binary) << bytes.substr(0, bytes.size() / 2);
  EXPECT_FALSE(ReadStateFile((*other)->graph(), path).ok());
  std::ofstream(path, std::ios::binary) << bytes;
  auto foreign = OpenText("ref", R"(ge 1
opset "" 28
opset "ge" 1
state s0 : f32[128,128] buffer
state s1 : f32[128,64] buffer
state s2 : f32[128,128] buffer
fn main(x: f32[2]) -> (y) {
  y: f32[2] = Neg(x)
}
entry infer "main" = main
)");
  ASSERT_TRUE(foreign.ok()) << foreign.status().ToString();
  const auto refused = ReadStateFile((*foreign)->graph(), path);
  EXPECT_EQ(refused.status().code(), Code::kInvalidArgument);
  EXPECT_NE(refused.status().message().find("'s1' of type f32[128,128]"), std::string::npos)
      << refused.status().ToString();
  const auto nowhere = [&](std::span<const Type> types, std::span<const std::byte* const> at) {
    return WriteStateFile((*session)->graph(), types, at, "/nowhere/at/all");
  };
  EXPECT_EQ((*session)->states().Read(nowhere).code(), Code::kIoError);
  std::remove(path.c_str());
}

// ---- wrong commits ----------------------------------------------------------------------------

class CommitEditor {
 public:
  explicit CommitEditor(Random* random) : random_(*random) {}

  // Makes one thing of the commit wrong; answers what, or nothing where the plan has no such thing.
  std::string Edit(Plan* plan) {
    f_ = &plan->functions[0];
    plan_ = plan;
    commit_ = Find([](const Instruction& in) { return in.op == PlanOp::kCommit; });
    output_ = Overwriting();
    switch (random_.Below(9)) {
      case 0:
        f_->code.erase(f_->code.begin() + static_cast<std::ptrdiff_t>(commit_));
        return "drop the commit";
      case 1:
        return MoveCommitUp();
      case 2:
        return MoveCommitDown();
      case 3:
        f_->segments[Maker()].infallible = false;
        return "a segment that can fail";
      case 4:
        return AnotherInput();
      case 5:
        f_->code.insert(f_->code.begin() + static_cast<std::ptrdiff_t>(commit_), f_->code[commit_]);
        return "two commits";
      case 6:
        f_->segments[Maker()].may_alias.clear();
        return "not permitted";
      case 7:
        return LateReader();
      default:
        return DropWait();
    }
  }

 private:
  template <class Is>
  size_t Find(Is is) const {
    return static_cast<size_t>(std::find_if(f_->code.begin(), f_->code.end(), is) -
                               f_->code.begin());
  }
  PlanValueId Overwriting() const {
    std::vector<PlanValueId> found;
    for (PlanValueId v = 1; v < f_->values.size(); ++v) {
      if (f_->values[v].kind == PlanValueKind::kOutput && f_->values[v].alias_of)
        found.push_back(v);
    }
    return found[random_.Below(static_cast<uint32_t>(found.size()))];
  }
  SegmentId Maker() const {
    for (SegmentId s = 0; s < f_->segments.size(); ++s) {
      if (f_->segments[s].outputs == std::vector<PlanValueId>{output_}) return s;
    }
    return 0;
  }
  // Before an instruction that may fail.
  std::string MoveCommitUp() {
    for (size_t i = commit_; i-- > 0;) {
      const Instruction& in = f_->code[i];
      const bool sure = in.op == PlanOp::kLaunch && f_->segments[in.segment].infallible &&
                        !plan_->devices[f_->segments[in.segment].device].async;
      if (sure) continue;
      const Instruction commit = f_->code[commit_];
      f_->code.erase(f_->code.begin() + static_cast<std::ptrdiff_t>(commit_));
      f_->code.insert(f_->code.begin() + static_cast<std::ptrdiff_t>(i), commit);
      return "commit too early";
    }
    return "";
  }
  std::string MoveCommitDown() {
    const Instruction commit = f_->code[commit_];
    f_->code.erase(f_->code.begin() + static_cast<std::ptrdiff_t>(commit_));
    const size_t at = Find(
        [&](const Instruction& in) { return in.op == PlanOp::kLaunch && in.segment == Maker(); });
    f_->code.insert(f_->code.begin() + static_cast<std::ptrdiff_t>(at + 1), commit);
    return "commit too late";
  }
  std::string AnotherInput() {
    std::vector<PlanValueId> others;
    for (PlanValueId v : f_->inputs) {
      if (v != f_->values[output_].alias_of) others.push_back(v);
    }
    if (others.empty()) return "";
    f_->values[output_].alias_of = others[random_.Below(static_cast<uint32_t>(others.size()))];
    return "another state's place";
  }
  // The old value is copied to an output behind its end.
  std::string LateReader() {
    const size_t copy = Find([&](const Instruction& in) {
      return in.op == PlanOp::kCopy && in.src == f_->values[output_].alias_of;
    });
    if (copy < f_->code.size()) {
      const Instruction late = f_->code[copy];
      f_->code.erase(f_->code.begin() + static_cast<std::ptrdiff_t>(copy));
      f_->code.push_back(late);
      return "a copy behind the commit";
    }
    // A launch that reads it, infallible by its own word.
    const PlanValueId before = f_->values[output_].alias_of;
    for (size_t i = 0; i < commit_; ++i) {
      if (f_->code[i].op != PlanOp::kLaunch) continue;
      PlanSegment& s = f_->segments[f_->code[i].segment];
      if (plan_->devices[s.device].async) continue;
      if (std::find(s.inputs.begin(), s.inputs.end(), before) == s.inputs.end()) continue;
      s.infallible = true;
      const Instruction late = f_->code[i];
      f_->code.erase(f_->code.begin() + static_cast<std::ptrdiff_t>(i));
      f_->code.push_back(late);
      return "a reader behind its end";
    }
    return "";
  }
  // The host's last wait before the commit: a device may still be at work then.
  std::string DropWait() {
    for (size_t i = commit_; i-- > 0;) {
      if (f_->code[i].op != PlanOp::kWait || f_->code[i].stream != 0) continue;
      f_->code.erase(f_->code.begin() + static_cast<std::ptrdiff_t>(i));
      return "a device is still at work";
    }
    return "";
  }

  Random& random_;
  Plan* plan_ = nullptr;
  PlanFunction* f_ = nullptr;
  size_t commit_ = 0;
  PlanValueId output_ = 0;
};

TEST(InPlaceStates, WrongCommitsAreRefused) {
  std::vector<Plan> plans;
  const std::string devsim = "ref," + SamplesFolder() + "devsim.so:price=20;take=50";
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    auto session = OpenText(seed % 2 == 0 ? "ref" : devsim, ModelText(seed));
    ASSERT_TRUE(session.ok());
    std::vector<float> y;
    ASSERT_TRUE(RunAt(session->get(), Noise(seed), &y).ok());
    const auto c = (*session)->Latest("");
    const bool any = std::find(c->in_place.begin(), c->in_place.end(), true) != c->in_place.end();
    if (!any) continue;
    plans.push_back(c->plan);
    EXPECT_TRUE(Check(c->plan).ok());
  }
  ASSERT_GT(plans.size(), 30u);
  Random random(20261123);
  CommitEditor editor(&random);
  std::map<std::string, int> edits;
  int refused = 0;
  while (refused < 1000) {
    Plan plan = plans[random.Below(static_cast<uint32_t>(plans.size()))];
    const std::string what = editor.Edit(&plan);
    if (what.empty()) continue;
    ++edits[what];
    const auto report = Check(plan);
    ASSERT_FALSE(report.ok()) << what;
    ASSERT_EQ(report.status().code(), Code::kInternal) << what;
    ++refused;
  }
  for (const auto& [what, n] : edits) std::printf("%-28s %4d refused\n", what.c_str(), n);
  EXPECT_EQ(edits.size(), 10u);
}

}  // namespace
}  // namespace ge::test
