// Memory of a device: what is beyond the limit that it states is refused by name and leaves all as
// it was; runs at once share it; captures are made although other shapes run in between; and a
// device in the host's memory copies nothing.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "frontend/text/text.h"
#include "tests/unit/graph_session.h"

namespace ge::test {
namespace {

// Rows of x are free; a state is added to each.
const char* const kModel = R"(ge 1
opset "" 28
opset "ge" 1
state bias : f32[4096] opt
fn main(x: f32[N,4096]) -> (y) effects [state bias] {
  bias: f32[4096] = ge.Read() effects [state bias]
  a: f32[N,4096] = Add(x, bias)
  b: f32[N,4096] = Relu(a)
  c: f32[N,4096] = Mul(b, a)
  d: f32[N,4096] = Sub(c, b)
  e: f32[N,4096] = Mul(d, c)
  y: f32[N,4096] = Add(e, d)
  s: f32[4096] = Add(bias, bias)
  ge.Assign(s) effects [state bias]
}
entry train_step "main" = main
)";
constexpr int64_t kWidth = 4096;

// The same without a state: runs at once share it, and its addresses stand still.
const char* const kStateless = R"(ge 1
opset "" 28
fn main(x: f32[N,4096]) -> (y) {
  a: f32[N,4096] = Mul(x, x)
  b: f32[N,4096] = Relu(a)
  c: f32[N,4096] = Sub(b, a)
  d: f32[N,4096] = Add(c, b)
  e: f32[N,4096] = Mul(d, c)
  f: f32[N,4096] = Sub(e, d)
  y: f32[N,4096] = Add(f, e)
}
entry infer "main" = main
)";

struct Rows {
  std::unique_ptr<Session> session;

  explicit Rows(const std::string& engines, const char* model = kModel) {
    auto graph = ParseText(model, "rows.gt");
    EXPECT_TRUE(graph.ok()) << graph.status().ToString();
    auto opened = OpenGraph(engines, *std::move(graph));
    EXPECT_TRUE(opened.ok()) << opened.status().ToString();
    if (opened.ok()) session = *std::move(opened);
  }
  Result<std::vector<float>> Run(int64_t rows) const {
    std::vector<float> x(static_cast<size_t>(rows * kWidth)), y(x.size());
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 13) - 6;
    const TensorView in{DType::kFloat, {rows, kWidth}, x.data(), x.size() * sizeof(float)};
    TensorView out;
    out.data = y.data();
    out.bytes = y.size() * sizeof(float);
    GE_RETURN_IF_ERROR(session->Run("main", std::span(&in, 1), std::span(&out, 1)));
    return y;
  }
  nlohmann::json Report() const { return nlohmann::json::parse(*session->ReportJson("main")); }
};

std::string Device(const std::string& more) {
  return SamplesFolder() + "devsim.so:strict=1;grow=0" + more;
}

TEST(DeviceMemory, BeyondTheLimitIsRefusedByNameAndTheNextRunIsGood) {
  const Rows host("ref"), device(Device(";memory=256K"));
  ASSERT_EQ(*host.Run(1), *device.Run(1));
  const auto refused = device.Run(100);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), Code::kLimitExceeded);
  const std::string text = refused.status().ToString();
  EXPECT_NE(text.find("memory 'devsim/sim:0', whose limit is 262144"), std::string::npos) << text;
  EXPECT_NE(text.find("the largest is the arena of 'main' with x [100,4096] with"),
            std::string::npos)
      << text;
  // The state is as the first run left it, in spite of the refused one.
  EXPECT_EQ(*host.Run(2), *device.Run(2));
  const auto memory = device.Report()["device_memory"][0];
  EXPECT_EQ(memory["limit_bytes"], 262144);
  EXPECT_EQ(memory["state_bytes"], 2 * kWidth * 4);
  EXPECT_LE(memory["peak_bytes"], 262144);
}

TEST(DeviceMemory, AStateThatDoesNotFitIsRefusedByName) {
  auto graph = ParseText(R"(ge 1
opset "" 28
opset "ge" 1
state total : f32[64,64] opt
fn main(x: f32[64,64]) -> (y) effects [state total] {
  old: f32[64,64] = ge.Read() effects [state total]
  new: f32[64,64] = Add(old, x)
  y: f32[] = ReduceMax(new) {keepdims=0}
  ge.Assign(new) effects [state total]
}
entry train_step "main" = main
)",
                         "total.gt");
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  const auto session = OpenGraph(Device(";memory=40000"), *std::move(graph));
  ASSERT_TRUE(session.ok()) << session.status().ToString();
  std::vector<float> x(64 * 64);
  float y = 0;
  const TensorView in{DType::kFloat, {64, 64}, x.data(), x.size() * sizeof(float)};
  TensorView out;
  out.data = &y;
  out.bytes = sizeof y;
  const Status refused = (*session)->Run("main", std::span(&in, 1), std::span(&out, 1));
  EXPECT_EQ(refused.code(), Code::kLimitExceeded);
  EXPECT_NE(refused.message().find("the largest is state 'total' with 32768 bytes"),
            std::string::npos)
      << refused.ToString();
}

// Room for the arenas of some of eight runs at once.
TEST(DeviceMemory, RunsAtOnceAreRightOrRefused) {
  const Rows host("ref", kStateless), device(Device(";memory=700K;delay=3"), kStateless);
  const auto wanted = host.Run(4);
  ASSERT_TRUE(wanted.ok()) << wanted.status().ToString();
  std::atomic<int> good{0}, refused{0}, wrong{0};
  const auto run = [&] {
    const auto ran = device.Run(4);
    const bool right = ran.ok() && *ran == *wanted;
    good += right;
    const bool full = !ran.ok() && ran.status().code() == Code::kLimitExceeded;
    refused += full;
    wrong += !right && !full;
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int k = 0; k < 20; ++k) run();
    });
  }
  for (std::thread& t : threads) t.join();
  std::printf("%d runs at once: %d good, %d refused\n", 160, good.load(), refused.load());
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(good, 0);
  const int before = good;
  run();
  EXPECT_EQ(good, before + 1);
  const auto report = device.Report();
  EXPECT_LE(report["device_memory"][0]["peak_bytes"], 700 << 10);
}

TEST(DeviceMemory, CapturesAreMadeWhileOtherShapesRunInBetween) {
  const Rows host("ref", kStateless), device(Device(""), kStateless);
  for (int k = 0; k < 12; ++k) {
    for (const int64_t rows : {3, 1, 2}) ASSERT_EQ(*host.Run(rows), *device.Run(rows));
  }
  const auto report = device.Report();
  EXPECT_GE(report["captures"]["made"], 1) << report["captures"].dump();
  EXPECT_GE(report["captures"]["launched"], 4) << report["captures"].dump();
}

TEST(DeviceMemory, ADeviceInTheHostsMemoryCopiesNothing) {
  const Rows host("ref"), device(Device(";memory=host;streams=4;delay=7"));
  for (const int64_t rows : {1, 5, 2, 5}) ASSERT_EQ(*host.Run(rows), *device.Run(rows));
  const auto report = device.Report();
  EXPECT_EQ(report["transfers"], 0);
  EXPECT_EQ(report["device_memory"].size(), 0u);
  EXPECT_EQ(report["state_device_bytes"], 0);
  EXPECT_GT(report["engines"]["devsim"], 0);
}

TEST(DeviceMemory, OptionsOfTheSimulatedDevice) {
  for (const char* bad : {"memory=", "memory=K", "memory=3X", "memory=-1", "memory=99999999G"}) {
    auto graph = ParseText(kModel, "rows.gt");
    const auto opened = OpenGraph(Device(std::string(";") + bad), *std::move(graph));
    ASSERT_FALSE(opened.ok()) << bad;
    EXPECT_NE(opened.status().message().find("wanted host, or a number of bytes"),
              std::string::npos)
        << opened.status().ToString();
  }
  auto graph = ParseText(kModel, "rows.gt");
  const auto opened = OpenGraph(Device(";memory=host;pinned=1"), *std::move(graph));
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.status().message().find("leave them or memory=host out"), std::string::npos);
}

}  // namespace
}  // namespace ge::test
