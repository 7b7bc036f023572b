// Graphs of further signatures that are made without the passes: they, and the plans of them, are
// those that the long way makes, and what does not fit is refused as ever.
#include "ge/session/shape_program.h"

#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

#include "frontend/text/plan_text.h"
#include "ge/session/session.h"

namespace ge::test {
namespace {

// Positions from a table, a mask that is made of the length, heads, and a length that comes back.
const char* const kReader = R"(ge 1
opset "" 28
const table : f32[16,4] = splat 0.125
const w : f32[4,4] = splat 0.25
const zero : i64[1] = [0]
const one : i64[1] = [1]
const heads : i64[1] = [2]
const four : i64[1] = [4]
const at : i64[] = 1
const floor : f32[] = -3.0
fn main(x: f32[B,S,4]) -> (y) {
  s: i64[3] = Shape(x)
  n: i64[] = Gather(s, at)
  n1 = Unsqueeze(n, zero)
  rows = Slice(table, zero, n1, zero)
  px = Add(x, rows)
  h = MatMul(px, w)
  b1 = Slice(s, zero, one, zero)
  split = Concat(b1, n1, heads, heads) {axis=0}
  r = Reshape(h, split)
  t = Transpose(r) {perm=[0, 2, 1, 3]}
  u = Transpose(t) {perm=[0, 1, 3, 2]}
  a = MatMul(t, u)
  square = Concat(one, one, n1, n1) {axis=0}
  mask = Expand(floor, square)
  m = Add(a, mask)
  p = Softmax(m) {axis=-1}
  o = MatMul(p, t)
  back = Transpose(o) {perm=[0, 2, 1, 3]}
  joined = Concat(b1, n1, four) {axis=0}
  z = Reshape(back, joined)
  y = Add(z, x)
}
entry infer "main" = main
)";

// A size that must be 8 or 1, which the model does not say.
const char* const kFixed = R"(ge 1
opset "" 28
const row : f32[8] = splat 2.0
const k : f32[3,3] = splat 0.5
fn main(x: f32[N,M,3]) -> (y) {
  h = MatMul(x, k)
  t = Transpose(h) {perm=[0, 2, 1]}
  a = Add(t, row)
  y = Relu(a)
}
entry infer "main" = main
)";

// What a Reshape reads is, at one size, what an Expand reads that the model has itself.
const char* const kLikeOwn = R"(ge 1
opset "" 28
const at : i64[] = 0
const zero : i64[1] = [0]
const four : i64[1] = [4]
const wide : i64[2] = [4, 6]
fn main(x: f32[S,4]) -> (y) {
  s: i64[2] = Shape(x)
  n: i64[] = Gather(s, at)
  n1 = Unsqueeze(n, zero)
  turned = Concat(four, n1) {axis=0}
  r = Reshape(x, turned)
  p = Softmax(r) {axis=-1}
  m = ReduceMax(p) {keepdims=1}
  e = Expand(m, wide)
  a = ReduceSum(e) {keepdims=1}
  y = Add(x, a)
}
entry infer "main" = main
)";

// At one size both readers of x do the same.
const char* const kLikeEachOther = R"(ge 1
opset "" 28
const at : i64[] = 0
const zero : i64[1] = [0]
const four : i64[1] = [4]
fn main(x: f32[S,2,2]) -> (y) {
  s: i64[3] = Shape(x)
  n: i64[] = Gather(s, at)
  n1 = Unsqueeze(n, zero)
  rows = Concat(n1, four) {axis=0}
  columns = Concat(four, n1) {axis=0}
  a = Reshape(x, rows)
  b = Reshape(x, columns)
  y = MatMul(a, b)
}
entry infer "main" = main
)";

// Bound at each signature from the model itself, by all passes, where `whole`.
Result<std::unique_ptr<Session>> OpenText(const std::string& text, bool whole,
                                          const std::string& engines) {
  SessionOptions options;
  GE_ASSIGN_OR_RETURN(options.engines, ParseEngineList(engines));
  if (whole) options.build.runner.after = [](const std::string&) {};
  GE_ASSIGN_OR_RETURN(auto session, Session::Create(std::move(options)));
  GE_RETURN_IF_ERROR(session->LoadBytes(text, Format::kText));
  return session;
}

// But for the places of constants, which passes add in another order where more is left to fold.
std::string TextOf(const Plan& plan) {
  return std::regex_replace(PrintPlan(plan), std::regex(" constant=[0-9]+"), "");
}

bool MadeByProgram(const Compiled& c) {
  for (const StageTime& t : c.times) {
    if (t.name.rfind("rewrite/", 0) == 0) return false;
  }
  return true;
}

void ExpectSamePlans(const std::string& text, const std::vector<std::vector<int64_t>>& shapes,
                     int wanted, const std::string& engines) {
  auto known = OpenText(text, false, engines), whole = OpenText(text, true, engines);
  ASSERT_TRUE(known.ok() && whole.ok()) << known.status().ToString();
  int by_program = 0;
  for (const auto& dims : shapes) {
    size_t count = 1;
    for (const int64_t d : dims) count *= static_cast<size_t>(d);
    std::vector<float> x(count);
    for (size_t i = 0; i < count; ++i) x[i] = static_cast<float>(i % 7) - 3.0f;
    const TensorView in{DType::kFloat, dims, x.data(), x.size() * sizeof(float)};
    auto a = (*known)->Compile("", {&in, 1}), b = (*whole)->Compile("", {&in, 1});
    ASSERT_EQ(a.ok(), b.ok()) << a.status().ToString() << "\n" << b.status().ToString();
    if (!a.ok()) {
      EXPECT_EQ(a.status().ToString(), b.status().ToString());
      continue;
    }
    by_program += MadeByProgram(**a);
    EXPECT_EQ(TextOf((*a)->plan), TextOf((*b)->plan));
    EXPECT_EQ((*a)->shape_class, (*b)->shape_class);
    TensorView ours, theirs;
    ASSERT_TRUE((*known)->Run("", {&in, 1}, {&ours, 1}).ok());
    ASSERT_TRUE((*whole)->Run("", {&in, 1}, {&theirs, 1}).ok());
    EXPECT_EQ(ours.dims, theirs.dims);
    EXPECT_EQ(std::string(static_cast<const char*>(ours.data), ours.bytes),
              std::string(static_cast<const char*>(theirs.data), theirs.bytes));
    FreeAligned()(static_cast<std::byte*>(ours.data));
    FreeAligned()(static_cast<std::byte*>(theirs.data));
  }
  EXPECT_EQ(by_program, wanted) << engines;
}

TEST(ShapeProgram, PlansAreThoseOfTheLongWay) {
  for (const char* engines : {"native,ref", "ref"}) {
    // 1 is another structure, 2 and 4 are sizes that the model has itself: as many as there are
    // heads, numbers of a head and of a row.
    ExpectSamePlans(kReader,
                    {{1, 5, 4},
                     {1, 6, 4},
                     {1, 7, 4},
                     {1, 8, 4},
                     {1, 1, 4},
                     {1, 9, 4},
                     {1, 2, 4},
                     {1, 4, 4},
                     {1, 3, 4},
                     {1, 16, 4},
                     {1, 11, 4}},
                    9, engines);
    ExpectSamePlans(kReader,
                    {{2, 5, 4}, {3, 5, 4}, {4, 5, 4}, {5, 5, 4}, {1, 5, 4}, {2, 5, 4}, {7, 5, 4}},
                    4, engines);
  }
}

TEST(ShapeProgram, WhatDoesNotFitIsRefusedAsEver) {
  ExpectSamePlans(kFixed, {{2, 8, 3}, {3, 8, 3}, {4, 8, 3}, {5, 8, 3}}, 3, "native,ref");
  // Sizes of the other axis come to be open when all plans so far were of 8.
  ExpectSamePlans(kFixed, {{2, 8, 3}, {2, 1, 3}, {2, 8, 3}, {2, 7, 3}, {2, 8, 3}, {2, 0, 3}}, 0,
                  "native,ref");
}

// Constants that are made of sizes and come to be alike are merged by the passes: the program sees
// that and leaves the signature to them.
TEST(ShapeProgram, ConstantsThatBecomeAlikeAreLeftToThePasses) {
  for (const char* engines : {"native,ref", "ref"}) {
    // One that is learned at 6 is of no use at 8, and the next one is.
    ExpectSamePlans(kLikeOwn, {{3, 4}, {5, 4}, {7, 4}, {6, 4}, {8, 4}, {9, 4}}, 3, engines);
    ExpectSamePlans(kLikeEachOther, {{3, 2, 2}, {5, 2, 2}, {7, 2, 2}, {4, 2, 2}, {8, 2, 2}}, 3,
                    engines);
    // Learned where they are alike, of use where they are not.
    ExpectSamePlans(kLikeOwn, {{3, 4}, {6, 4}, {7, 4}, {8, 4}, {9, 4}}, 2, engines);
    ExpectSamePlans(kLikeEachOther, {{3, 2, 2}, {4, 2, 2}, {7, 2, 2}, {8, 2, 2}}, 2, engines);
  }
}

}  // namespace
}  // namespace ge::test
