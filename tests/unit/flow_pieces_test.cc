// Pieces of control flow at sizes and contents that a session has not seen: how often a structure
// is cut and planned, and that the numbers are right whatever was remembered.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "ge/session/session.h"

namespace ge::test {
namespace {

using Floats = std::vector<float>;

std::unique_ptr<Session> Open(const std::string& text, const char* list = "ref") {
  SessionOptions options;
  auto engines = ParseEngineList(list);
  EXPECT_TRUE(engines.ok());
  options.engines = *engines;
  auto session = Session::Create(std::move(options));
  EXPECT_TRUE(session.ok()) << session.status().ToString();
  const Status loaded = (*session)->LoadBytes(text, Format::kText);
  EXPECT_TRUE(loaded.ok()) << loaded.ToString();
  return *std::move(session);
}

uint64_t Count(Session* session, const char* what) {
  const auto text = session->ReportJson("");
  EXPECT_TRUE(text.ok()) << text.status().ToString();
  return nlohmann::json::parse(*text)[what].get<uint64_t>();
}

// Small whole numbers, then x; the only result.
Result<Floats> Answer(Session* session, std::vector<std::vector<int64_t>> numbers, Floats x,
                      bool scalars = false) {
  std::vector<TensorView> in;
  for (auto& n : numbers) {
    const auto count = static_cast<int64_t>(n.size());
    in.push_back({DType::kInt64, scalars ? std::vector<int64_t>() : std::vector<int64_t>{count},
                  n.data(), n.size() * sizeof(int64_t)});
  }
  const auto size = static_cast<int64_t>(x.size());
  in.push_back({DType::kFloat, {size}, x.data(), x.size() * sizeof(float)});
  TensorView out;
  GE_RETURN_IF_ERROR(session->Run("", in, {&out, 1}));
  const auto* y = static_cast<const float*>(out.data);
  Floats found(y, y + out.bytes / sizeof(float));
  FreeAligned()(static_cast<std::byte*>(out.data));
  return found;
}

Floats Ramp(int64_t n) {
  Floats x;
  for (int64_t i = 0; i < n; ++i) x.push_back(static_cast<float>(i % 3));
  return x;
}

// Nothing but the argument decides; behind it another If that x's size decides.
constexpr const char* kChosen = R"(ge 1
opset "" 28
const three : i64[] = 3
const at : i64[] = 0
const five : i64[] = 5
fn neg(x: f32[n]) -> (y) {
  y = Neg(x)
}
fn twice(x: f32[n]) -> (y) {
  y = Add(x, x)
}
fn early(x: f32[n], k: i64[]) -> (y) {
  s = Shape(x)
  d = Gather(s, at)
  long = Greater(d, k)
  y = If(long, x) calls {then_branch=neg, else_branch=twice}
}
fn late(x: f32[n], k: i64[]) -> (y) {
  y = Mul(x, x)
}
fn main(step: i64[], x: f32[n]) -> (y) {
  c = Less(step, three)
  h = If(c, x, five) calls {then_branch=early, else_branch=late}
  y = Relu(h)
}
entry infer "main" = main
)";

Floats Chosen(int64_t step, const Floats& x) {
  Floats y;
  for (const float v : x) {
    const float early = x.size() > 5 ? -v : v + v;
    y.push_back(std::max(0.0f, step < 3 ? early : v * v));
  }
  return y;
}

TEST(FlowPieces, SmallArgumentsDecideBranches) {
  const auto session = Open(kChosen);
  for (int round = 0; round < 3; ++round) {
    for (const int64_t step : {int64_t{1}, int64_t{7}}) {
      const auto y = Answer(session.get(), {{step}}, Ramp(4), true);
      ASSERT_TRUE(y.ok()) << y.status().ToString();
      EXPECT_EQ(*y, Chosen(step, Ramp(4)));
    }
  }
  EXPECT_EQ(Count(session.get(), "flow_cuts"), 2u);  // each a whole plan
  EXPECT_EQ(Count(session.get(), "flow_plans"), 2u);
  for (const int64_t n : {5, 6, 9, 3}) {  // the inner condition turns at 6
    const auto y = Answer(session.get(), {{int64_t{1}}}, Ramp(n), true);
    ASSERT_TRUE(y.ok()) << y.status().ToString();
    EXPECT_EQ(*y, Chosen(1, Ramp(n)));
  }
  EXPECT_EQ(Count(session.get(), "flow_cuts"), 3u);
}

// A size that was seen is found again, however many runs of another one lie between.
TEST(FlowPieces, SizesThatTakeTurnsArePiecesOnce) {
  const auto session = Open(kChosen);
  for (int round = 0; round < 150; ++round) {
    for (const int64_t n : {4, 7, 9}) {
      const auto y = Answer(session.get(), {{int64_t{1}}}, Ramp(n), true);
      ASSERT_TRUE(y.ok()) << y.status().ToString();
      ASSERT_EQ(*y, Chosen(1, Ramp(n)));
    }
  }
  EXPECT_EQ(Count(session.get(), "evicted"), 0u);
}

TEST(FlowPieces, AnArgumentThatAlwaysChangesDecidesNothing) {
  const auto session = Open(kChosen);
  uint64_t plans = 0;
  for (int64_t step = -20; step < 20; ++step) {
    const auto y = Answer(session.get(), {{step}}, Ramp(4), true);
    ASSERT_TRUE(y.ok()) << y.status().ToString();
    EXPECT_EQ(*y, Chosen(step, Ramp(4))) << step;
    if (step == 5) plans = Count(session.get(), "flow_plans");
  }
  EXPECT_EQ(Count(session.get(), "flow_plans"), plans);
  EXPECT_LE(Count(session.get(), "flow_cuts"), 8u);
}

TEST(FlowPieces, ArgumentsMayChangeInSeveralThreads) {
  const auto session = Open(kChosen);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int64_t i = 0; i < 60; ++i) {
        const int64_t step = (i * (t + 1)) % 11 - 2, n = 3 + (i + t) % 5;
        const auto y = Answer(session.get(), {{step}}, Ramp(n), true);
        if (!y.ok() || *y != Chosen(step, Ramp(n))) ++wrong;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST(FlowPieces, APlaceIsCutOnceForAllSizes) {
  const auto session = Open(R"(ge 1
opset "" 28
fn main(x: f32[n]) -> (z) {
  at = NonZero(x)
  rows = Transpose(at) {perm=[1, 0]}
  y = GatherND(x, rows)
  z = Add(y, y)
}
entry infer "main" = main
)");
  uint64_t cuts = 0;
  for (int64_t n = 6; n < 26; ++n) {
    const auto y = Answer(session.get(), {}, Ramp(n));
    ASSERT_TRUE(y.ok()) << y.status().ToString();
    Floats wanted;
    for (const float v : Ramp(n)) {
      if (v != 0) wanted.push_back(v + v);
    }
    EXPECT_EQ(*y, wanted) << n;
    if (n == 6) cuts = Count(session.get(), "flow_cuts");
  }
  EXPECT_EQ(Count(session.get(), "flow_cuts"), cuts);
  EXPECT_EQ(Count(session.get(), "plans_searched"), 1u);
}

// Whatever is 0, 1 or more of a size: one search, and nothing is asked or compiled for the others,
// and from the third on the passes are not run.
TEST(FlowPieces, NoneAndOneArePlannedLikeMany) {
  constexpr const char* kPadded = R"(ge 1
opset "" 28
const three : i64[1] = [3]
const last : i64[1] = [1]
const flat : i64[1] = [-1]
fn main(x: f32[n]) -> (z) {
  at = NonZero(x)
  rows = Transpose(at) {perm=[1, 0]}
  y = GatherND(x, rows)
  k = Shape(y)
  d = Concat(k, three) {axis=0}
  none = ConstantOfShape(d)
  column = Unsqueeze(y, last)
  wide = Concat(column, none, column) {axis=1}
  half = Neg(wide)
  z = Reshape(half, flat)
}
entry infer "main" = main
)";
  for (const char* engines : {"ref", "native,ref"}) {
    const auto session = Open(kPadded, engines);
    for (const int64_t n : {9, 0, 1, 2, 500, 40, 3}) {
      const auto y = Answer(session.get(), {}, Ramp(n));
      ASSERT_TRUE(y.ok()) << y.status().ToString();
      Floats wanted;
      for (const float v : Ramp(n)) {
        if (v != 0) wanted.insert(wanted.end(), {-v, -0.0f, -0.0f, -0.0f, -v});
      }
      EXPECT_EQ(*y, wanted) << engines << " " << n;
    }
    EXPECT_EQ(Count(session.get(), "plans_searched"), 1u) << engines;
    EXPECT_EQ(Count(session.get(), "plans_by_class"), 0u) << engines;
    EXPECT_EQ(Count(session.get(), "flow_programs"), 5u) << engines;
  }
}

// Sizes that are computed from contents: Slice by one, a fill by another, and what follows.
constexpr const char* kFilled = R"(ge 1
opset "" 28
const zero : i64[1] = [0]
const one : i64[1] = [1]
fn main(end: i64[1], more: i64[1], x: f32[n]) -> (y) {
  s = Slice(x, zero, end)
  m = Add(more, one)
  f = ConstantOfShape(m)
  c = Concat(s, f) {axis=0}
  y = Neg(c)
}
entry infer "main" = main
)";

TEST(FlowPieces, ContentsThatAlwaysChangeMakeOnePiece) {
  const auto session = Open(kFilled);
  uint64_t before = 0;
  for (int64_t i = 0; i < 24; ++i) {
    const Floats x = Ramp(40);
    const auto y = Answer(session.get(), {{2 + i}, {1 + i % 7}}, x);
    ASSERT_TRUE(y.ok()) << y.status().ToString();
    Floats wanted(x.begin(), x.begin() + 2 + i);
    wanted.resize(wanted.size() + static_cast<size_t>(2 + i % 7), 0.0f);
    for (float& v : wanted) v = -v;
    EXPECT_EQ(*y, wanted) << i;
    if (i == 16) before = Count(session.get(), "flow_plans");
  }
  EXPECT_LE(Count(session.get(), "flow_plans"), before + 2 * 7);
  EXPECT_LE(Count(session.get(), "plans_searched"), 8u);
}

TEST(FlowPieces, ALoopWithoutATripHasTheSizesOfItsRun) {
  const auto session = Open(R"(ge 1
opset "" 28

const yes : bool[] = true
fn body(i: i64[], c: bool[], s: f32[n]) -> (c, t, u) {
  t = Neg(s)
  u = Concat(s, s) {axis=0}
}
fn main(trips: i64[1], x: f32[n]) -> (z) {
  m = Squeeze(trips)
  y, stacked = Loop(m, yes, x) {captures=0} calls {body=body}
  s = Shape(stacked)
  f = Cast(s) {to=1}
  z = Add(f, f)
}
entry infer "main" = main
)");
  for (const int64_t trips : {0, 2, 0, 1}) {
    for (const int64_t n : {3, 5, 4}) {
      const auto z = Answer(session.get(), {{trips}}, Ramp(n));
      ASSERT_TRUE(z.ok()) << z.status().ToString();
      EXPECT_EQ(*z, (Floats{static_cast<float>(2 * trips), static_cast<float>(4 * n)}));
    }
  }
}

}  // namespace
}  // namespace ge::test
