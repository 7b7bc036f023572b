// Packs under a budget of half of what they want: 10,000 runs at random shapes of four models by
// eight threads give what ref gives, and packs keep within the budget.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <string>
#include <thread>

#include "frontend/text/text.h"
#include "ge/engine/resident/pack_set.h"
#include "tests/unit/graph_session.h"
#include "tests/unit/plan_generator.h"

namespace ge::test {
namespace {

constexpr int kModels = 4, kShapes = 12, kWide = 192;

// Two products with constants of its own, 0.3 MB packed.
Result<Graph> PackedModel(int which) {
  Random random(static_cast<uint64_t>(which) + 1);
  const auto numbers = [&](int n) {
    std::string out = "[";
    for (int i = 0; i < n; ++i) {
      out += (i ? ", " : "") + std::to_string(static_cast<int>(random.Below(200)) - 100) + "e-3";
    }
    return out + "]";
  };
  const std::string n = std::to_string(kWide);
  return ParseText("ge 1\nopset \"\" 28\nconst w : f32[" + n + "," + n +
                       "] = " + numbers(kWide * kWide) + "\nconst v : f32[" + n + "," + n +
                       "] = " + numbers(kWide * kWide) + "\nfn main(x: f32[N," + n +
                       "]) -> (y) {\n  a: f32[N," + n + "] = Gemm(x, w) {transB=1}\n  b: f32[N," +
                       n + "] = Relu(a)\n  y: f32[N," + n +
                       "] = Gemm(b, v) {transB=1}\n}\nentry infer \"main\" = main\n",
                   "packed.gt");
}

int64_t RowsOf(int shape) { return 1 + shape * 3; }

std::vector<float> InputOf(int shape) {
  Random random(static_cast<uint64_t>(shape) + 100);
  std::vector<float> x(static_cast<size_t>(RowsOf(shape) * kWide));
  for (float& v : x) v = static_cast<float>(random.Below(200)) / 100.0f - 1.0f;
  return x;
}

Status RunOn(Session* session, int shape, std::vector<float>* y) {
  std::vector<float> x = InputOf(shape);
  y->assign(x.size(), NAN);
  TensorView in{DType::kFloat, {RowsOf(shape), kWide}, x.data(), x.size() * 4}, out;
  out.data = y->data();
  out.bytes = y->size() * 4;
  return session->Run("", std::span(&in, 1), std::span(&out, 1));
}

struct Load {
  std::vector<std::unique_ptr<Session>> sessions;
  std::vector<std::vector<float>> wanted;  // by model and shape
  uint64_t budget = 0;
  std::atomic<int> runs{0}, wrong{0}, failed{0};
  std::atomic<uint64_t> most{0};

  void Work(uint64_t seed, int count) {
    Random random(seed);
    std::vector<float> y;
    for (int k = 0; k < count; ++k) {
      const int model = static_cast<int>(random.Below(kModels));
      const int shape = static_cast<int>(random.Below(kShapes));
      const bool ran = RunOn(sessions[static_cast<size_t>(model)].get(), shape, &y).ok();
      failed += !ran;
      const std::vector<float>& want = wanted[static_cast<size_t>(model * kShapes + shape)];
      bool same = ran && y.size() == want.size();
      for (size_t i = 0; same && i < y.size(); ++i) {
        same = std::abs(y[i] - want[i]) <= 1e-3f + 1e-3f * std::abs(want[i]);
      }
      wrong += !same;
      ++runs;
      const uint64_t now = PackBytesPresent();
      for (uint64_t seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
      }
    }
  }
};

TEST(PackBudget, RunsAreRightAndWithinHalfOfWhatTheyWant) {
  for (const char* engines : {"native,ref", "native,onednn,openblas,ref"}) {
    Load load;
    const uint64_t before = PackBytesPresent();
    std::vector<float> y;
    for (int model = 0; model < kModels; ++model) {
      auto graph = PackedModel(model);
      ASSERT_TRUE(graph.ok()) << graph.status().ToString();
      auto ref = OpenGraph("ref", *graph), session = OpenGraph(engines, *graph);
      ASSERT_TRUE(ref.ok() && session.ok()) << session.status().ToString();
      for (int shape = 0; shape < kShapes; ++shape) {
        ASSERT_TRUE(RunOn(ref->get(), shape, &y).ok());
        load.wanted.push_back(y);
        ASSERT_TRUE(RunOn(session->get(), shape, &y).ok());
      }
      load.sessions.push_back(std::move(*session));
    }
    const uint64_t wanted = PackBytesPresent() - before;
    const uint64_t fills = ResidentStore::OfProcess().counts().fills;
    load.budget = before + wanted / 2;
    SetPackBudget(load.budget);
    std::vector<std::thread> threads;
    for (uint64_t t = 0; t < 8; ++t) {
      threads.emplace_back([&load, t] { load.Work(t + 1, 1250); });
    }
    for (auto& t : threads) t.join();
    SetPackBudget(0);
    std::printf(
        "%s: %d runs, %d wrong; packs want %.2f MB, the budget %.2f, at most %.2f were there; "
        "%lu fills\n",
        engines, load.runs.load(), load.wrong.load(), static_cast<double>(wanted) / 1e6,
        static_cast<double>(load.budget - before) / 1e6,
        static_cast<double>(load.most - before) / 1e6,
        ResidentStore::OfProcess().counts().fills - fills);
    EXPECT_EQ(load.runs, 10000);
    EXPECT_EQ(load.failed, 0);
    EXPECT_EQ(load.wrong, 0);
    EXPECT_GT(wanted, 1000000u);
    EXPECT_LE(load.most, load.budget + load.budget / 20);
    EXPECT_GT(ResidentStore::OfProcess().counts().fills - fills, 100u) << "nothing gave way";
  }
}

}  // namespace
}  // namespace ge::test
