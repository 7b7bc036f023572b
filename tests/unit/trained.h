// A session over a step of training, whose states a test sets and reads. Tests only.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "frontend/text/text.h"
#include "tests/unit/graph_session.h"

namespace ge::test {

constexpr int64_t kTrainedSide = 160;  // 100 KB: large enough to be overwritten where they lie
constexpr uint64_t kTrainedBytes = kTrainedSide * kTrainedSide * 4;

// A step of training, and what it has learned.
inline const char* const kTrainedText = R"(ge 1
opset "" 28
opset "ge" 1
const rate : f32[] = [0.125]
const one : i64[] = [1]
state w : f32[160,160] param trainable
state m : f32[160,160] opt
state steps : i64[] opt
fn step(x: f32[160,160]) -> (y) effects [state w, state m, state steps] {
  rate: f32[] = const rate
  one: i64[] = const one
  w: f32[160,160] = ge.Read() effects [state w]
  m: f32[160,160] = ge.Read() effects [state m]
  n: i64[] = ge.Read() effects [state steps]
  y: f32[160,160] = MatMul(x, w)
  g: f32[160,160] = Mul(y, rate)
  m2: f32[160,160] = Add(m, g)
  w2: f32[160,160] = Sub(w, m2)
  n2: i64[] = Add(n, one)
  ge.Assign(m2) effects [state m]
  ge.Assign(w2) effects [state w]
  ge.Assign(n2) effects [state steps]
}
fn look(x: f32[160,160]) -> (y) effects [state w] {
  w: f32[160,160] = ge.Read() effects [state w]
  y: f32[160,160] = MatMul(x, w)
}
entry train_step "step" = step
entry infer "look" = look
)";

inline std::vector<float> TrainedNumbers(uint64_t seed) {
  std::vector<float> out(kTrainedSide * kTrainedSide);
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<float>((i * 7919 + seed * 104729) % 257) / 2048.0f - 0.0625f;
  }
  return out;
}

inline Graph TrainedGraph() {
  auto graph = ParseText(kTrainedText, "train.gt");
  EXPECT_TRUE(graph.ok()) << graph.status().ToString();
  return graph.ok() ? *std::move(graph) : Graph();
}

struct Trained {
  std::unique_ptr<Session> session;
  explicit Trained(const std::string& engines) {
    auto opened = OpenGraph(engines, TrainedGraph());
    EXPECT_TRUE(opened.ok()) << opened.status().ToString();
    if (opened.ok()) Begin(*std::move(opened));
  }
  explicit Trained(std::unique_ptr<Session> opened) { Begin(std::move(opened)); }
  void Begin(std::unique_ptr<Session> opened) {
    session = std::move(opened);
    for (StateId s : {1, 2}) EXPECT_TRUE(SetTo(s, TrainedNumbers(s)).ok());
  }
  Status SetTo(StateId s, std::vector<float> value) {
    return session->SetState(
        s, {DType::kFloat, {kTrainedSide, kTrainedSide}, value.data(), kTrainedBytes});
  }
  std::vector<float> Get(StateId s) {
    std::vector<float> out(kTrainedSide * kTrainedSide);
    TensorView v;
    v.data = out.data();
    v.bytes = kTrainedBytes;
    EXPECT_TRUE(session->GetState(s, &v).ok());
    return out;
  }
  int64_t Steps() {
    auto n = session->states().NumberOf(3);
    return n.ok() ? *n : -1;
  }
  Result<std::vector<float>> Run(const char* entry, uint64_t seed) {
    std::vector<float> x = TrainedNumbers(seed), y(x.size());
    const TensorView in{DType::kFloat, {kTrainedSide, kTrainedSide}, x.data(), kTrainedBytes};
    TensorView out;
    out.data = y.data();
    out.bytes = kTrainedBytes;
    const Status ran = session->Run(entry, std::span(&in, 1), std::span(&out, 1));
    if (ran.ok()) return y;
    // A device that never answers may still use them.
    static auto* const kept = new std::vector<std::vector<float>>;
    kept->push_back(std::move(x));
    kept->push_back(std::move(y));
    return ran;
  }
  nlohmann::json Report(const char* entry) {
    return nlohmann::json::parse(*session->ReportJson(entry));
  }
};

inline void ExpectSame(Trained* a, Trained* b) {
  for (StateId s : {1, 2}) EXPECT_EQ(a->Get(s), b->Get(s)) << "state " << s;
  EXPECT_EQ(a->Steps(), b->Steps());
}

}  // namespace ge::test
