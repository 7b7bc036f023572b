// Nodes with a decomposition between engines that want them whole and engines that want their
// parts: who gets them, what explain says, and that the numbers stay. The asynchronous device
// stands for an engine that takes some operators at some share of ref's prices.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "frontend/text/text.h"
#include "ge/session/session.h"

namespace ge {
namespace {

constexpr int64_t kRows = 16, kWidth = 64;

constexpr char kModel[] = R"(ge 1
opset "" 28
const scale : f32[64] = splat 1.5
const bias : f32[64] = splat 0.25

fn main(x: f32[16,64]) -> (y) {
  a: f32[16,64] = Neg(x) "before"
  n: f32[16,64] = LayerNormalization(a, scale, bias) "norm"
  y: f32[16,64] = Gelu(n) "act"
}
entry infer "main" = main
)";
constexpr char kNormParts[] = "ReduceMean+Sub+Mul+Add+Sqrt+Div";

std::string Device(const std::string& options) {
  std::error_code error;
  const auto self = std::filesystem::canonical("/proc/self/exe", error);
  return (self.parent_path() / "../lib/samples/devsim.so").lexically_normal().string() +
         ":link_latency_ns=0;link_gbps=1000000;" + options;
}

struct Outcome {
  std::vector<float> y;
  std::vector<NodeReport> report;
  std::vector<std::string> devices;  // by device of a bid

  const NodeReport* Find(const std::string& op) const {
    for (const NodeReport& r : report) {
      if (r.op == op) return &r;
    }
    return nullptr;
  }
  std::string DeviceOf(const NodeReport& r) const {
    return r.chosen < 0 ? "" : devices[r.bids[static_cast<size_t>(r.chosen)].device];
  }
};

Result<Outcome> RunOn(const std::string& engines) {
  SessionOptions options;
  GE_ASSIGN_OR_RETURN(options.engines, ParseEngineList(engines));
  GE_ASSIGN_OR_RETURN(auto session, Session::Create(std::move(options)));
  GE_ASSIGN_OR_RETURN(Graph graph, ParseText(kModel, "model"));
  GE_RETURN_IF_ERROR(session->LoadGraph(std::move(graph)));
  std::vector<float> x(kRows * kWidth);
  for (size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i * i % 997));
  TensorView in{DType::kFloat, {kRows, kWidth}, x.data(), x.size() * sizeof(float)};
  Outcome out;
  out.y.resize(x.size());
  TensorView result{DType::kFloat, {kRows, kWidth}, out.y.data(), out.y.size() * sizeof(float)};
  GE_RETURN_IF_ERROR(session->Run("", {&in, 1}, {&result, 1}));
  const auto compiled = session->Latest("");
  out.report = compiled->plan.report;
  for (const PlanDevice& d : compiled->plan.devices) out.devices.push_back(d.name);
  return out;
}

void ExpectSameNumbers(const Outcome& found) {
  const auto wanted = RunOn("ref");
  ASSERT_TRUE(wanted.ok()) << wanted.status().ToString();
  for (size_t i = 0; i < wanted->y.size(); ++i) {
    ASSERT_NEAR(found.y[i], wanted->y[i], 2e-6 * (1 + std::fabs(wanted->y[i]))) << i;
  }
}

bool Begins(const std::string& text, const std::string& with) { return text.rfind(with, 0) == 0; }

TEST(Decomposition, OneEngineKeepsWhatItTakesWhole) {
  const auto r = RunOn("ref");
  ASSERT_TRUE(r.ok()) << r.status().ToString();
  ASSERT_NE(r->Find("LayerNormalization"), nullptr);
  ASSERT_NE(r->Find("Gelu"), nullptr);
  EXPECT_TRUE(Begins(r->Find("Gelu")->decomposition, "kept: ")) << r->Find("Gelu")->decomposition;
  EXPECT_NE(r->Find("Gelu")->decomposition.find("for its parts"), std::string::npos);
  EXPECT_EQ(r->Find("Neg")->decomposition, "");
}

TEST(Decomposition, StaysWholeWhereThatIsCheaper) {
  const auto r = RunOn("ref," + Device("ops=LayerNormalization;price=1"));
  ASSERT_TRUE(r.ok()) << r.status().ToString();
  const NodeReport* norm = r->Find("LayerNormalization");
  ASSERT_NE(norm, nullptr);
  EXPECT_TRUE(Begins(r->DeviceOf(*norm), "devsim/")) << r->DeviceOf(*norm);
  EXPECT_TRUE(Begins(norm->decomposition, "kept: ")) << norm->decomposition;
  ExpectSameNumbers(*r);
}

TEST(Decomposition, BecomesItsPartsWhereTheyAreCheaper) {
  const auto r = RunOn("ref," + Device(std::string("price=0;ops=") + kNormParts));
  ASSERT_TRUE(r.ok()) << r.status().ToString();
  EXPECT_EQ(r->Find("LayerNormalization"), nullptr);
  const NodeReport* root = r->Find("Sqrt");
  ASSERT_NE(root, nullptr);
  EXPECT_TRUE(Begins(r->DeviceOf(*root), "devsim/")) << r->DeviceOf(*root);
  EXPECT_EQ(root->label, "norm");
  EXPECT_TRUE(Begins(root->decomposition, "expanded from LayerNormalization: "));
  EXPECT_NE(root->decomposition.find("for it whole"), std::string::npos) << root->decomposition;
  // The activation is priced apart from it.
  ASSERT_NE(r->Find("Gelu"), nullptr);
  ExpectSameNumbers(*r);
}

TEST(Decomposition, PartsServeWhereNoEngineTakesTheNode) {
  const auto r = RunOn(Device(std::string("ops=Neg+Erf+") + kNormParts));
  ASSERT_TRUE(r.ok()) << r.status().ToString();
  EXPECT_EQ(r->Find("LayerNormalization"), nullptr);
  EXPECT_EQ(r->Find("Gelu"), nullptr);
  ASSERT_NE(r->Find("Erf"), nullptr);
  EXPECT_EQ(r->Find("Erf")->decomposition, "expanded from Gelu: no engine takes it whole");
  ExpectSameNumbers(*r);
}

TEST(Decomposition, WholeServesWhereNoEngineTakesTheParts) {
  const auto r = RunOn(Device("ops=Neg+LayerNormalization+Gelu"));
  ASSERT_TRUE(r.ok()) << r.status().ToString();
  ASSERT_NE(r->Find("LayerNormalization"), nullptr);
  EXPECT_EQ(r->Find("LayerNormalization")->decomposition, "kept: no engine takes all of its parts");
  ExpectSameNumbers(*r);
}

TEST(Decomposition, PartsServeWhereTheWholeDoesNotCompile) {
  const auto r = RunOn(Device(
      std::string("fail_compile=LayerNormalization;ops=Neg+Erf+LayerNormalization+") + kNormParts));
  ASSERT_TRUE(r.ok()) << r.status().ToString();
  EXPECT_EQ(r->Find("LayerNormalization"), nullptr);
  ASSERT_NE(r->Find("Sqrt"), nullptr);
  EXPECT_EQ(r->Find("Sqrt")->decomposition,
            "expanded from LayerNormalization: no engine that takes it whole could compile it");
  ExpectSameNumbers(*r);
}

TEST(Decomposition, NobodyTakesEitherWay) {
  const auto r = RunOn(Device("ops=Neg+Gelu"));
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.status().code(), Code::kUnsupported);
  EXPECT_NE(r.status().ToString().find("no loaded engine takes operator LayerNormalization"),
            std::string::npos)
      << r.status().ToString();
}

// The market's solution is the plan, whichever way each node went: nothing is searched twice.
TEST(Decomposition, OneSearchMakesThePlan) {
  for (const char* engines : {"ref", "native,ref", "native,onednn,openblas,ref", "onednn,ref"}) {
    for (bool priority : {false, true}) {
      SessionOptions options;
      options.engines = *ParseEngineList(engines);
      if (priority) options.build.place.policy = PlacePolicy::kPriority;
      auto session = *Session::Create(std::move(options));
      ASSERT_TRUE(session->LoadBytes(kModel, Format::kText).ok());
      const TensorView in[] = {{DType::kFloat, {kRows, kWidth}, nullptr, 0}};
      const auto made = session->Compile("", in);
      ASSERT_TRUE(made.ok()) << made.status().ToString();
      // Who asks for something else than the cheapest has it searched for, once more where the
      // market had to be searched.
      EXPECT_LE((*made)->plan.searches, priority ? 2u : 1u) << engines;
      EXPECT_GE((*made)->plan.searches, 1u) << engines;
      EXPECT_NE((*made)->plan.place_method, "rehearsed");
    }
  }
}

}  // namespace
}  // namespace ge
