#include "frontend/text/plan_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace ge {
namespace {

constexpr char kPlan[] =
    R"(plan 1 graph="lenet" entry="main" rank=1 world=2 groups=[3, 4] predicted_ns=81250.5 method="exact"
engine 0 "host"
engine 1 "onednn" version="3.2" hash="ab12"
device 0 "host"
device 1 "onednn/cpu" engine=1 engine_device=2 domain=1 async=true max_streams=2
domain 0 "host"
domain 1 "devsim/sim" engine=1 engine_device=1 align=4096 flags=5
link from=1 engine=1 latency_ns=1000 bytes_per_ns=0.5
layout 0
layout 1 kind=blocked perm=[0, 2, 1] block_axis=[1] block_size=[16] tag="nChw16c" opaque_bytes=-1
conversion 0 device=1 to=1 cookie=18446744073709551615 setup_ns=1.25 ns_per_byte=0.1
function 0 "main" inputs=[1] outputs=[3] {
  stream 0
  stream 1 device=1
  event 0 engine=1
  arena 0 use=state domain=1 bytes=8192
  value 1 "x" : f32[1,4] input graph_value=1 bytes=16
  value 2 "" : ? workspace graph_value=2 constant=3 state=4 index=5 bytes=64 align=1 domain=1 layout=1 arena=0 offset=128 alias_of=1 segment=1 first_step=2 last_step=3 internal_alias=1
  value 3 "y # \n" : i8[] output bytes=1
  segment 0 device=1 inputs=[1] outputs=[3] internals=[2] workspace=2 constants=[1] steps=4 may_alias=[0:1, 2:0] conversion=0 serial=true predicted_ns=12.5
    offer nodes=[4, 5] cookie=7 choice=1 const_align=64 offer_index=3 setup_ns=1 marginal_ns=2 launch_ns=3 edge_saving_ns=4 layouts=[5:1]
    offer nodes=[6]
  segment 1
  code:
    launch segment=0 stream=1 predicted_ns=12.5  # makes y # \n
    copy src=1 dst=3 stream=1 engine=1  # x -> y # \n
    signal stream=1 event=0 value=18446744073709551615
    wait stream=0 event=0 value=1
}
function 1 "" {
  code:
}
node 4 "Conv_1" op="Conv" chosen=0 runner_up=1 segment=3
  bid device=1 price_ns=12.5 analytic_ns=10 measured_ns=13 inside_ns=11 factor=1.25 rounds=true source="analytic" pattern="Conv+Relu"
  bid declined=true why="dtype"
)";

TEST(PlanText, EveryFieldRoundTrips) {
  auto plan = ParsePlan(kPlan, "plan");
  ASSERT_TRUE(plan.ok()) << plan.status().ToString();
  EXPECT_EQ(PrintPlan(*plan), kPlan);
  EXPECT_EQ(plan->functions[0].values[2].internal_alias, 1u);
  EXPECT_EQ(plan->functions[0].code[2].event_value, UINT64_MAX);
  EXPECT_EQ(plan->functions[0].segments[0].may_alias[1].first, 2u);
  EXPECT_TRUE(plan->report[0].bids[1].declined);
}

TEST(PlanText, TheReportCanBeLeftOut) {
  auto plan = ParsePlan(kPlan, "plan");
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(PrintPlan(*plan, {false}).find("bid"), std::string::npos);
}

TEST(PlanText, ALaunchOfNoSegmentIsPrintedAsItIs) {
  auto plan = ParsePlan(kPlan, "plan");
  ASSERT_TRUE(plan.ok());
  auto& code = plan->functions[0].code;
  const auto launch = std::find_if(code.begin(), code.end(),
                                   [](const Instruction& i) { return i.op == PlanOp::kLaunch; });
  ASSERT_NE(launch, code.end());
  for (const SegmentId s :
       {static_cast<SegmentId>(plan->functions[0].segments.size()), SegmentId{999999}}) {
    launch->segment = s;
    EXPECT_NE(PrintPlan(*plan).find("segment=" + std::to_string(s)), std::string::npos)
        << PrintPlan(*plan);
  }
}

TEST(PlanText, Refusals) {
  auto refused = [](std::string_view from, std::string_view to) {
    std::string text = kPlan;
    text.replace(text.find(from), from.size(), to);
    auto plan = ParsePlan(text, "plan");
    EXPECT_FALSE(plan.ok()) << to;
    return plan.status().ToString();
  };
  EXPECT_NE(refused("plan 1", "plan 2").find("UNSUPPORTED"), std::string::npos);
  EXPECT_NE(refused("value 2", "value 3").find("found number 3, wanted 2"), std::string::npos);
  EXPECT_NE(refused("latency_ns", "latency").find("wanted one of from, to, engine"),
            std::string::npos);
  EXPECT_NE(refused("f32[1,4]", "f32[N,4]").find("wanted a tensor type of known sizes"),
            std::string::npos);
  EXPECT_NE(refused("    wait", "    weight").find("wanted one of launch, copy"),
            std::string::npos);
  EXPECT_NE(refused("async=true", "async=1").find("wanted true or false"), std::string::npos);
}

TEST(PlanText, DamagedTextsAreRefusedOrRoundTrip) {
  std::mt19937 random(1);
  for (int i = 0; i < 4000; ++i) {
    std::string text = kPlan;
    const size_t at = random() % text.size();
    if (random() % 2 == 0) {
      text.erase(at, 1 + random() % 8);
    } else {
      text[at] = "(){}[],:=0129ax\n\"#"[random() % 18];
    }
    auto plan = ParsePlan(text, "damaged");
    if (!plan.ok()) continue;
    const std::string printed = PrintPlan(*plan);
    auto again = ParsePlan(printed, "printed");
    ASSERT_TRUE(again.ok()) << again.status().ToString() << "\n" << printed;
    EXPECT_EQ(PrintPlan(*again), printed);
  }
}

}  // namespace
}  // namespace ge
