// Files of states with each bit flipped and with thousands of changes under a right digest, and
// lengths of caches by every way that there is: refused by name with all states as they were, or
// the same states. GE_MUTATIONS: how many changes, 400 where it is not set.
#include <gtest/gtest.h>
#define XXH_INLINE_ALL
#include <unistd.h>
#include <xxhash.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <thread>

#include "frontend/proto/proto.h"
#include "frontend/state_file.h"
#include "frontend/text/text.h"
#include "ge/session/session.h"
#include "tests/unit/plan_generator.h"

namespace ge::test::state_files {
namespace {

constexpr size_t kDigest = 16;

constexpr const char* kGrows = "B,room,2";

// A model's own cache of these sizes, whose length another entry can change. The sum over rows in
// use, and whatever lies behind them, times a weight that is a state of a fixed size.
std::string ModelText(const std::string& sizes) {
  return R"(ge 1
opset "" 28
opset "ge" 1
const at1 : i64[1] = [1]
const one : i64[] = 1
state past : f32[)" +
         sizes + R"(] buffer
state used : i64[] buffer
state weight : f32[2,2] buffer
fn main(x: f32[B,S,2]) -> (y) effects [state past, state used, state weight] {
  before = ge.Read() effects [state past]
  rows = ge.Read() effects [state used]
  w = ge.Read() effects [state weight]
  after = ge.KvAppend(before, rows, x) {axis=1}
  sum = ReduceSum(after, at1) {keepdims=0}
  y = MatMul(sum, w)
  x_shape = Shape(x)
  new = Gather(x_shape, one)
  more = Add(rows, new)
  ge.Assign(after) effects [state past]
  ge.Assign(more) effects [state used]
}
fn skip(by: i64[]) -> (to) effects [state used] {
  rows = ge.Read() effects [state used]
  to = Add(rows, by)
  ge.Assign(to) effects [state used]
}
entry infer "main" = main
entry infer "skip" = skip
)";
}

struct Value {
  DType dtype = DType::kFloat;
  std::vector<int64_t> dims;
  std::string bytes;
  bool operator==(const Value&) const = default;
};

Value Floats(std::vector<int64_t> dims, float first) {
  int64_t count = 1;
  for (const int64_t d : dims) count *= d;
  std::vector<float> data(static_cast<size_t>(count));
  for (float& x : data) x = first++;
  return {DType::kFloat, std::move(dims),
          std::string(reinterpret_cast<const char*>(data.data()), data.size() * sizeof(float))};
}

Value Number(int64_t n) {
  return {DType::kInt64, {}, std::string(reinterpret_cast<const char*>(&n), sizeof n)};
}

TensorView ViewOf(const Value& v) {
  return {v.dtype, v.dims, const_cast<char*>(v.bytes.data()), v.bytes.size()};
}

class Stateful {
 public:
  explicit Stateful(const std::string& sizes = kGrows, int64_t first = 4) {
    auto graph = ParseText(ModelText(sizes), "stateful.gt");
    EXPECT_TRUE(graph.ok()) << graph.status().ToString();
    SessionOptions options;
    options.engines = *ParseEngineList("ref");
    options.kv_cache = first;
    session_ = *Session::Create(std::move(options));
    const Status loaded = session_->LoadGraph(*std::move(graph));
    EXPECT_TRUE(loaded.ok()) << loaded.ToString();
  }
  const Graph& graph() const { return session_->graph(); }
  Session& session() { return *session_; }
  Status Set(StateId id, const Value& v) { return session_->SetState(id, ViewOf(v)); }
  Value Get(StateId id) {
    TensorView view;
    EXPECT_TRUE(session_->GetState(id, &view).ok());
    Value v{view.dtype, view.dims, std::string(view.bytes, '\0')};
    view.data = v.bytes.data();
    EXPECT_TRUE(session_->GetState(id, &view).ok());
    return v;
  }
  std::vector<Value> GetAll() { return {Get(1), Get(2), Get(3)}; }
  Result<std::vector<float>> Run(int64_t rows, float first = 1) {
    const Value x = Floats({1, rows, 2}, first);
    std::vector<float> y(2);
    TensorView in = ViewOf(x), out;
    out.data = y.data();
    out.bytes = y.size() * sizeof(float);
    GE_RETURN_IF_ERROR(session_->Run("main", std::span(&in, 1), std::span(&out, 1)));
    return y;
  }
  Status Skip(int64_t by) {
    const Value n = Number(by);
    int64_t to = 0;
    TensorView in = ViewOf(n), out;
    out.data = &to;
    out.bytes = sizeof to;
    return session_->Run("skip", std::span(&in, 1), std::span(&out, 1));
  }
  std::string Saved() {
    EXPECT_TRUE(session_->states()
                    .Read([&](std::span<const Type> types, std::span<const std::byte* const> at) {
                      return WriteStateFile(graph(), types, at, path_);
                    })
                    .ok());
    std::ifstream in(path_, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }
  // As ge_session_restore_states does it.
  Status Restore(const std::string& bytes) {
    std::remove(path_.c_str());  // some file systems wait for the disk where one is overwritten
    std::ofstream(path_, std::ios::binary) << bytes;
    GE_ASSIGN_OR_RETURN(const std::vector<Const> values, ReadStateFile(graph(), path_));
    return session_->states().Write(values);
  }
  ~Stateful() { std::remove(path_.c_str()); }
  Stateful(const Stateful&) = delete;
  Stateful& operator=(const Stateful&) = delete;

 private:
  const std::string path_ = ::testing::TempDir() + "ge_state_files_" + std::to_string(getpid());
  std::unique_ptr<Session> session_;
};

std::string Sealed(std::string file) {
  XXH128_canonical_t digest;
  XXH128_canonicalFromHash(&digest, XXH3_128bits(file.data(), file.size() - kDigest));
  std::memcpy(file.data() + file.size() - kDigest, digest.digest, kDigest);
  return file;
}

Const Constant(const std::string& name, const Type& type, const std::string& bytes) {
  Const c = MakeConst(type, bytes.data(), bytes.size());
  c.name = name;
  return c;
}

Type TypeOf(const Value& v) { return TensorType(v.dtype, v.dims); }

// As releases before 2026-11-27 wrote it: the digest is of the values alone.
std::string WrittenEarlier(const Graph& model, const std::vector<Value>& values) {
  Graph out;
  out.name = "states of " + model.name;
  out.opsets = model.opsets;
  std::string all;
  for (StateId s = 1; s < model.states.size(); ++s) {
    State state;
    state.name = model.states[s].name;
    state.type = TypeOf(values[s - 1]);
    state.kind = model.states[s].kind;
    state.init = out.AddConst(Constant(state.name, state.type, values[s - 1].bytes));
    out.states.push_back(std::move(state));
    all += values[s - 1].bytes;
  }
  XXH128_canonical_t digest;
  XXH128_canonicalFromHash(&digest, XXH3_128bits(all.data(), all.size()));
  out.AddConst(Constant("xxh3-128 of all states",
                        TensorType(DType::kUint8, std::vector<int64_t>{16}),
                        std::string(reinterpret_cast<const char*>(digest.digest), kDigest)));
  return *WriteProto(out);
}

// What may be said of a file that is no file of states of this model.
void ExpectNamed(const Status& status, const std::string& what) {
  const Code code = status.code();
  EXPECT_TRUE(code == Code::kDataCorrupt || code == Code::kInvalidArgument ||
              code == Code::kUnsupported || code == Code::kLimitExceeded)
      << what << ": " << status.ToString();
  EXPECT_GT(status.message().size(), 20u) << what;
}

void ThreeRows(Stateful* s) {
  ASSERT_TRUE(s->Set(3, Floats({2, 2}, 0.5f)).ok());
  ASSERT_TRUE(s->Run(3).ok());
}

TEST(StateFiles, ComeBackAsTheyWere) {
  Stateful one, other;
  const std::string empty = one.Saved();
  EXPECT_TRUE(other.Restore(empty).ok()) << "a cache without rows";
  ThreeRows(&one);
  ASSERT_TRUE(other.Restore(one.Saved()).ok());
  EXPECT_EQ(other.GetAll(), one.GetAll());
  EXPECT_EQ(*other.Run(1), *one.Run(1));
  const std::string earlier = WrittenEarlier(one.graph(), one.GetAll());
  ASSERT_TRUE(other.Restore(empty).ok());
  const Status read = other.Restore(earlier);
  ASSERT_TRUE(read.ok()) << "a file of an earlier release: " << read.ToString();
  EXPECT_EQ(other.GetAll(), one.GetAll());
}

TEST(StateFiles, EachBitCounts) {
  Stateful s;
  ThreeRows(&s);
  const std::vector<Value> values = s.GetAll();
  const std::string saved = s.Saved(), earlier = WrittenEarlier(s.graph(), values);
  ASSERT_TRUE(s.Restore(earlier).ok());
  for (const bool now : {true, false}) {
    const std::string& file = now ? saved : earlier;
    size_t refused = 0;
    for (size_t bit = 0; bit < file.size() * 8; ++bit) {
      std::string flipped = file;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ 1 << bit % 8);
      const Status status = s.Restore(flipped);
      ASSERT_EQ(s.GetAll(), values) << "bit " << bit << ": " << status.ToString();
      if (status.ok()) continue;
      ExpectNamed(status, "bit " + std::to_string(bit));
      ++refused;
    }
    // What earlier releases wrote has a few bits that say nothing: its name, its producer.
    EXPECT_GE(refused, now ? file.size() * 8 : file.size() * 8 * 7 / 10);
    for (size_t cut = 0; cut < file.size(); ++cut) {
      ExpectNamed(s.Restore(file.substr(0, cut)), "cut");
    }
    if (now) ExpectNamed(s.Restore(file + '\0'), "longer");
    ASSERT_EQ(s.GetAll(), values);
  }
}

TEST(StateFiles, OtherFilesAreToldSo) {
  Stateful s;
  for (const std::string& text : {std::string("\x08\x07\x12\x04onnx"), std::string(),
                                  ModelText(kGrows), *WriteProto(s.graph())}) {
    const Status status = s.Restore(text);
    EXPECT_FALSE(status.ok());
    EXPECT_NE(status.message().find("file that ge_session_save_states wrote"), std::string::npos)
        << status.ToString();
  }
}

// ---- changes under a right digest --------------------------------------------------------------

class Mutator {
 public:
  explicit Mutator(uint64_t seed) : random_(seed) {}

  // What was changed; the graph is that of a file of states.
  std::string Change(Graph* g) {
    const StateId s = 1 + random_.Below(static_cast<uint32_t>(g->states.size() - 1));
    State& state = g->states[s];
    Const& value = g->consts[1 + random_.Below(static_cast<uint32_t>(g->consts.size() - 1))];
    switch (random_.Below(14)) {
      case 0:
        return value.type.dtype = AnyDType(), "the dtype of a value";
      case 1:
        return state.type.dtype = AnyDType(), "the dtype of a state";
      case 2:
        return state.type.dtype = value.type.dtype = AnyDType(), "the dtype of both";
      case 3:
        return ChangeDims(&value.type), "the dims of a value";
      case 4:
        return ChangeDims(&state.type), "the dims of a state";
      case 5:
        ChangeDims(&state.type);
        g->consts[state.init].type = state.type;
        return "the dims of both";
      case 6:
        return state.init = random_.Below(static_cast<uint32_t>(g->consts.size())), "the value";
      case 7:
        return value.name += random_.Chance(50) ? "x" : std::string(1, '\0'), "a value's name";
      case 8:
        return std::swap(state.name, g->states[1].name), "the names of states";
      case 9:
        return Resize(&value, AnyBytes()), "the bytes of a value";
      case 10:
        return ChangeNumber(g), "a number";
      case 11:
        value.external.file = random_.Chance(50) ? "/dev/zero" : "other";
        return value.external.length = value.bytes, value.data = nullptr, "a file beside it";
      case 12:
        return value.splat.assign(4, std::byte{1}), value.data = nullptr, "a splat";
      default:
        return g->states.push_back(state), "a state more";
    }
  }

 private:
  DType AnyDType() { return static_cast<DType>(random_.Below(26)); }
  int64_t AnySize() {
    static const int64_t kSizes[] = {0, 1, 2, 3, 4, 7, 64, 1 << 20, int64_t{1} << 40, INT64_MAX};
    return kSizes[random_.Below(10)];
  }
  uint64_t AnyBytes() { return std::min<uint64_t>(static_cast<uint64_t>(AnySize()), 4096); }
  void ChangeDims(Type* t) {
    const uint32_t how = random_.Below(4);
    if (how == 0 || t->dims.empty()) return t->dims.push_back(KnownDim(AnySize()));
    if (how == 1) return t->dims.pop_back();
    if (how == 2) t->dims[random_.Below(static_cast<uint32_t>(t->dims.size()))] = KnownDim(0);
    t->dims[random_.Below(static_cast<uint32_t>(t->dims.size()))] = KnownDim(AnySize());
  }
  void Resize(Const* c, uint64_t bytes) {
    const std::string name = c->name;
    const Type type = c->type;
    *c = MakeConst(type, std::string(bytes, '\3').data(), bytes);
    c->name = name;
  }
  void ChangeNumber(Graph* g) {
    static const int64_t kNumbers[] = {-1,        0,         4,         5,
                                       3'000'000, INT64_MIN, INT64_MAX, int64_t{1} << 40};
    Const& c = g->consts[g->states[2].init];
    const int64_t n = kNumbers[random_.Below(8)];
    const std::string name = c.name;
    c = MakeConst(c.type, &n, sizeof n);
    c.name = name;
  }
  Random random_;
};

TEST(StateFiles, ChangesUnderARightDigestAreRefusedOrAreWhatTheySay) {
  const char* wanted = std::getenv("GE_MUTATIONS");
  const int count = wanted ? std::atoi(wanted) : 400;
  Stateful s;
  ThreeRows(&s);
  const std::vector<Value> values = s.GetAll();
  const std::string saved = s.Saved();
  std::map<std::string, int> taken, refused;
  for (int i = 0; i < count; ++i) {
    Mutator mutator(static_cast<uint64_t>(i));
    const std::span bytes(reinterpret_cast<const std::byte*>(saved.data()), saved.size());
    Graph graph = *ReadProto(bytes, {});
    std::string what = mutator.Change(&graph);
    if (i % 3 == 0) what += ", " + mutator.Change(&graph);
    const auto text = WriteProto(graph);
    if (!text.ok()) continue;
    // Some of the mutants end with no digest; most of the others have the right one.
    const Status status = s.Restore(i % 5 == 4 ? *text : Sealed(*text));
    if (!status.ok()) {
      ExpectNamed(status, what);
      ASSERT_EQ(s.GetAll(), values) << what << ": " << status.ToString();
      ++refused[what];
      continue;
    }
    ++taken[what];
    // What it says holds, and runs do what they do with such states.
    const auto y = s.Run(1);
    if (!y.ok()) {
      EXPECT_TRUE(y.status().code() == Code::kInvalidArgument ||
                  y.status().code() == Code::kLimitExceeded)
          << what << ": " << y.status().ToString();
    }
    ASSERT_TRUE(s.Restore(saved).ok()) << what;
    ASSERT_EQ(s.GetAll(), values) << what;
  }
  EXPECT_GT(refused.size(), 10u);
  const auto after = s.Run(1);
  EXPECT_TRUE(after.ok()) << after.status().ToString();
}

// ---- lengths and caches ------------------------------------------------------------------------

TEST(CountedRows, NoLengthIsSetBeyondItsCache) {
  for (const char* sizes : {kGrows, "1,4,2"}) {
    SCOPED_TRACE(sizes);
    Stateful s(sizes);
    ThreeRows(&s);
    const std::vector<Value> values = s.GetAll();
    for (const int64_t wrong :
         {int64_t{5}, int64_t{-1}, INT64_MIN, INT64_MAX, int64_t{3'000'000}}) {
      const Status status = s.Set(2, Number(wrong));
      EXPECT_EQ(status.code(), Code::kInvalidArgument) << wrong;
      EXPECT_NE(status.message().find("state 'used' would say that " + std::to_string(wrong)),
                std::string::npos)
          << status.ToString();
      alignas(64) int64_t given = wrong;
      const TensorView donated{DType::kInt64, {}, &given, sizeof given};
      const auto never = [](void*) { ADD_FAILURE() << "it is still the caller's"; };
      EXPECT_EQ(s.session()
                    .states()
                    .Donate(s.graph().states[2], 2, s.graph().dims, donated, {never, nullptr})
                    .code(),
                Code::kInvalidArgument);
      std::vector<Value> all = values;
      all[1] = Number(wrong);
      ExpectNamed(s.Restore(WrittenEarlier(s.graph(), all)), "a length in a file");
    }
    EXPECT_EQ(s.GetAll(), values);
    EXPECT_TRUE(s.Set(2, Number(4)).ok()) << "all rows";
    EXPECT_TRUE(s.Set(2, Number(0)).ok());
    EXPECT_TRUE(s.Run(2).ok());
  }
}

TEST(CountedRows, NoCacheIsSetBelowItsLength) {
  Stateful s;
  ThreeRows(&s);
  const std::vector<Value> values = s.GetAll();
  for (const std::vector<int64_t>& dims :
       {std::vector<int64_t>{1, 2, 2}, {1, 0, 2}, {0, int64_t{1} << 40, 2}, {0, 3, 2}}) {
    const Status status = s.Set(1, Floats(dims, 1));
    EXPECT_EQ(status.code(), Code::kInvalidArgument);
    EXPECT_NE(status.message().find("state 'used' would say that 3 rows of state 'past'"),
              std::string::npos)
        << status.ToString();
  }
  EXPECT_EQ(s.GetAll(), values);
  // A size beyond all memory with no bytes, as well as one that is no size at all.
  ASSERT_TRUE(s.Set(2, Number(0)).ok());
  for (const int64_t size : {INT64_MAX, int64_t{-1}}) {
    Value huge;
    huge.dims = {size, size, 2};
    EXPECT_FALSE(s.Set(1, huge).ok()) << size;
  }
  EXPECT_TRUE(s.Set(1, Floats({1, 2, 2}, 1)).ok());
  EXPECT_TRUE(s.Set(2, Number(2)).ok());
  EXPECT_TRUE(s.Run(1).ok());
  EXPECT_EQ(s.Get(1).dims, (std::vector<int64_t>{1, 4, 2}));
}

// Rows without bytes are no rows: a session's capacity does not follow them.
TEST(CountedRows, EmptyCachesOfAnySizeAreEmpty) {
  Stateful s;
  ASSERT_TRUE(s.Set(3, Floats({2, 2}, 0.5f)).ok());
  Value empty;
  empty.dims = {0, int64_t{1} << 40, 2};
  ASSERT_TRUE(s.Set(1, empty).ok());
  EXPECT_FALSE(s.Set(2, Number(1)).ok());
  const auto y = s.Run(3);
  EXPECT_TRUE(y.ok()) << y.status().ToString();
  EXPECT_EQ(s.Get(1).dims, (std::vector<int64_t>{1, 4, 2}));
}

TEST(CountedRows, ALengthThatAnotherEntryAssignedIsRefusedByTheRun) {
  for (const char* sizes : {kGrows, "1,4,2"}) {
    SCOPED_TRACE(sizes);
    Stateful s(sizes);
    ThreeRows(&s);
    const Value cache = s.Get(1);
    for (const int64_t by : {int64_t{97}, int64_t{3'000'000}, int64_t{-4'000'000}}) {
      ASSERT_TRUE(s.Skip(by).ok());
      const auto y = s.Run(1);
      EXPECT_EQ(y.status().code(), Code::kInvalidArgument) << y.status().ToString();
      EXPECT_EQ(s.Get(1), cache);
    }
    ASSERT_TRUE(s.Set(2, Number(3)).ok());
    EXPECT_TRUE(s.Run(1).ok());
  }
}

// A plan for more rows than there is memory for is refused, and that is all.
TEST(CountedRows, ARefusedRunLeavesTheCapacity) {
  Stateful s;
  ThreeRows(&s);
  for (const int64_t rows : {int64_t{1} << 39, int64_t{1} << 36}) {
    TensorView in;
    in.dtype = DType::kFloat;
    in.dims = {1, rows, 2};
    EXPECT_EQ(s.session().Compile("main", std::span(&in, 1)).status().code(), Code::kLimitExceeded);
    ASSERT_TRUE(s.Set(2, Number(3)).ok());
    const auto y = s.Run(1);
    EXPECT_TRUE(y.ok()) << y.status().ToString();
    EXPECT_EQ(s.Get(1).dims, (std::vector<int64_t>{1, 4, 2}));
  }
}

// Another thread takes rows away and gives others while runs append; each call is done or refused.
TEST(CountedRows, SetBesideRunsTheyStayWithinTheirCaches) {
  Stateful s;
  ThreeRows(&s);
  std::atomic<bool> end{false};
  std::atomic<int> ran{0};
  std::thread runs([&] {
    for (; !end; ++ran) {
      const auto y = s.Run(1);
      if (y.ok()) continue;
      EXPECT_TRUE(y.status().code() == Code::kFailedPrecondition ||
                  y.status().code() == Code::kInvalidArgument)
          << y.status().ToString();
    }
  });
  Random random(1);
  for (int i = 0; i < 300 || ran < 300; ++i) {
    const int64_t rows = 1 + random.Below(9);
    EXPECT_TRUE(s.Set(2, Number(0)).ok());
    const Status cache = s.Set(1, Floats({1, rows, 2}, 1)), length = s.Set(2, Number(rows));
    for (const Status& status : {cache, length}) {  // a run may have appended since
      EXPECT_TRUE(status.ok() || status.code() == Code::kInvalidArgument) << status.ToString();
    }
  }
  end = true;
  runs.join();
  ASSERT_TRUE(s.session().states().Reset(s.graph()).ok());
  EXPECT_TRUE(s.Run(3).ok());
}

TEST(CountedRows, ResizeKeepsNoMoreThanThereIs) {
  auto graph = ParseText(ModelText(kGrows), "stateful.gt");
  ASSERT_TRUE(graph.ok());
  StateStore store;
  ASSERT_TRUE(store.Init(*graph, 1 << 20, "", {false, true, false, false}).ok());
  const auto sized = [](int64_t outer, int64_t rows) {
    return TensorType(DType::kFloat, std::vector<int64_t>{outer, rows, 2});
  };
  ASSERT_TRUE(store.Resize(1, sized(2, 4), 1, 0, 0).ok());
  EXPECT_EQ(store.Resize(1, sized(2, 8), 1, 5, 0).code(), Code::kFailedPrecondition);
  EXPECT_EQ(store.Resize(1, sized(2, 8), 1, -1, 0).code(), Code::kFailedPrecondition);
  EXPECT_EQ(store.Resize(1, sized(2, 2), 1, 3, 0).code(), Code::kFailedPrecondition);
  EXPECT_EQ(store.Resize(1, sized(1, 8), 1, 3, 0).code(), Code::kFailedPrecondition);
  EXPECT_EQ(store.Resize(1, sized(2, 8), 7, 3, 0).code(), Code::kFailedPrecondition);
  for (const int64_t rows : {5, -5}) EXPECT_TRUE(store.ClearBehind(1, 1, rows, 0).ok());
  EXPECT_TRUE(store.ClearBehind(1, 9, 1, 0).ok());
  EXPECT_EQ(store.ClearBehind(1, 1, 1, 7).code(), Code::kFailedPrecondition) << "set meanwhile";
  EXPECT_EQ(store.Resize(1, sized(2, 8), 1, 4, 7).code(), Code::kFailedPrecondition);
  EXPECT_EQ(store.TypeOf(1), sized(2, 4));
  EXPECT_TRUE(store.Resize(1, sized(2, 8), 1, 4, 0).ok());
}

}  // namespace
}  // namespace ge::test::state_files
