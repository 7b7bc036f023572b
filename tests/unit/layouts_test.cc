// Images that cross from one CPU engine to another in the layout that convolutions leave them in,
// and conversions where somebody wants them plain: the plan has them, and the numbers are ref's.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "ge/session/session.h"

namespace ge::test {
namespace {

// Channels that fill no whole block of 8 or 16; both branches read the first convolution. Windows
// of 2 x 2, which native does not take.
constexpr const char* kLayoutsModel = R"(ge 1
opset "" 28
const w : f32[20,20,2,2] = splat 0.01
fn main(x: f32[1,20,9,7]) -> (y, p) {
  c: f32[1,20,8,6] = Conv(x, w) "first"
  t: f32[1,20,8,6] = Tanh(c) "middle"
  y: f32[1,20,7,5] = Conv(t, w) "last"
  p: f32[1,20,7,5] = MaxPool(c) {kernel_shape=[2, 2]} "pool"
}
entry infer "main" = main
)";

struct Ran {
  std::unique_ptr<Session> session;  // outlives its plan
  std::vector<std::vector<float>> out;
  std::shared_ptr<Compiled> compiled;
};

// One input of `x` and outputs of `y`, all f32.
Result<Ran> RunOn(const std::string& model, const std::vector<int64_t>& x,
                  const std::vector<int64_t>& y, const std::string& engines,
                  const std::vector<PlacePin>& pins) {
  SessionOptions options;
  GE_ASSIGN_OR_RETURN(options.engines, ParseEngineList(engines));
  options.build.place.pins = pins;
  GE_ASSIGN_OR_RETURN(auto session, Session::Create(std::move(options)));
  GE_RETURN_IF_ERROR(session->LoadBytes(model, Format::kText));
  const auto count = [](const std::vector<int64_t>& dims) {
    return static_cast<size_t>(
        std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>()));
  };
  std::vector<float> from(count(x));
  for (size_t i = 0; i < from.size(); ++i) from[i] = std::sin(static_cast<float>(i));
  const TensorView in[] = {{DType::kFloat, x, from.data(), from.size() * sizeof(float)}};
  Ran ran{nullptr, {std::vector<float>(count(y)), std::vector<float>(count(y))}, nullptr};
  std::vector<TensorView> out(2);
  for (size_t i = 0; i < 2; ++i) {
    out[i].data = ran.out[i].data();
    out[i].bytes = ran.out[i].size() * sizeof(float);
  }
  GE_RETURN_IF_ERROR(session->Run("", in, out));
  ran.compiled = session->Latest("");
  ran.session = std::move(session);
  return ran;
}

// How many values other than plain segments read, and how many conversions there are.
std::pair<int, int> CrossingsAndConversions(const Plan& plan) {
  int crossings = 0, conversions = 0;
  for (const PlanSegment& s : plan.functions[0].segments) {
    conversions += s.conversion >= 0;
    for (PlanValueId v : s.inputs) {
      crossings += s.conversion < 0 && plan.functions[0].values[v].layout != 0;
    }
  }
  return {crossings, conversions};
}

TEST(Layouts, CrossBetweenEnginesAsConvolutionsLeaveThem) {
  const std::vector<int64_t> x = {1, 20, 9, 7}, y = {1, 20, 7, 5};
  auto wanted = RunOn(kLayoutsModel, x, y, "ref", {});
  ASSERT_TRUE(wanted.ok()) << wanted.status().ToString();
  auto found =
      RunOn(kLayoutsModel, x, y, "onednn,native,ref",
            {{"first", "onednn"}, {"middle", "native"}, {"last", "onednn"}, {"pool", "native"}});
  ASSERT_TRUE(found.ok()) << found.status().ToString();
  for (size_t i = 0; i < 2; ++i) {
    for (size_t k = 0; k < wanted->out[i].size(); ++k) {
      EXPECT_NEAR(found->out[i][k], wanted->out[i][k], 1e-5) << "output " << i << ", " << k;
    }
  }
  const Plan& plan = found->compiled->plan;
  ASSERT_GT(plan.layouts.size(), 1u);
  // `first` leaves its result once; `middle` and `pool` take it so.
  const auto [crossings, conversions] = CrossingsAndConversions(plan);
  EXPECT_EQ(crossings, 3) << "middle, last and pool";
  EXPECT_EQ(conversions, 1) << "of what pool leaves";
}

// A plain image that six convolutions read is laid out anew once, not by each of them.
TEST(Layouts, AnImageOfManyReadersIsConvertedOnce) {
  std::string weights, nodes;
  std::vector<PlacePin> pins;
  for (int i = 0; i < 6; ++i) {
    const std::string k = std::to_string(i), name = "c" + k;
    weights += "const w" + k + " : f32[16,16,2,2] = splat 0.0" + std::to_string(i + 1) + "\n";
    nodes += "  " + name + ": f32[1,16,29,29] = Conv(x, w" + k + ") \"" + name + "\"\n";
    pins.push_back({name, "onednn"});
  }
  const std::string model = "ge 1\nopset \"\" 28\n" + weights +
                            "fn main(x: f32[1,16,30,30]) -> (y, z) {\n" + nodes +
                            R"(  y: f32[1,16,29,29] = Sum(c0, c1, c2)
  z: f32[1,16,29,29] = Sum(c3, c4, c5)
}
entry infer "main" = main
)";
  auto found = RunOn(model, {1, 16, 30, 30}, {1, 16, 29, 29}, "onednn,native,ref", pins);
  ASSERT_TRUE(found.ok()) << found.status().ToString();
  const Plan& plan = found->compiled->plan;
  int of_x = 0;
  for (const PlanSegment& s : plan.functions[0].segments) {
    for (PlanValueId v : s.inputs)
      of_x += s.conversion >= 0 && plan.functions[0].values[v].name == "x";
  }
  EXPECT_EQ(of_x, 1);
}

}  // namespace
}  // namespace ge::test
