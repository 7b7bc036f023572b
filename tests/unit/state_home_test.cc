// States that lie in the memory of the device that writes them: what runs copy, what get, set, save
// and restore see, and that they are those of a run on the host, bit for bit.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "frontend/text/text.h"
#include "tests/unit/graph_session.h"

namespace ge::test {
namespace {

constexpr int64_t kSide = 160;  // 100 KB: large enough to be overwritten where they lie
constexpr uint64_t kBytes = kSide * kSide * 4;

// A step of training, and what it has learned.
const char* const kText = R"(ge 1
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

std::string OnDevice(const std::string& more = "") {
  return SamplesFolder() + "devsim.so:strict=1" + more;
}

std::vector<float> Numbers(uint64_t seed) {
  std::vector<float> out(kSide * kSide);
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<float>((i * 7919 + seed * 104729) % 257) / 2048.0f - 0.0625f;
  }
  return out;
}

struct Trained {
  std::unique_ptr<Session> session;
  explicit Trained(const std::string& engines) {
    auto graph = ParseText(kText, "train.gt");
    EXPECT_TRUE(graph.ok()) << graph.status().ToString();
    auto opened = OpenGraph(engines, *std::move(graph));
    EXPECT_TRUE(opened.ok()) << opened.status().ToString();
    session = *std::move(opened);
    for (StateId s : {1, 2}) EXPECT_TRUE(SetTo(s, Numbers(s)).ok());
  }
  Status SetTo(StateId s, std::vector<float> value) {
    return session->SetState(s, {DType::kFloat, {kSide, kSide}, value.data(), kBytes});
  }
  std::vector<float> Get(StateId s) {
    std::vector<float> out(kSide * kSide);
    TensorView v;
    v.data = out.data();
    v.bytes = kBytes;
    EXPECT_TRUE(session->GetState(s, &v).ok());
    return out;
  }
  int64_t Steps() {
    auto n = session->states().NumberOf(3);
    return n.ok() ? *n : -1;
  }
  Result<std::vector<float>> Run(const char* entry, uint64_t seed) {
    std::vector<float> x = Numbers(seed), y(x.size());
    const TensorView in{DType::kFloat, {kSide, kSide}, x.data(), kBytes};
    TensorView out;
    out.data = y.data();
    out.bytes = kBytes;
    GE_RETURN_IF_ERROR(session->Run(entry, std::span(&in, 1), std::span(&out, 1)));
    return y;
  }
  nlohmann::json Report(const char* entry) {
    return nlohmann::json::parse(*session->ReportJson(entry));
  }
};

void ExpectSame(Trained* a, Trained* b) {
  for (StateId s : {1, 2}) EXPECT_EQ(a->Get(s), b->Get(s)) << "state " << s;
  EXPECT_EQ(a->Steps(), b->Steps());
}

TEST(StateHomes, AStepCopiesItsInputAndItsOutputAlone) {
  for (const char* more : {"", ";streams=4;delay=5", ";capture=0"}) {
    Trained host("ref"), device(OnDevice(more));
    for (uint64_t k = 10; k < 18; ++k) {
      const auto wanted = host.Run("step", k), found = device.Run("step", k);
      ASSERT_TRUE(wanted.ok() && found.ok()) << found.status().ToString();
      EXPECT_EQ(*wanted, *found);
    }
    ExpectSame(&host, &device);
    const auto report = device.Report("step");
    EXPECT_EQ(report["transfers"], 2);
    EXPECT_EQ(report["transfer_bytes"], 2 * kBytes);
    EXPECT_EQ(report["state_moves"], 3);  // each once, before the first run
    EXPECT_GE(report["state_device_bytes"].get<uint64_t>(), 2 * kBytes + 8);
    const auto c = device.session->Latest("step");
    EXPECT_GE(std::count(c->in_place.begin(), c->in_place.end(), true), 1);
  }
}

TEST(StateHomes, TheyAreSetSavedAndRestoredInBetween) {
  Trained host("ref"), device(OnDevice());
  const auto both = [&](const char* entry, uint64_t seed) {
    const auto wanted = host.Run(entry, seed), found = device.Run(entry, seed);
    ASSERT_TRUE(wanted.ok() && found.ok()) << found.status().ToString();
    EXPECT_EQ(*wanted, *found);
  };
  both("step", 1);
  both("look", 2);
  for (Trained* t : {&host, &device}) ASSERT_TRUE(t->SetTo(2, Numbers(77)).ok());
  both("step", 3);
  // Saved, trained on, restored.
  std::vector<std::vector<std::byte>> saved;
  std::vector<Type> types;
  const auto keep = [&](std::span<const Type> t, std::span<const std::byte* const> values) {
    types.assign(t.begin(), t.end());
    for (size_t s = 0; s < t.size(); ++s) {
      const auto bytes = s == 0 ? 0 : static_cast<size_t>(ByteCount(t[s]).value_or(0));
      saved.emplace_back(values[s], values[s] + bytes);
    }
    return Status();
  };
  ASSERT_TRUE(device.session->states().Read(keep).ok());
  both("step", 4);
  std::vector<Const> values(saved.size());
  for (size_t s = 1; s < saved.size(); ++s) {
    values[s].type = types[s];
    values[s].data = saved[s].data();
    values[s].bytes = saved[s].size();
  }
  for (Trained* t : {&host, &device}) ASSERT_TRUE(t->session->states().Write(values).ok());
  ExpectSame(&host, &device);
  both("step", 5);
  for (Trained* t : {&host, &device}) {
    ASSERT_TRUE(t->session->states().Reset(t->session->graph()).ok());
  }
  ExpectSame(&host, &device);
  both("look", 6);
  both("step", 7);
  ExpectSame(&host, &device);
}

TEST(StateHomes, EightThreadsStepOneAfterAnother) {
  Trained host("ref"), device(OnDevice(";delay=3;delay_us=50"));
  for (Trained* t : {&host, &device}) {
    for (StateId s : {1, 2}) ASSERT_TRUE(t->SetTo(s, std::vector<float>(kSide * kSide, 0.5f)).ok());
  }
  constexpr int kThreads = 8, kEach = 5;
  std::vector<std::thread> threads;
  std::atomic<int> failed{0};
  for (int k = 0; k < kThreads; ++k) {
    threads.emplace_back([&, k] {
      for (int i = 0; i < kEach; ++i) {
        failed += !device.Run(k % 4 == 3 ? "look" : "step", 1).ok();
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(failed, 0);
  for (int i = 0; i < kThreads * kEach * 3 / 4; ++i) ASSERT_TRUE(host.Run("step", 1).ok());
  ExpectSame(&host, &device);
}

// The n-th launch or copy fails: the states are those before the run, and the next one is right.
TEST(StateHomes, AFailedRunLeavesThemAsTheyWere) {
  for (int n = 1; n <= 8; ++n) {
    Trained host("ref"), device(OnDevice(";fail_at=" + std::to_string(n)));
    int failures = 0;
    for (uint64_t k = 1; k <= 3; ++k) {
      const Status ran = device.Run("step", k).status();
      failures += !ran.ok();
      if (ran.ok()) {
        ASSERT_TRUE(host.Run("step", k).ok());
      }
      ExpectSame(&host, &device);
    }
    EXPECT_LE(failures, 1) << "fail_at=" << n;
  }
}

}  // namespace
}  // namespace ge::test
