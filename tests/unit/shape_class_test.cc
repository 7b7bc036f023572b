// Shapes that a session has not seen: what they are planned from, what is packed for them, and that
// their results are those of ref; residents of several sessions; engines that do not reshape, and
// packs on a device with memory of its own.
#include "ge/compile/classes/shape_class.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <random>
#include <string>
#include <thread>

#include "ge/engine/resident/residents.h"
#include "ge/host/machine.h"
#include "ge/session/session.h"

namespace ge::test {
namespace {

std::string Samples() {
  std::error_code error;
  const auto self = std::filesystem::canonical("/proc/self/exe", error);
  return (self.parent_path() / "../lib/samples/").lexically_normal().string();
}
std::string Built(const std::string& engine) {
  std::error_code error;
  const auto self = std::filesystem::canonical("/proc/self/exe", error);
  return (self.parent_path() / "../lib/graphengine" / (engine + ".so")).lexically_normal().string();
}

std::string Numbers(std::mt19937& rng, int64_t n, double scale) {
  std::normal_distribution<double> normal(0, scale);
  std::string text = "[";
  for (int64_t i = 0; i < n; ++i) text += (i ? ", " : "") + std::to_string(normal(rng));
  return text + "]";
}

// A perceptron with a Gelu, which may be taken apart, and a norm; any number of rows of 48. Weights
// by columns have to be turned.
std::string Perceptron() {
  std::mt19937 rng(1);
  return R"(ge 1
opset "" 28
const w1 : f32[96,48] = )" +
         Numbers(rng, 48 * 96, 0.1) + "\nconst b1 : f32[96] = " + Numbers(rng, 96, 1) +
         "\nconst w2 : f32[96,48] = " + Numbers(rng, 96 * 48, 0.1) +
         "\nconst g : f32[48] = " + Numbers(rng, 48, 1) + R"(
fn main(x: f32[N,48]) -> (y) {
  i: f32[N,96] = Gemm(x, w1, b1) {transB=1}
  j: f32[N,96] = Gelu(i)
  k: f32[N,48] = MatMul(j, w2)
  l: f32[N,48] = Add(k, x)
  y: f32[N,48] = LayerNormalization(l, g) {axis=-1, epsilon=1e-05}
}
entry infer "main" = main
)";
}

// Two convolutions with a pool between them, images of any size.
std::string Convolutions() {
  std::mt19937 rng(2);
  return R"(ge 1
opset "" 28
const w1 : f32[16,8,3,3] = )" +
         Numbers(rng, 16 * 8 * 9, 0.1) + "\nconst b1 : f32[16] = " + Numbers(rng, 16, 1) +
         "\nconst w2 : f32[32,16,3,3] = " + Numbers(rng, 32 * 16 * 9, 0.1) + R"(
fn main(x: f32[1,8,H,W]) -> (y) {
  h = Conv(x, w1, b1) {kernel_shape=[3,3], pads=[1,1,1,1]}
  i = Relu(h)
  j = MaxPool(i) {kernel_shape=[2,2], strides=[2,2]}
  k = Conv(j, w2) {kernel_shape=[3,3], pads=[1,1,1,1]}
  y = Sigmoid(k)
}
entry infer "main" = main
)";
}

Result<std::unique_ptr<Session>> Open(const std::string& engines, const std::string& text,
                                      uint64_t plan_cache_bytes = uint64_t{1} << 30) {
  SessionOptions options;
  options.plan_cache_bytes = plan_cache_bytes;
  GE_ASSIGN_OR_RETURN(options.engines, ParseEngineList(engines));
  GE_ASSIGN_OR_RETURN(auto session, Session::Create(std::move(options)));
  GE_RETURN_IF_ERROR(session->LoadBytes(text, Format::kText));
  return session;
}

using Floats = std::vector<float>;
using Dims = std::vector<int64_t>;

Floats InputOf(const Dims& dims) {
  int64_t n = 1;
  for (int64_t d : dims) n *= d;
  std::mt19937 rng(static_cast<uint32_t>(n));
  std::normal_distribution<float> normal;
  Floats x(static_cast<size_t>(n));
  for (float& v : x) v = normal(rng);
  return x;
}

Result<Floats> RunAt(Session* session, const Dims& dims) {
  Floats x = InputOf(dims);
  const TensorView in{DType::kFloat, dims, x.data(), x.size() * sizeof(float)};
  TensorView out;
  GE_RETURN_IF_ERROR(session->Run("", {&in, 1}, {&out, 1}));
  const auto* y = static_cast<const float*>(out.data);
  Floats found(y, y + out.bytes / sizeof(float));
  FreeAligned()(static_cast<std::byte*>(out.data));
  return found;
}

void ExpectNear(const Floats& found, const Floats& wanted, const std::string& what) {
  ASSERT_EQ(found.size(), wanted.size()) << what;
  double scale = 1e-30, worst = 0;
  for (float w : wanted) scale = std::max(scale, std::abs(static_cast<double>(w)));
  for (size_t i = 0; i < found.size(); ++i) {
    worst = std::max(worst, std::abs(static_cast<double>(found[i]) - wanted[i]));
  }
  EXPECT_LE(worst, 2e-5 * scale) << what;
}

const char* const kEngines[] = {"ref", "native,ref", "onednn,ref", "openblas,ref",
                                "native,onednn,openblas,ref"};

// How the plan for dims was found, and what was packed for it.
struct Seen {
  std::string method;
  uint32_t searches = 0;
  uint64_t filled = 0;
  uint32_t struck = 0;  // offers whose packs could not be written, for one
};

void ExpectAsRef(const std::string& engines, const std::string& text,
                 const std::vector<Dims>& shapes, std::vector<Seen>* seen) {
  auto ref = Open("ref", text), session = Open(engines, text);
  ASSERT_TRUE(ref.ok() && session.ok()) << session.status().ToString();
  for (const Dims& dims : shapes) {
    const std::string what = engines + " at " + std::to_string(dims.back());
    auto wanted = RunAt(ref->get(), dims), found = RunAt(session->get(), dims);
    ASSERT_TRUE(wanted.ok() && found.ok()) << what << ": " << found.status().ToString();
    ExpectNear(*found, *wanted, what);
    const auto c = (*session)->Latest("");
    seen->push_back({c->plan.place_method, c->plan.searches, c->filled_bytes, c->struck_offers});
    auto again = RunAt(session->get(), dims);
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(*again, *found) << what;
  }
}

// Whether what was found at 16 rows is dear at 600 and at one is a matter of prices, but where one
// engine has no other to lose to. Below AVX-512 it serves at 600 rows where one engine has the
// products, and one row is a search; under AVX-512 one of these was seen not to hold. With oneDNN,
// whose code is for one size, a product of 16 rows stays on ref and one of 600 does not.
void ExpectByPrices(const std::string& engines, const Seen& many, const Seen& one) {
  const bool alone = engines == "ref", known = CurrentProcessFacts().isa_cap < GE_ISA_AVX512;
  const bool one_has_products = std::count(engines.begin(), engines.end(), ',') < 2 &&
                                engines.find("onednn") == std::string::npos;
  if (alone || (known && one_has_products)) {
    EXPECT_EQ(many.method, "class, as at 16x48") << engines;
    EXPECT_EQ(many.searches, 0u) << engines;
    EXPECT_EQ(many.filled, 0u) << engines;
  }
  if (alone) {
    EXPECT_EQ(one.method, "class, as at 16x48");
    EXPECT_EQ(one.searches, 0u);
  } else if (known) {
    EXPECT_GE(one.searches, 1u) << engines;
  }
}

TEST(ShapeClass, RowsNearAShapeThatWasPlannedAreReshaped) {
  for (const char* engines : kEngines) {
    std::vector<Seen> seen;
    ExpectAsRef(engines, Perceptron(),
                {{16, 48}, {17, 48}, {23, 48}, {11, 48}, {30, 48}, {500, 48}, {600, 48}, {1, 48}},
                &seen);
    if (HasFatalFailure() || seen.size() != 8) continue;
    EXPECT_GE(seen[0].searches, 1u) << engines;
    for (int i : {1, 2, 3, 4, 5}) {
      EXPECT_EQ(seen[i].method, "class, shaped like 16x48") << engines << " " << i;
      EXPECT_EQ(seen[i].searches, 0u) << engines << " " << i;
      EXPECT_EQ(seen[i].filled, 0u) << engines << " " << i;
    }
    // Far from all it is asked about, and of another class, too, which one row is.
    EXPECT_NE(seen[6].method, "class, shaped like 16x48") << engines;
    EXPECT_NE(seen[7].method, "class, shaped like 16x48") << engines;
    ExpectByPrices(engines, seen[6], seen[7]);
  }
}

// Of another class, since a dim was 1: a looser one. From below alone, and not from afar.
TEST(ShapeClass, AFewRowsAfterOneAreReshaped) {
  for (const char* engines : {"ref", "native,ref"}) {
    std::vector<Seen> seen;
    ExpectAsRef(engines, Perceptron(), {{1, 48}, {2, 48}, {7, 48}, {32, 48}, {33, 48}}, &seen);
    ASSERT_EQ(seen.size(), 5u);
    for (int i : {1, 2, 3}) {
      EXPECT_EQ(seen[i].method, "class, shaped like 1x48") << engines << " " << i;
      EXPECT_EQ(seen[i].filled, 0u) << engines << " " << i;
    }
    EXPECT_NE(seen[4].method, "class, shaped like 1x48") << engines;
  }
  std::vector<Seen> seen;
  ExpectAsRef("native,onednn,openblas,ref", Perceptron(), {{1, 48}, {2, 48}, {30, 48}}, &seen);
}

TEST(ShapeClass, ReshapedPlansShareWhatTheirNodesAreCalled) {
  auto session = Open("native,ref", Perceptron() + "meta \"alphabet\" = \"abc\"\n");
  ASSERT_TRUE(session.ok()) << session.status().ToString();
  std::vector<std::shared_ptr<Compiled>> plans;
  for (const int64_t rows : {16, 17, 23}) {
    ASSERT_TRUE(RunAt(session->get(), {rows, 48}).ok());
    plans.push_back((*session)->Latest(""));
  }
  ASSERT_EQ(plans[2]->placing, Compiled::Placing::kShaped);
  EXPECT_EQ(plans[1]->plan.shared_report, plans[2]->plan.shared_report);
  EXPECT_TRUE(plans[2]->plan.report.empty());
  EXPECT_TRUE(plans[2]->graph.meta.empty());
  ASSERT_EQ(plans[2]->plan.reports().size(), plans[0]->plan.reports().size());
  for (size_t i = 0; i < plans[0]->plan.report.size(); ++i) {
    EXPECT_EQ(plans[2]->plan.reports()[i].label, plans[0]->plan.report[i].label);
    EXPECT_EQ(plans[2]->plan.reports()[i].node, plans[0]->plan.report[i].node);
    EXPECT_EQ(plans[2]->plan.reports()[i].op, plans[0]->plan.report[i].op);
  }
}

TEST(ShapeClass, ImagesOfOtherSizesPackNothing) {
  for (const char* engines : kEngines) {
    std::vector<Seen> seen;
    ExpectAsRef(engines, Convolutions(),
                {{1, 8, 20, 20}, {1, 8, 22, 20}, {1, 8, 21, 27}, {1, 8, 30, 30}, {1, 8, 15, 19}},
                &seen);
    for (size_t i = 1; i < seen.size(); ++i) {
      EXPECT_EQ(seen[i].searches, 0u) << engines << " " << i;
      EXPECT_EQ(seen[i].method, "class, shaped like 1x8x20x20") << engines << " " << i;
      EXPECT_EQ(seen[i].filled, 0u) << engines << " " << i;
    }
  }
}

// As speech comes: one channel, long windows. oneDNN's layouts for it are not told from ours.
TEST(ShapeClass, RowsOfSoundAreReshaped) {
  std::mt19937 rng(3);
  const std::string text = R"(ge 1
opset "" 28
const w : f32[24,1,64] = )" +
                           Numbers(rng, 24 * 64, 0.1) +
                           R"(
fn main(x: f32[N,1,640]) -> (y) {
  h = Conv(x, w) {kernel_shape=[64], strides=[32]}
  y = Relu(h)
}
entry infer "main" = main
)";
  for (const char* engines : kEngines) {
    std::vector<Seen> seen;
    ExpectAsRef(engines, text, {{2, 1, 640}, {3, 1, 640}, {9, 1, 640}}, &seen);
    for (size_t i = 1; i < seen.size(); ++i) {
      EXPECT_EQ(seen[i].method, "class, shaped like 2x1x640") << engines << " " << i;
    }
  }
}

TEST(Residents, ASecondSessionPacksNothingAndTheLastOneLeavesNothing) {
  for (const char* engines : {"native,ref", "onednn,ref"}) {
    const uint64_t before = ResidentStore::OfProcess().counts().residents;
    {
      auto one = Open(engines, Perceptron());
      ASSERT_TRUE(one.ok());
      auto first = RunAt(one->get(), {16, 48});
      ASSERT_TRUE(first.ok());
      EXPECT_GT((*one)->Latest("")->filled_bytes, 0u) << engines;
      auto two = Open(engines, Perceptron());
      ASSERT_TRUE(two.ok());
      auto second = RunAt(two->get(), {16, 48});
      ASSERT_TRUE(second.ok());
      EXPECT_EQ((*two)->Latest("")->filled_bytes, 0u) << engines;
      EXPECT_EQ(*first, *second) << engines;
      one->reset();
      auto alone = RunAt(two->get(), {18, 48});
      ASSERT_TRUE(alone.ok());
    }
    EXPECT_EQ(ResidentStore::OfProcess().counts().residents, before) << engines;
  }
}

// Each load has its payloads elsewhere: those of models that went are forgotten.
TEST(Residents, PlacesOfModelsThatWentAreForgotten) {
  std::vector<std::string> kept;  // lie where the last model did
  const uint64_t before = ResidentStore::OfProcess().counts().places;
  for (int i = 0; i < 100; ++i) {
    auto session = Open("native,ref", Perceptron());
    ASSERT_TRUE(session.ok());
    ASSERT_TRUE(RunAt(session->get(), {16, 48}).ok());
    session->reset();
    for (int k = 0; k < 4; ++k) kept.emplace_back(48 * 48 * 4, 'x');
    EXPECT_LE(ResidentStore::OfProcess().counts().places, before + 64) << i;
  }
}

// The same weights but one number.
TEST(Residents, AnotherPayloadIsAnotherResident) {
  std::string text = Perceptron(), other = text;
  const size_t at = other.find("= [") + 3;
  other.replace(at, other.find(',', at) - at, "0.5");
  auto one = Open("native,ref", text), two = Open("native,ref", other), ref = Open("ref", other);
  ASSERT_TRUE(one.ok() && two.ok() && ref.ok());
  ASSERT_TRUE(RunAt(one->get(), {16, 48}).ok());
  auto found = RunAt(two->get(), {16, 48}), wanted = RunAt(ref->get(), {16, 48});
  ASSERT_TRUE(found.ok() && wanted.ok());
  EXPECT_GT((*two)->Latest("")->filled_bytes, 0u);
  ExpectNear(*found, *wanted, "other weights");
}

// Folded, so on a line of its own: read where it lies, as an operand with more axes and as a
// factor.
TEST(Residents, AConstantThatLiesWellIsReadWhereItLies) {
  const std::string text = R"(ge 1
opset "" 28
const zero : f32[] = 0
const end : f32[] = 12.5
const step : f32[] = 0.0078125
const side : i64[2] = [40, 40]
fn main(x: f32[N,40,40]) -> (y) {
  r: f32[1600] = Range(zero, end, step)
  w: f32[40,40] = Reshape(r, side)
  a: f32[N,40,40] = Add(x, w)
  b: f32[N,40,40] = MatMul(a, w)
  c: f32[N,40,40] = Sub(w, b)
  y: f32[N,40,40] = Mul(c, w)
}
entry infer "main" = main
)";
  for (const char* engines : kEngines) {
    std::vector<Seen> seen;
    ExpectAsRef(engines, text, {{2, 40, 40}, {3, 40, 40}}, &seen);
    ASSERT_EQ(seen.size(), 2u);
    EXPECT_EQ(seen[1].filled, 0u) << engines;
  }
}

// Ways to write that differ in what the key must say: one bias or two, signed codes or not.
TEST(Residents, KeysTellWaysToWriteApart) {
  std::mt19937 rng(3);
  const std::string text = R"(ge 1
opset "" 28
const w : f32[8,1100] = )" +
                           Numbers(rng, 8 * 1100, 1) +
                           "\nconst b : f32[1100] = " + Numbers(rng, 1100, 1) +
                           "\nconst c : f32[1100] = " + Numbers(rng, 1100, 1) + R"(
const lo : i64[] = -100
const hi : i64[] = 4484
const one : i64[] = 1
const to : i64[2] = [8, 573]
fn main(x: f32[N,8]) -> (y) {
  p: f32[N,1100] = MatMul(x, w)
  q: f32[N,1100] = Add(p, b)
  r: f32[N,1100] = MatMul(x, w)
  s: f32[N,1100] = Add(r, b)
  t: f32[N,1100] = Add(s, c)
  range: i64[4584] = Range(lo, hi, one)
  wide: i64[8,573] = Reshape(range, to)
  signed: i8[8,573] = Cast(wide) {to=3}
  plain: u8[8,573] = Cast(wide) {to=2}
  codes: u8[N,8] = Cast(x) {to=2}
  i: i32[N,573] = MatMulInteger(codes, signed)
  j: i32[N,573] = MatMulInteger(codes, plain)
  k: i32[N,573] = Sub(i, j)
  l: f32[N,573] = Cast(k) {to=1}
  m: f32[N,1100] = Sub(q, t)
  y: f32[N,1673] = Concat(m, l) {axis=1}
}
entry infer "main" = main
)";
  for (const char* engines : kEngines) {
    std::vector<Seen> seen;
    ExpectAsRef(engines, text, {{3, 8}, {4, 8}}, &seen);
    EXPECT_EQ(seen.size(), 2u) << engines;
    for (const Seen& s : seen) EXPECT_EQ(s.struck, 0u) << engines;
  }
}

// A plan that was shaped like another keeps no graph, but what its execs read of it: one number
// that stands for many is written out for the engines.
TEST(ShapeClass, AReshapedPlanKeepsTheConstantsThatItReads) {
  const std::string text = R"(ge 1
opset "" 28
const half : f32[1] = [0.5]
fn main(x: f32[N,3000]) -> (y) {
  n: i64[2] = Shape(x)
  c: f32[N,3000] = ConstantOfShape(n) {value=const half}
  a: f32[N,3000] = Mul(x, c)
  y: f32[N,3000] = Sin(a)
}
entry infer "main" = main
)";
  for (const char* engines : kEngines) {
    auto session = Open(engines, text), ref = Open("ref", text);
    ASSERT_TRUE(session.ok() && ref.ok()) << session.status().ToString();
    ASSERT_TRUE(RunAt(session->get(), {16, 3000}).ok());
    ASSERT_TRUE(RunAt(session->get(), {17, 3000}).ok());
    EXPECT_EQ((*session)->Latest("")->plan.place_method, "class, shaped like 16x3000") << engines;
    std::vector<Floats> churn(50, Floats(3000, NAN));  // what was freed is somebody else's now
    auto found = RunAt(session->get(), {17, 3000}), wanted = RunAt(ref->get(), {17, 3000});
    ASSERT_TRUE(found.ok() && wanted.ok());
    ExpectNear(*found, *wanted, engines);
  }
}

TEST(Residents, LieInADevicesOwnMemory) {
  for (const char* wrapped : {"native", "onednn"}) {
    const std::string engines = "ref," + Samples() + "devsim.so:wrap=" + Built(wrapped) +
                                ";price=1;take=100;link_latency_ns=1;link_gbps=100000";
    std::vector<Seen> seen;
    ExpectAsRef(engines, Perceptron(), {{16, 48}, {17, 48}, {30, 48}}, &seen);
    ASSERT_EQ(seen.size(), 3u) << wrapped;
    EXPECT_GT(seen[0].filled, 0u) << wrapped;
    EXPECT_EQ(seen[1].filled, 0u) << wrapped;
    EXPECT_EQ(seen[1].method, "class, shaped like 16x48") << wrapped;
  }
}

// One that has no `shape`, one whose `shape` fails, one that answers without an exec: the host asks
// again and plans as at the nearest shape.
TEST(ShapeClass, EnginesThatDoNotReshapeAreAskedAgain) {
  const std::string text = R"(ge 1
opset "" 28
fn main(x: f32[N,8]) -> (y) {
  a: f32[N,8] = Add(x, x)
  y: f32[N,8] = Neg(a)
}
entry infer "main" = main
)";
  for (const char* fault : {"none", "shape_error", "shape_null_exec"}) {
    std::vector<Seen> seen;
    ExpectAsRef("ref," + Samples() + "faulty_" + fault + ".so", text, {{16, 8}, {17, 8}}, &seen);
    ASSERT_EQ(seen.size(), 2u) << fault;
    EXPECT_EQ(seen[1].method, "class, as at 16x8") << fault;
    EXPECT_EQ(seen[1].searches, 0u) << fault;
  }
}

TEST(Residents, ThatCannotBeWrittenStrikeTheOffer) {
  const std::string text = R"(ge 1
opset "" 28
const k : f32[4] = [1, 2, 3, 4]
fn main(x: f32[4]) -> (y) {
  a: f32[4] = Add(x, x)
  y: f32[4] = Mul(a, k)
}
entry infer "main" = main
)";
  std::vector<Seen> seen;
  ExpectAsRef("ref," + Samples() + "faulty_fill_error.so", text, {{4}}, &seen);
  auto session = Open("ref," + Samples() + "faulty_fill_error.so", text);
  ASSERT_TRUE(session.ok() && RunAt(session->get(), {4}).ok());
  EXPECT_EQ((*session)->Latest("")->struck_offers, 1u);
}

TEST(ShapeClass, ManyThreadsAtRandomShapesAgreeWithRef) {
  auto ref = Open("ref", Perceptron());
  // Little room, so that plans are made and dropped all the time.
  auto session = Open("native,onednn,openblas,ref", Perceptron(), 1 << 20);
  ASSERT_TRUE(ref.ok() && session.ok());
  std::vector<Floats> wanted(80);
  for (int64_t n = 1; n < 80; ++n) {
    auto y = RunAt(ref->get(), {n, 48});
    ASSERT_TRUE(y.ok());
    wanted[static_cast<size_t>(n)] = *std::move(y);
  }
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (uint32_t t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 rng(t);
      for (int k = 0; k < 40; ++k) {
        const int64_t n = 1 + static_cast<int64_t>(rng() % 79);
        auto y = RunAt(session->get(), {n, 48});
        const Floats& want = wanted[static_cast<size_t>(n)];
        bool good = y.ok() && y->size() == want.size();
        for (size_t i = 0; good && i < want.size(); ++i) {
          good = std::abs((*y)[i] - want[i]) <= 1e-4f;
        }
        wrong += good ? 0 : 1;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

TEST(ShapeClasses, KeepFewAndKnowWhatIsNear) {
  ShapeClasses classes;
  for (int64_t n = 0; n < 20; ++n) classes.Add(7, {{int64_t{1} << n}, {}, {}, {}});
  EXPECT_EQ(classes.covers(), ShapeClasses::kMostCovers);
  ASSERT_EQ(classes.Near(7, {1 << 15}).size(), ShapeClasses::kMostCovers);
  EXPECT_EQ(classes.Near(7, {1 << 15})[0]->dims, Dims{1 << 15});
  EXPECT_EQ(classes.Near(7, {1})[0]->dims, Dims{1 << 12});
  EXPECT_TRUE(classes.Near(8, {1 << 15}).empty());
  EXPECT_TRUE(classes.Near(7, {1 << 15, 3}).empty());
  EXPECT_TRUE(ShapeClasses::IsClose({4, 100}, {128, 100}, 32));
  EXPECT_FALSE(ShapeClasses::IsClose({4, 100}, {129, 100}, 32));
  EXPECT_TRUE(ShapeClasses::IsClose({4, 100}, {129, 100}, 128));
  EXPECT_TRUE(ShapeClasses::IsClose({0}, {32}, 32));
  EXPECT_FALSE(ShapeClasses::IsClose({33}, {0}, 32));
}

TEST(ShapeClasses, DimsOfZeroAreNearOnes) {
  ShapeClasses classes;
  classes.Add(7, {{100, 3}, {}, {}, {}});
  classes.Add(7, {{4, 3}, {}, {}, {}});
  const auto near = classes.Near(7, {0, 3});
  ASSERT_EQ(near.size(), 2u);
  EXPECT_EQ(near[0]->dims, (Dims{4, 3}));
}

TEST(ShapeClasses, KeepPlansThatWereKeptOrUsedLast) {
  ShapeClasses classes;
  std::vector<std::weak_ptr<const Compiled>> plans;
  const auto keep = [&](std::shared_ptr<const Compiled> plan) {
    plans.push_back(plan);
    classes.Keep(std::move(plan));
  };
  keep(std::make_shared<Compiled>());
  keep(std::make_shared<Compiled>());
  for (size_t i = 2; i < ShapeClasses::kMostKept; ++i) keep(std::make_shared<Compiled>());
  EXPECT_FALSE(plans[0].expired());
  classes.Keep(plans[0].lock());  // used again
  keep(std::make_shared<Compiled>());
  EXPECT_FALSE(plans[0].expired());
  EXPECT_TRUE(plans[1].expired());
  EXPECT_FALSE(plans[2].expired());
}

}  // namespace
}  // namespace ge::test
