// A step of an optimizer, which writes a weight and its slots where they lie.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "frontend/text/text.h"
#include "tests/unit/graph_session.h"

namespace ge::test {
namespace {

TEST(StepStates, OneStepOverwritesAWeightAndItsSlots) {
  Result<Graph> graph = ParseText(R"(ge 1
opset "" 28
opset "ge" 1
const rate : f32[] = [0.5]
const one : f32[] = [1]
state w : f32[1024,1024] param trainable
state m : f32[1024,1024] opt
state v : f32[1024,1024] opt
fn main(x: f32[1024,1024], go: bool[]) -> (y) effects [state w, state m, state v] {
  rate: f32[] = const rate
  one: f32[] = const one
  w: f32[1024,1024] = ge.Read() effects [state w]
  m: f32[1024,1024] = ge.Read() effects [state m]
  v: f32[1024,1024] = ge.Read() effects [state v]
  y: f32[1024,1024] = Add(w, x)
  n: f32[1024,1024], nm: f32[1024,1024], nv: f32[1024,1024] = ge.AdamStep(w, m, v, x, rate, one, one, go) {beta1=0.5, beta2=0.75, epsilon=0.0}
  ge.Assign(n) effects [state w]
  ge.Assign(nm) effects [state m]
  ge.Assign(nv) effects [state v]
}
entry train_step "main" = main
)",
                                  "step.gt");
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  auto session = OpenGraph("native,onednn,openblas,ref", std::move(*graph));
  ASSERT_TRUE(session.ok()) << session.status().ToString();
  std::vector<float> x(1024 * 1024, 2.0f), y(x.size()), state(x.size());
  const auto bytes = static_cast<int64_t>(x.size() * 4);
  for (const uint8_t go : {1, 0}) {
    uint8_t flag = go;
    TensorView in[2] = {{DType::kFloat, {1024, 1024}, x.data(), x.size() * 4},
                        {DType::kBool, {}, &flag, 1}};
    TensorView out;
    out.data = y.data();
    out.bytes = y.size() * 4;
    const Status ran = (*session)->Run("", in, std::span(&out, 1));
    ASSERT_TRUE(ran.ok()) << ran.ToString();
    EXPECT_EQ(y[7], go ? 2.0f : 1.5f);  // what was there before the step
    // The mean is 1, the mean square 1: the weight goes down by the rate, or stays.
    const float wanted[] = {-0.5f, 1.0f, 1.0f};
    for (StateId s = 1; s <= 3; ++s) {
      TensorView v;
      v.data = state.data();
      v.bytes = state.size() * 4;
      ASSERT_TRUE((*session)->GetState(s, &v).ok());
      EXPECT_TRUE(std::all_of(state.begin(), state.end(),
                              [&](float f) { return std::abs(f - wanted[s - 1]) < 1e-6f; }))
          << "state " << s << " is " << state[0];
    }
  }
  const auto report = nlohmann::json::parse(*(*session)->ReportJson(""));
  EXPECT_LE(report["state_bytes"].get<int64_t>(), 3 * bytes * 105 / 100);
  EXPECT_LE(report["arena_bytes"].get<int64_t>(), bytes / 20);
}

// Of each step with one slot, and LAMB's, which goes through all of them twice.
TEST(StepStates, OthersLieWhereTheyLay) {
  const char* const steps[] = {
      "RmsPropStep(w, m, x, rate) {alpha=0.5, epsilon=1.0}",
      "AdagradStep(w, m, x, rate) {epsilon=1.0}", "LionStep(w, m, x, rate) {beta1=0.5, beta2=0.5}",
      "LarsStep(w, m, x, rate) {momentum=0.5, trust=0.5, epsilon=1.0}",
      "LambStep(w, m, v, x, rate, rate, rate) {beta1=0.5, beta2=0.5, epsilon=1.0}"};
  for (const std::string step : steps) {
    const bool two = step[1] == 'a' && step[2] == 'm';
    std::string text = R"(ge 1
opset "" 28
opset "ge" 1
const rate : f32[] = [0.5]
state w : f32[512,1024] param trainable
state m : f32[512,1024] opt
state v : f32[512,1024] opt
fn main(x: f32[512,1024]) -> (y) effects [state w, state m, state v] {
  rate: f32[] = const rate
  w: f32[512,1024] = ge.Read() effects [state w]
  m: f32[512,1024] = ge.Read() effects [state m]
  v: f32[512,1024] = ge.Read() effects [state v]
  y: f32[512,1024] = Add(w, x)
  n: f32[512,1024], nm: f32[512,1024])";
    text += two ? ", nv: f32[512,1024] = ge." : " = ge.";
    text += step + "\n  ge.Assign(n) effects [state w]\n  ge.Assign(nm) effects [state m]\n";
    if (two) text += "  ge.Assign(nv) effects [state v]\n";
    text += "}\nentry train_step \"main\" = main\n";
    Result<Graph> graph = ParseText(text, "step.gt");
    ASSERT_TRUE(graph.ok()) << graph.status().ToString();
    auto session = OpenGraph("native,ref", std::move(*graph));
    ASSERT_TRUE(session.ok()) << step << ": " << session.status().ToString();
    std::vector<float> x(512 * 1024, 2.0f), y(x.size()), weight(x.size());
    TensorView in{DType::kFloat, {512, 1024}, x.data(), x.size() * 4};
    TensorView out, v;
    out.data = y.data();
    out.bytes = v.bytes = y.size() * 4;
    v.data = weight.data();
    const Status ran = (*session)->Run("", std::span(&in, 1), std::span(&out, 1));
    ASSERT_TRUE(ran.ok()) << step << ": " << ran.ToString();
    EXPECT_EQ(y[7], 2.0f) << step;
    ASSERT_TRUE((*session)->GetState(1, &v).ok());
    EXPECT_LT(weight[7], 0.0f) << step;
    EXPECT_EQ(std::count(weight.begin(), weight.end(), weight[7]), 512 * 1024) << step;
    const auto report = nlohmann::json::parse(*(*session)->ReportJson(""));
    EXPECT_LE(report["state_bytes"].get<int64_t>(), 3 * v.bytes * 105 / 100) << step;
    EXPECT_LE(report["arena_bytes"].get<int64_t>(), v.bytes / 20) << step;
  }
}

}  // namespace
}  // namespace ge::test
