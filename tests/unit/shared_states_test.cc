// States that sessions share: one memory for training and evaluation loaded at different times,
// bit for bit as in one session; who waits for whom; what is refused, and leaves all as it was.
#include "ge/run/shared_states.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "ge/base/calls.h"
#include "ge/compile/states/shareable_states.h"
#include "ge/session/run_watch.h"
#include "tests/unit/plan_generator.h"
#include "tests/unit/trained.h"

namespace ge::test {
namespace {

using Names = std::vector<std::string>;

// The entry "look" of the step's model alone, and one that adds to another state, too.
const char* const kLookText = R"(ge 1
opset "" 28
opset "ge" 1
state w : f32[160,160] param trainable
state looks : i64[] metric
const one : i64[] = [1]
fn look(x: f32[160,160]) -> (y) effects [state w] {
  w: f32[160,160] = ge.Read() effects [state w]
  y: f32[160,160] = MatMul(x, w)
}
fn counted(x: f32[160,160]) -> (y) effects [state w, state looks] {
  one: i64[] = const one
  w: f32[160,160] = ge.Read() effects [state w]
  n: i64[] = ge.Read() effects [state looks]
  y: f32[160,160] = MatMul(x, w)
  n2: i64[] = Add(n, one)
  ge.Assign(n2) effects [state looks]
}
entry infer "look" = look
entry eval "counted" = counted
)";

Graph Parsed(const std::string& text) {
  auto graph = ParseText(text, "shared.gt");
  EXPECT_TRUE(graph.ok()) << graph.status().ToString();
  return graph.ok() ? *std::move(graph) : Graph();
}

Result<std::unique_ptr<Session>> Open(const std::string& engines, Graph graph,
                                      const std::shared_ptr<SharedStates>& states) {
  SessionOptions options;
  GE_ASSIGN_OR_RETURN(options.engines, ParseEngineList(engines));
  options.states = states;
  GE_ASSIGN_OR_RETURN(auto session, Session::Create(std::move(options)));
  GE_RETURN_IF_ERROR(session->LoadGraph(std::move(graph)));
  return session;
}

TensorView ViewOf(std::vector<float>* value,
                  std::vector<int64_t> dims = {kTrainedSide, kTrainedSide}) {
  return {DType::kFloat, std::move(dims), value->data(), value->size() * sizeof(float)};
}

std::vector<float> GetFloats(SharedStates* states, const char* name) {
  TensorView view;
  EXPECT_TRUE(states->Get(name, &view).ok()) << name;
  std::vector<float> value(view.bytes / sizeof(float));
  view.data = value.data();
  const Status got = states->Get(name, &view);
  EXPECT_TRUE(got.ok()) << got.ToString();
  return value;
}

int64_t GetNumber(SharedStates* states, const char* name) {
  int64_t n = -1;
  TensorView view;
  view.data = &n;
  view.bytes = sizeof n;
  EXPECT_TRUE(states->Get(name, &view).ok()) << name;
  return n;
}

Names NamesOf(const SharedStates& states) {
  Names names;
  for (const auto& [name, type] : states.List()) names.push_back(name);
  return names;
}

Result<std::vector<float>> RunOf(Session* session, const char* entry, uint64_t seed,
                                 RunObserver* observer = nullptr) {
  std::vector<float> x = TrainedNumbers(seed), y(x.size());
  const TensorView in = ViewOf(&x);
  TensorView out = ViewOf(&y);
  if (observer == nullptr) {
    GE_RETURN_IF_ERROR(session->Run(entry, std::span(&in, 1), std::span(&out, 1)));
    return y;
  }
  GE_ASSIGN_OR_RETURN(const auto plan, session->Compile(entry, std::span(&in, 1)));
  GE_RETURN_IF_ERROR(
      session->RunApart(plan.get(), std::span(&in, 1), std::span(&out, 1), observer));
  return y;
}

// Does something in a run, on its thread.
struct InRun : RunObserver {
  std::function<void()> what;
  explicit InRun(std::function<void()> w) : what(std::move(w)) {}
  void Begin(std::span<const void* const>) override { what(); }
  void After(uint32_t, std::span<const ge_buf>, bool) override {}
};

bool Says(const Status& status, const Names& words) {
  return std::all_of(words.begin(), words.end(), [&](const std::string& w) {
    return status.ToString().find(w) != std::string::npos;
  });
}
#define EXPECT_REFUSED(status, status_code, ...)                          \
  do {                                                                    \
    const Status refused = (status);                                      \
    EXPECT_EQ(refused.code(), (status_code)) << refused.ToString();       \
    EXPECT_TRUE(Says(refused, Names{__VA_ARGS__})) << refused.ToString(); \
  } while (false)

TEST(SharedStates, ModelsLoadedAtDifferentTimesHaveOneMemory) {
  Trained alone("ref");
  const auto states = std::make_shared<SharedStates>();
  auto first = TrainedNumbers(1);
  ASSERT_TRUE(states->Set("w", ViewOf(&first)).ok());  // before any model
  auto train = Open("ref", TrainedGraph(), states);
  ASSERT_TRUE(train.ok()) << train.status().ToString();
  EXPECT_EQ(NamesOf(*states), (Names{"m", "steps", "w"}));
  EXPECT_EQ(GetFloats(states.get(), "w"), first) << "what is there keeps its value";
  EXPECT_EQ(GetNumber(states.get(), "steps"), 0);
  auto second = TrainedNumbers(2);
  ASSERT_TRUE(states->Set("m", ViewOf(&second)).ok());
  std::unique_ptr<Session> look;
  for (uint64_t k = 0; k < 6; ++k) {
    const auto wanted = alone.Run("step", k), found = RunOf(train->get(), "step", k);
    ASSERT_TRUE(wanted.ok() && found.ok()) << found.status().ToString();
    EXPECT_EQ(*wanted, *found);
    if (k == 2) look = *Open("native,ref", Parsed(kLookText), states);
    if (look == nullptr) continue;
    const auto seen = RunOf(look.get(), "look", 9), trained = RunOf(train->get(), "look", 9);
    ASSERT_TRUE(seen.ok() && trained.ok());
    for (size_t i = 0; i < seen->size(); ++i) ASSERT_NEAR((*seen)[i], (*trained)[i], 1e-4f);
  }
  EXPECT_EQ(GetFloats(states.get(), "w"), alone.Get(1));
  EXPECT_EQ(GetNumber(states.get(), "steps"), 6);
  EXPECT_EQ(NamesOf(*states), (Names{"looks", "m", "steps", "w"}));
  EXPECT_EQ(look->states().bytes(), kTrainedBytes + 8) << "w, once, and looks";
  train->reset();
  look.reset();
  EXPECT_EQ(GetFloats(states.get(), "w"), alone.Get(1)) << "they outlive their sessions";
}

TEST(SharedStates, AnotherTypeIsRefusedByName) {
  const auto states = std::make_shared<SharedStates>();
  std::vector<float> small(4, 1);
  ASSERT_TRUE(states->Set("looks", ViewOf(&small, {4})).ok());
  EXPECT_REFUSED(Open("ref", Parsed(kLookText), states).status(), Code::kInvalidArgument, "'looks'",
                 "f32[4]", "i64[]", "another name");
  EXPECT_EQ(NamesOf(*states), (Names{"looks"})) << "nothing was added";
  ASSERT_TRUE(states->Erase("looks").ok());
  auto look = Open("ref", Parsed(kLookText), states);
  ASSERT_TRUE(look.ok()) << look.status().ToString();
  EXPECT_REFUSED(states->Set("w", ViewOf(&small, {2, 2})), Code::kInvalidArgument, "'w'",
                 "f32[160,160]", "f32[2,2]", "1 session");
  EXPECT_REFUSED(states->Erase("w"), Code::kFailedPrecondition, "'w'", "1 session");
  EXPECT_REFUSED((*look)->SetState(1, ViewOf(&small, {2, 2})), Code::kInvalidArgument, "'w'");
  look->reset();
  EXPECT_TRUE(states->Set("w", ViewOf(&small, {2, 2})).ok()) << "nobody uses it any more";
  EXPECT_EQ(GetFloats(states.get(), "w"), small);
  EXPECT_TRUE(states->Erase("w").ok());
  EXPECT_REFUSED(states->Erase("w"), Code::kInvalidArgument, "'w'", "there are 1");
  TensorView view;
  EXPECT_REFUSED(states->Get("w", &view), Code::kInvalidArgument, "'w'");
  EXPECT_REFUSED(states->Set("", ViewOf(&small, {4})), Code::kInvalidArgument, "a name");
  EXPECT_REFUSED(states->Set("v", {DType::kString, {4}, small.data(), 16}), Code::kInvalidArgument,
                 "'v'", "tensor of numbers");
  EXPECT_REFUSED(states->Set("v", {DType::kFloat, {4}, nullptr, 16}), Code::kInvalidArgument, "'v'",
                 "NULL");
}

TEST(SharedStates, WhatCannotBeSharedIsRefusedByName) {
  const std::string head = "ge 1\nopset \"\" 28\nopset \"ge\" 1\n", tail = R"(
fn main(x: f32[1,S,2]) -> (y) effects [state past, state used] {
  before = ge.Read() effects [state past]
  rows = ge.Read() effects [state used]
  y = ge.KvAppend(before, rows, x) {axis=1}
  ge.Assign(y) effects [state past]
}
entry infer "main" = main
)";
  const auto states = std::make_shared<SharedStates>();
  for (const char* size : {"8", "room"}) {
    const std::string text =
        head + "state past : f32[1," + size + ",2] buffer\nstate used : i64[] buffer" + tail;
    EXPECT_REFUSED(Open("ref", Parsed(text), states).status(), Code::kUnsupported, "'past'",
                   "kv_cache", "ge_session_options.states");
    EXPECT_TRUE(Open("ref", Parsed(text), nullptr).ok()) << "a session of its own takes it";
  }
  Graph ranks = TrainedGraph();
  ranks.fn(1).nodes.back().effects.push_back({EffectKind::kCollective, 1, 1});
  EXPECT_REFUSED(CheckShareable(TrainedGraph(), ranks), Code::kUnsupported, "collective",
                 "one rank");
  Graph share = TrainedGraph();
  share.states[1].type.dims[0] = KnownDim(80);
  EXPECT_REFUSED(CheckShareable(TrainedGraph(), share), Code::kUnsupported, "'w'", "f32[160,160]",
                 "f32[80,160]", "share");
  share.states[1].type.dims[0] = share.dims.OfSymbol(share.dims.FreshSymbol("n"));
  EXPECT_REFUSED(CheckShareable(share, share), Code::kUnsupported, "'w'", "fixed size");
  EXPECT_TRUE(CheckShareable(TrainedGraph(), TrainedGraph()).ok());
  EXPECT_TRUE(states->List().empty());
}

TEST(SharedStates, ALoadThatFailsLeavesThemAsTheyWere) {
  const auto states = std::make_shared<SharedStates>();
  std::vector<float> w = TrainedNumbers(5);
  ASSERT_TRUE(states->Set("w", ViewOf(&w)).ok());
  const Graph graph = TrainedGraph();
  {
    StateStore undone;  // never Loaded
    ASSERT_TRUE(undone.Init(graph, 1 << 30, "", {}, {}, states).ok());
    EXPECT_EQ(NamesOf(*states), (Names{"m", "steps", "w"}));
    StateStore kept;
    ASSERT_TRUE(kept.Init(Parsed(kLookText), 1 << 30, "", {}, {}, states).ok());
    kept.Loaded();
  }
  EXPECT_EQ(NamesOf(*states), (Names{"looks", "w"}));
  EXPECT_EQ(GetFloats(states.get(), "w"), w);
  StateStore large;
  EXPECT_EQ(large.Init(graph, 1000, "", {}, {}, states).code(), Code::kLimitExceeded);
  EXPECT_EQ(NamesOf(*states), (Names{"looks", "w"}));
}

TEST(SharedStates, AFailedRunLeavesThemAsTheyWere) {
  for (int n = 1; n <= 8; ++n) {
    const auto states = std::make_shared<SharedStates>();
    Trained host("ref");
    auto opened = Open(SamplesFolder() + "devsim.so:strict=1;fail_at=" + std::to_string(n),
                       TrainedGraph(), states);
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    Trained device(*std::move(opened));
    auto look = Open("ref", Parsed(kLookText), states);
    ASSERT_TRUE(look.ok()) << look.status().ToString();
    for (uint64_t k = 1; k <= 3; ++k) {
      if (device.Run("step", k).ok()) {
        ASSERT_TRUE(host.Run("step", k).ok());
      }
      EXPECT_EQ(GetFloats(states.get(), "w"), host.Get(1)) << "fail_at=" << n;
      EXPECT_EQ(GetFloats(states.get(), "m"), host.Get(2)) << "fail_at=" << n;
      EXPECT_EQ(*RunOf(look->get(), "look", k), *host.Run("look", k));
    }
  }
}

// Two sessions on two devices and one on the host; what lies on a device outlives its session.
TEST(SharedStates, TheyMoveWhereASessionRuns) {
  const std::string devsim = SamplesFolder() + "devsim.so:strict=1";
  Trained host("ref");
  const auto states = std::make_shared<SharedStates>();
  auto first = TrainedNumbers(1), second = TrainedNumbers(2);
  ASSERT_TRUE(states->Set("w", ViewOf(&first)).ok());
  ASSERT_TRUE(states->Set("m", ViewOf(&second)).ok());
  std::vector<std::unique_ptr<Session>> sessions;
  for (const std::string& engines : {devsim, std::string("ref"), devsim + ";streams=4"}) {
    auto opened = Open(engines, TrainedGraph(), states);
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    sessions.push_back(*std::move(opened));
  }
  const auto step = [&](size_t s, uint64_t k) {
    const auto wanted = host.Run("step", k), found = RunOf(sessions[s].get(), "step", k);
    ASSERT_TRUE(wanted.ok() && found.ok()) << found.status().ToString();
    EXPECT_EQ(*wanted, *found);
    EXPECT_EQ(GetFloats(states.get(), "w"), host.Get(1));
  };
  for (uint64_t k = 0; k < 9; ++k) step(k % 3, k);
  EXPECT_GT(sessions[2]->states().device_bytes(), 2 * kTrainedBytes);
  EXPECT_EQ(sessions[1]->states().device_bytes(), sessions[2]->states().device_bytes());
  sessions[2].reset();
  EXPECT_EQ(GetFloats(states.get(), "w"), host.Get(1)) << "its engine stays open";
  step(0, 20);
  sessions[0].reset();
  step(1, 21);
  EXPECT_EQ(sessions[1]->states().device_bytes(), 0u);
  EXPECT_EQ(GetNumber(states.get(), "steps"), 11);
}

TEST(SharedStates, TheyAreSavedRestoredResetAndGivenByASession) {
  const auto states = std::make_shared<SharedStates>();
  auto opened = Open("ref", TrainedGraph(), states);
  ASSERT_TRUE(opened.ok()) << opened.status().ToString();
  Trained train(*std::move(opened));
  std::vector<std::vector<std::byte>> saved(4);
  std::vector<Const> values(4);
  const auto keep = [&](std::span<const Type> types, std::span<const std::byte* const> at) {
    for (size_t s = 1; s < types.size(); ++s) {
      saved[s].assign(at[s], at[s] + ByteCount(types[s]).value_or(0));
      values[s].type = types[s];
      values[s].data = saved[s].data();
      values[s].bytes = saved[s].size();
    }
    return Status();
  };
  ASSERT_TRUE(train.session->states().Read(keep).ok());
  ASSERT_TRUE(train.Run("step", 1).ok());
  EXPECT_EQ(GetNumber(states.get(), "steps"), 1);
  ASSERT_TRUE(train.session->states().Write(values).ok());
  EXPECT_EQ(GetNumber(states.get(), "steps"), 0);
  EXPECT_EQ(GetFloats(states.get(), "w"), TrainedNumbers(1));
  values[1].type = TensorType(DType::kFloat, std::vector<int64_t>{kTrainedSide, 1});
  values[1].bytes = kTrainedSide * 4;
  EXPECT_REFUSED(train.session->states().Write(values), Code::kInvalidArgument, "'w'");
  ASSERT_TRUE(train.session->states().Reset(train.session->graph()).ok());
  EXPECT_EQ(GetFloats(states.get(), "w"), std::vector<float>(kTrainedSide * kTrainedSide));
  // Memory of the caller's, until the state gets other memory or nobody has it.
  alignas(64) static float given[kTrainedSide * kTrainedSide] = {7};
  int freed = 0;
  const FreeState free = {[](void* n) { ++*static_cast<int*>(n); }, &freed};
  const TensorView value{DType::kFloat, {kTrainedSide, kTrainedSide}, given, kTrainedBytes};
  const Graph& graph = train.session->graph();
  ASSERT_TRUE(train.session->states().Donate(graph.states[1], 1, graph.dims, value, free).ok());
  EXPECT_EQ(GetFloats(states.get(), "w")[0], 7);
  train.session.reset();
  EXPECT_EQ(freed, 0);
  EXPECT_TRUE(states->Erase("w").ok());
  EXPECT_EQ(freed, 1);
}

TEST(SharedStates, ACallFromWithinARunThatUsesThemIsRefused) {
  const auto states = std::make_shared<SharedStates>(), others = std::make_shared<SharedStates>();
  auto train = Open("ref", TrainedGraph(), states), look = Open("ref", Parsed(kLookText), states);
  auto apart = Open("ref", Parsed(kLookText), others);
  ASSERT_TRUE(train.ok() && look.ok() && apart.ok());
  std::vector<float> w = TrainedNumbers(3), out(w.size());
  int called = 0;
  InRun inside([&] {
    ++called;
    TensorView view = ViewOf(&out);
    EXPECT_REFUSED(states->Get("w", &view), Code::kFailedPrecondition, "'w'", "within a run");
    EXPECT_REFUSED(states->Set("looks", ViewOf(&w)), Code::kInvalidArgument, "'looks'");
    EXPECT_REFUSED(states->Set("w", ViewOf(&w)), Code::kFailedPrecondition, "within a run");
    EXPECT_REFUSED(RunOf(look->get(), "counted", 1).status(), Code::kFailedPrecondition,
                   "within a run");
    EXPECT_REFUSED((*train)->SetState(1, ViewOf(&w)), Code::kFailedPrecondition, "within a run");
    EXPECT_EQ(NamesOf(*states).size(), 4u) << "what waits for nobody is answered";
    EXPECT_TRUE(states->Get("w", &(view = TensorView())).ok()) << "of its type alone";
    EXPECT_TRUE(RunOf(apart->get(), "look", 1).ok()) << "those have nothing to do with it";
    EXPECT_TRUE(others->Set("w", ViewOf(&w)).ok());
  });
  Trained alone("ref");
  std::vector<float> zeros(w.size());
  for (const StateId s : {1, 2}) ASSERT_TRUE(alone.session->SetState(s, ViewOf(&zeros)).ok());
  for (const char* entry : {"step", "look"}) {
    const auto ran = RunOf(train->get(), entry, 1, &inside), wanted = alone.Run(entry, 1);
    ASSERT_TRUE(ran.ok() && wanted.ok()) << ran.status().ToString();
    EXPECT_EQ(*ran, *wanted) << "whatever ran within it";
  }
  EXPECT_EQ(called, 2);
  EXPECT_EQ(GetNumber(states.get(), "steps"), 1);
  EXPECT_TRUE(states->Set("w", ViewOf(&w)).ok()) << "after it";
}

// ---- who waits for whom ------------------------------------------------------------------------

void UntilWaiting(StateLocks* locks, size_t n) {
  while (locks->waiting() != n) std::this_thread::yield();
}

struct Slots {
  std::vector<std::shared_ptr<StateSlot>> slots;
  StateLocks locks;
  explicit Slots(size_t n) {
    for (size_t i = 0; i < n; ++i) {
      slots.push_back(std::make_shared<StateSlot>());
      slots.back()->name = std::string(1, static_cast<char>('a' + i));
    }
  }
};
using Ids = std::vector<StateId>;

TEST(SharedStates, AWriterWaitsForThoseThatUseItsStatesAlone) {
  Slots s(4);
  const Ids a = {0}, ab = {0, 1}, b = {1}, c = {2};
  auto writer = std::make_unique<StateAccess>();
  ASSERT_TRUE(writer->Begin(&s.locks, s.slots, b, a).ok());
  std::atomic<bool> both{false};
  std::thread waits([&] {
    StateAccess access;
    EXPECT_TRUE(access.Begin(&s.locks, s.slots, {}, ab).ok());
    both = true;
  });
  UntilWaiting(&s.locks, 1);
  // What has nothing to do with `a` is not held up, though the one that waits wants `b`, too.
  std::thread others([&] {
    for (const Ids& write : {c, Ids{}}) {
      StateAccess access;
      EXPECT_TRUE(access.Begin(&s.locks, s.slots, b, write).ok());
    }
  });
  others.join();
  EXPECT_FALSE(both);
  writer.reset();
  waits.join();
  EXPECT_TRUE(both);
}

// Readers that overlap, so that there is always one.
TEST(SharedStates, AWriterBesideReadersGetsItsTurn) {
  Slots s(2);
  const Ids a = {0};
  std::atomic<bool> end{false};
  std::atomic<int> reading{0};
  std::vector<std::thread> readers;
  for (int t = 0; t < 3; ++t) {
    readers.emplace_back([&] {
      while (!end) {
        StateAccess access;
        ASSERT_TRUE(access.Begin(&s.locks, s.slots, a, {}).ok());
        ++reading;
        while (reading < 2 && !end && s.locks.waiting() == 0) std::this_thread::yield();
        --reading;
      }
    });
  }
  for (int i = 0; i < 200; ++i) {
    StateAccess access;
    ASSERT_TRUE(access.Begin(&s.locks, s.slots, {}, a).ok());
    EXPECT_EQ(reading, 0);
  }
  end = true;
  for (std::thread& t : readers) t.join();
}

TEST(SharedStates, NoOrderOfEightThreadsIsADeadlock) {
  constexpr int kStates = 6, kThreads = 8, kEach = 1500;
  Slots s(kStates);
  std::array<std::atomic<int>, kStates> readers{}, writers{};
  std::array<int64_t, kStates> value{};  // of who holds it
  std::array<std::atomic<int64_t>, kStates> wanted{};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Random random(static_cast<uint64_t>(t) + 1);
      for (int i = 0; i < kEach; ++i) {
        Ids read, write;
        for (StateId k = 0; k < kStates; ++k) {
          const uint32_t what = random.Below(6);
          if (what < 2) read.push_back(k);
          if (what == 1 || what == 2) write.push_back(k);
        }
        if (random.Chance(50)) std::reverse(write.begin(), write.end());
        StateAccess access;
        wrong += !access.Begin(&s.locks, s.slots, read, write).ok();
        for (const StateId k : write) wrong += ++writers[k] != 1 || readers[k] != 0;
        for (const StateId k : write) {
          ++value[k];
          ++wanted[k];
        }
        for (const StateId k : write) --writers[k];
        Ids only = read;  // the spans of `access` stay as they are
        std::erase_if(only, [&](StateId k) {
          return std::find(write.begin(), write.end(), k) != write.end();
        });
        for (const StateId k : only) {
          ++readers[k];
          wrong += writers[k] != 0;
        }
        for (const StateId k : only) --readers[k];
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  for (int k = 0; k < kStates; ++k) EXPECT_EQ(value[k], wanted[k]);
  for (const auto& slot : s.slots) EXPECT_EQ(slot->readers + slot->writers, 0u);
  EXPECT_EQ(s.locks.waiting(), 0u);
}

TEST(SharedStates, WhoWaitsCanBeInterrupted) {
  const auto states = std::make_shared<SharedStates>();
  auto train = Open("ref", TrainedGraph(), states);
  ASSERT_TRUE(train.ok());
  std::vector<float> w = TrainedNumbers(3), out(w.size());
  Calls calls;
  InRun inside([&] {
    std::vector<Status> ended(3);
    std::thread set([&] {
      const CancelScope call(&calls);
      ended[0] = states->Set("w", ViewOf(&w));
    });
    std::thread get([&] {
      const CancelScope call(&calls);
      TensorView view = ViewOf(&out);
      ended[1] = states->Get("w", &view);
    });
    std::thread late([&] {
      Calls::Call call(&calls);
      const CallScope scope(&calls, &call);
      const Deadline deadline(&call.interrupt(), 1);
      ended[2] = states->Set("m", ViewOf(&w));
    });
    late.join();
    UntilWaiting(states->locks(), 2);
    calls.CancelAll();
    set.join();
    get.join();
    EXPECT_EQ(ended[0].code(), Code::kCancelled) << ended[0].ToString();
    EXPECT_EQ(ended[1].code(), Code::kCancelled) << ended[1].ToString();
    EXPECT_EQ(ended[2].code(), Code::kDeadlineExceeded) << ended[2].ToString();
  });
  EXPECT_TRUE(RunOf(train->get(), "step", 1, &inside).ok());
  EXPECT_EQ(GetNumber(states.get(), "steps"), 1);
  EXPECT_EQ(states->locks()->waiting(), 0u);
}

// Steps and looks of four sessions on one set, beside calls: each step counts once.
TEST(SharedStates, EightThreadsOnSeveralSessions) {
  constexpr int kEach = 12;
  const auto states = std::make_shared<SharedStates>();
  std::vector<std::unique_ptr<Session>> sessions(4);
  std::vector<std::thread> threads;
  std::atomic<int> failed{0};
  for (size_t i = 0; i < sessions.size(); ++i) {  // loaded at once
    threads.emplace_back([&, i] {
      auto opened = Open("ref", i % 2 ? Parsed(kLookText) : TrainedGraph(), states);
      EXPECT_TRUE(opened.ok()) << opened.status().ToString();
      if (opened.ok()) sessions[i] = *std::move(opened);
    });
  }
  for (std::thread& t : threads) t.join();
  for (const auto& s : sessions) ASSERT_NE(s, nullptr);
  threads.clear();
  std::vector<float> w(kTrainedSide * kTrainedSide, 0.25f);
  static constexpr const char* kEntries[] = {"step", "counted", "step", "look"};
  for (size_t t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      std::vector<float> mine = w, out(w.size());
      TensorView view = ViewOf(&out);
      for (int k = 0; k < kEach; ++k) {
        if (t == 6) {
          failed += !states->Set("w", ViewOf(&mine)).ok();
        } else if (t == 7) {
          failed += !states->Get("w", &view).ok();
        } else {
          failed += !RunOf(sessions[t % 4].get(), kEntries[t % 4], t).ok();
        }
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(GetNumber(states.get(), "steps"), 3 * kEach);  // threads 0, 2 and 4
  EXPECT_EQ(GetNumber(states.get(), "looks"), 2 * kEach);  // threads 1 and 5
  EXPECT_EQ(NamesOf(*states), (Names{"looks", "m", "steps", "w"}));
}

}  // namespace
}  // namespace ge::test
