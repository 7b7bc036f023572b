#include "streams/streams.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "ge/memory/memory.h"
#include "ge/plan/check/check.h"
#include "tests/unit/plan_generator.h"
#include "tests/unit/plan_oracle.h"
#include "tests/unit/small_plan.h"

namespace ge {
namespace {

using test::kRef;
using test::kSim;
using test::kSim1;
using test::SmallPlan;

// The code as one line: "L0@0 C@2 S@2 W@1", kind and stream (of a wait: the waiter).
std::string Text(const PlanFunction& f) {
  std::string text;
  for (const Instruction& i : f.code) {
    if (!text.empty()) text += " ";
    switch (i.op) {
      case PlanOp::kLaunch:
        text += "L" + std::to_string(i.segment);
        break;
      case PlanOp::kCopy:
        text += "C";
        break;
      case PlanOp::kSignal:
        text += "S";
        break;
      default:
        text += "W";
    }
    text += "@" + std::to_string(i.stream);
  }
  return text;
}

void ExpectProved(Plan* plan) {
  ASSERT_TRUE(AssignMemory(plan).ok());
  const Result<CheckReport> report = Check(*plan);
  EXPECT_TRUE(report.ok()) << report.status().ToString();
}

TEST(Streams, SynchronousPlanStaysAsItIs) {
  SmallPlan p(0);
  const auto x = p.Input("x", 64), t = p.Value("t", 64), y = p.Output("y", 64);
  p.Launch(kRef, {x}, {t});
  p.Launch(kRef, {t}, {y});
  ASSERT_TRUE(AssignStreams(&p.plan).ok());
  EXPECT_EQ(Text(p.f()), "L0@0 L1@0");
  EXPECT_EQ(p.f().streams.size(), 1u);
  EXPECT_TRUE(p.f().events.empty());
  ExpectProved(&p.plan);
}

// x -> copy -> launch -> launch -> copy -> y on the device.
SmallPlan DeviceChain() {
  SmallPlan p;
  const auto x = p.Input("x", 64), dx = p.Value("dx", 64, 1), a = p.Value("a", 64, 1),
             b = p.Value("b", 64, 1), y = p.Output("y", 64);
  p.Copy(x, dx);
  p.Launch(kSim, {dx}, {a});
  p.Launch(kSim, {a}, {b});
  p.Copy(b, y);
  return p;
}

TEST(Streams, CopiesRideApartFromAChainOfLaunches) {
  SmallPlan p = DeviceChain();
  ASSERT_TRUE(AssignStreams(&p.plan).ok());
  // Launches follow each other on stream 1 without events.
  EXPECT_EQ(Text(p.f()), "C@2 S@2 W@1 L0@1 L1@1 S@1 W@2 C@2 S@2 W@0");
  EXPECT_EQ(p.f().events.size(), 2u);
  ExpectProved(&p.plan);
}

TEST(Streams, EachWayHasAStreamWhereTheDeviceHasThree) {
  SmallPlan p = DeviceChain();
  p.plan.devices[kSim].max_streams = 3;
  ASSERT_TRUE(AssignStreams(&p.plan).ok());
  EXPECT_EQ(Text(p.f()), "C@3 S@3 W@1 L0@1 L1@1 S@1 W@2 C@2 S@2 W@0");
  ExpectProved(&p.plan);
}

TEST(Streams, OneStreamWhenTheDeviceOrTheOptionAllowsOne) {
  for (const bool by_option : {false, true}) {
    SmallPlan p = DeviceChain();
    if (!by_option) p.plan.devices[kSim].max_streams = 0;  // 0 means one
    ASSERT_TRUE(AssignStreams(&p.plan, {by_option ? 1u : 2u}).ok());
    EXPECT_EQ(Text(p.f()), "C@1 L0@1 L1@1 C@1 S@1 W@0");
    ExpectProved(&p.plan);
  }
}

// However many streams a device has, what waits for what came before gains nothing by another one.
TEST(Streams, AChainStaysOnItsStreamHoweverLongItsLaunches) {
  for (const double ns : {1e3, 1e6, 1e9}) {
    SmallPlan p;
    PlanValueId at = p.Value("dx", 64, 1);
    p.Copy(p.Input("x", 64), at, 100);
    for (int i = 0; i < 4; ++i) {
      const PlanValueId next = p.Value("v" + std::to_string(i), 64, 1);
      p.Launch(kSim, {at}, {next}, ns);
      at = next;
    }
    p.Copy(at, p.Output("y", 64), 100);
    ASSERT_TRUE(AssignStreams(&p.plan).ok());
    EXPECT_EQ(Text(p.f()), "C@2 S@2 W@1 L0@1 L1@1 L2@1 L3@1 S@1 W@2 C@2 S@2 W@0") << ns;
    ExpectProved(&p.plan);
  }
}

// Two branches of `n` launches each between a first and a last launch.
SmallPlan TwoBranches(double ns) {
  SmallPlan p;
  const auto x = p.Input("x", 64), dx = p.Value("dx", 64, 1), y = p.Output("y", 64);
  p.Copy(x, dx, 100);
  PlanValueId end[2];
  for (int b = 0; b < 2; ++b) {
    PlanValueId at = dx;
    for (int i = 0; i < 3; ++i) {
      const auto next = p.Value("b" + std::to_string(b) + std::to_string(i), 64, 1);
      p.Launch(kSim, {at}, {next}, ns);
      at = next;
    }
    end[b] = at;
  }
  const auto sum = p.Value("sum", 64, 1);
  p.Launch(kSim, {end[0], end[1]}, {sum}, 100);
  p.Copy(sum, y, 100);
  return p;
}

TEST(Streams, IndependentBranchesOverlapWhenTheyAreLongEnough) {
  SmallPlan p = TwoBranches(20000);
  ASSERT_TRUE(AssignStreams(&p.plan).ok());
  uint32_t on[3] = {0, 0, 0};
  for (const Instruction& i : p.f().code) {
    if (i.op == PlanOp::kLaunch) ++on[i.stream];
  }
  EXPECT_GE(on[1], 3u) << Text(p.f());
  EXPECT_GE(on[2], 3u) << Text(p.f());
  ExpectProved(&p.plan);

  SmallPlan q = TwoBranches(50);  // shorter than an event costs
  ASSERT_TRUE(AssignStreams(&q.plan).ok());
  for (const Instruction& i : q.f().code) {
    if (i.op == PlanOp::kLaunch) {
      EXPECT_EQ(i.stream, 1u) << Text(q.f());
    }
  }
  ExpectProved(&q.plan);
}

TEST(Streams, HostWorksWhileTheDeviceDoes) {
  SmallPlan p;
  const auto x = p.Input("x", 64), dx = p.Value("dx", 64, 1), a = p.Value("a", 64, 1),
             ha = p.Value("ha", 64), h = p.Value("h", 64), y = p.Output("y", 64);
  p.Copy(x, dx);
  p.Launch(kSim, {dx}, {a}, 50000);
  p.Copy(a, ha);
  p.Launch(kRef, {x}, {h}, 50000);
  p.Launch(kRef, {ha, h}, {y}, 100);
  ASSERT_TRUE(AssignStreams(&p.plan).ok());
  const std::string text = Text(p.f());
  EXPECT_LT(text.find("L0@1"), text.find("L1@0")) << text;
  EXPECT_LT(text.find("L1@0"), text.find("W@0")) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), 'W'), 3)
      << text;  // two of streams, one of the host
  ExpectProved(&p.plan);
}

// L0, L1, L2 make what the device's second launch reads, L3 what its first one does; L4 comes last.
SmallPlan TwoFed(double last_ns) {
  SmallPlan p;
  PlanValueId at = p.Input("x", 64);
  for (int i = 0; i < 3; ++i) {
    const PlanValueId next = p.Value("h" + std::to_string(i), 64);
    p.Launch(kRef, {at}, {next}, 50'000);
    at = next;
  }
  const auto first = p.Value("first", 64);
  p.Launch(kRef, {p.Input("z", 64)}, {first}, 50'000);
  p.Launch(kRef, {at}, {p.Output("u", 64)}, last_ns);
  PlanValueId made = 0;
  for (const PlanValueId from : {first, at}) {
    const auto in = p.Value("in" + std::to_string(from), 64, 1),
               out = p.Value("out" + std::to_string(from), 64, 1);
    p.Copy(from, in, 100);
    p.Launch(kSim, made == 0 ? std::vector{in} : std::vector{in, made}, {out}, 60'000);
    made = out;
  }
  p.Copy(made, p.Output("y", 64), 100);
  return p;
}

// The longest way to the end goes through what the device needs last. Where the device is what the
// run waits for, that costs time; where the host is, it costs what a price may be wrong by.
TEST(Streams, TheHostMakesFirstWhatADeviceNeedsFirst) {
  for (const double last_ns : {100.0, 400'000.0}) {
    SmallPlan p = TwoFed(last_ns);
    ASSERT_TRUE(AssignStreams(&p.plan).ok());
    const std::string text = Text(p.f());
    EXPECT_EQ(text.find("L3@0"), 0u) << text;
    EXPECT_LT(text.find("L5@1"), text.find("L0@0")) << text;
    EXPECT_LT(text.find("L6@1"), text.find("L4@0")) << text;
    EXPECT_GT(text.find("W@0"), text.find("L4@0")) << text;
    ExpectProved(&p.plan);
  }
}

TEST(Streams, OtherEnginesMeetAtTheHost) {
  SmallPlan p(2);
  const auto x = p.Input("x", 64), dx = p.Value("dx", 64, 1), a = p.Value("a", 64, 1),
             h = p.Value("h", 64), ex = p.Value("ex", 64, 2), b = p.Value("b", 64, 2),
             y = p.Output("y", 64);
  p.Copy(x, dx);
  p.Launch(kSim, {dx}, {a});
  p.Copy(a, h);
  p.Copy(h, ex);
  p.Launch(kSim1, {ex}, {b});
  p.Copy(b, y);
  ASSERT_TRUE(AssignStreams(&p.plan).ok());
  // Every wait of a stream is for an event of its own engine.
  for (const Instruction& i : p.f().code) {
    if (i.op != PlanOp::kWait || i.stream == 0) continue;
    EXPECT_EQ(p.plan.devices[p.f().streams[i.stream].device].engine, p.f().events[i.event].engine);
  }
  EXPECT_NE(Text(p.f()).find("W@0 C@4"), std::string::npos) << Text(p.f());
  ExpectProved(&p.plan);
}

TEST(Streams, NoWaitIsInVain) {
  int waits = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    test::GeneratorOptions options;
    options.async_devices = 1 + seed % 2;
    Plan plan = test::RandomPlan(seed, options);
    ASSERT_TRUE(AssignStreams(&plan).ok());
    ASSERT_TRUE(AssignMemory(&plan, {0, false}).ok());
    ASSERT_TRUE(test::Judge(plan).safe());
    const PlanFunction& f = plan.functions[0];
    for (size_t i = 0; i < f.code.size(); ++i) {
      if (f.code[i].op != PlanOp::kWait) continue;
      Plan less = plan;
      less.functions[0].code.erase(less.functions[0].code.begin() + i);
      EXPECT_FALSE(test::Judge(less).safe()) << "seed " << seed << ", wait " << i;
      ++waits;
    }
  }
  EXPECT_GT(waits, 300);
}

TEST(Streams, RefusesCodeThatHasStreamsOrReadsTooEarly) {
  SmallPlan p = DeviceChain();
  p.f().code[1].stream = 1;
  EXPECT_NE(AssignStreams(&p.plan).message().find("instruction 1"), std::string::npos);
  SmallPlan q = DeviceChain();
  std::swap(q.f().code[1], q.f().code[2]);
  EXPECT_NE(AssignStreams(&q.plan).message().find("value 'a' is read by instruction 1 before"),
            std::string::npos);
}

}  // namespace
}  // namespace ge
