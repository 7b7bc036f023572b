// States that lie in the memory of the device that writes them: what runs copy, what get, set, save
// and restore see, and that they are those of a run on the host, bit for bit.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "tests/unit/trained.h"

namespace ge::test {
namespace {

std::string OnDevice(const std::string& more = "") {
  return SamplesFolder() + "devsim.so:strict=1" + more;
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
    EXPECT_EQ(report["transfer_bytes"], 2 * kTrainedBytes);
    EXPECT_EQ(report["state_moves"], 3);  // each once, before the first run
    EXPECT_GE(report["state_device_bytes"].get<uint64_t>(), 2 * kTrainedBytes + 8);
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
  for (Trained* t : {&host, &device}) ASSERT_TRUE(t->SetTo(2, TrainedNumbers(77)).ok());
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
    for (StateId s : {1, 2})
      ASSERT_TRUE(t->SetTo(s, std::vector<float>(kTrainedSide * kTrainedSide, 0.5f)).ok());
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
