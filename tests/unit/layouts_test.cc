// Images that cross from one CPU engine to another in the layout that convolutions leave them in,
// and conversions where somebody wants them plain: the plan has them, and the numbers are ref's.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "ge/session/session.h"

namespace ge::test {
namespace {

// Channels that fill no whole block of 8 or 16; both branches read the first convolution. Windows
// of 2 x 2, which native does not take.
constexpr const char* kModel = R"(ge 1
opset "" 27
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

Result<Ran> RunOn(const std::string& engines, const std::vector<PlacePin>& pins) {
  SessionOptions options;
  GE_ASSIGN_OR_RETURN(options.engines, ParseEngineList(engines));
  options.build.place.pins = pins;
  GE_ASSIGN_OR_RETURN(auto session, Session::Create(std::move(options)));
  GE_RETURN_IF_ERROR(session->LoadBytes(kModel, Format::kText));
  std::vector<float> x(20 * 9 * 7);
  for (size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i));
  const TensorView in[] = {{DType::kFloat, {1, 20, 9, 7}, x.data(), x.size() * sizeof(float)}};
  Ran ran{nullptr, {std::vector<float>(20 * 7 * 5), std::vector<float>(20 * 7 * 5)}, nullptr};
  std::vector<TensorView> out(2);
  for (size_t i = 0; i < 2; ++i) {
    out[i].data = ran.out[i].data(), out[i].bytes = ran.out[i].size() * sizeof(float);
  }
  GE_RETURN_IF_ERROR(session->Run("", in, out));
  ran.compiled = session->Latest("");
  ran.session = std::move(session);
  return ran;
}

TEST(Layouts, CrossBetweenEnginesAsConvolutionsLeaveThem) {
  auto wanted = RunOn("ref", {});
  ASSERT_TRUE(wanted.ok()) << wanted.status().ToString();
  auto found =
      RunOn("onednn,native,ref",
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
  int crossing = 0, conversions = 0;
  for (const PlanSegment& s : plan.functions[0].segments) {
    conversions += s.conversion >= 0;
    for (PlanValueId v : s.inputs) {
      crossing += s.conversion < 0 && plan.functions[0].values[v].layout != 0;
    }
  }
  EXPECT_EQ(crossing, 3) << "middle, last and pool";
  EXPECT_EQ(conversions, 1) << "of what pool leaves";
}

}  // namespace
}  // namespace ge::test
