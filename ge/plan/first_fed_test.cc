// What devices' tasks stand on, in their order, and that no other order of the host's work lets one
// of them begin earlier.
#include "ge/plan/first_fed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace ge {
namespace {

TEST(FirstFed, IsTheFirstTaskOfADeviceThatStandsOnIt) {
  // 0 -> 1 -> 3, 0 -> 2 -> 4; 3 and 5 are devices', 5 reads 2, and nothing of a device reads 4.
  const std::vector<std::vector<uint32_t>> before = {{}, {0}, {0}, {1}, {2}, {2}};
  const std::vector<bool> of_device = {false, false, false, true, false, true};
  EXPECT_EQ(FirstFed(before, of_device), (std::vector<uint32_t>{3, 3, 5, 3, 6, 5}));
  EXPECT_EQ(FirstFed(before, std::vector<bool>(6)), (std::vector<uint32_t>(6, 6)));
}

struct FedWork {
  std::vector<std::vector<uint32_t>> before;
  std::vector<bool> of_device;
  std::vector<double> ns;
};

// Six tasks of the host and three of a device; none of the host's reads from a device.
FedWork RandomWork(uint32_t seed) {
  std::mt19937 random(seed);
  FedWork w;
  std::vector<bool> of_device = {true, true, true, false, false, false, false, false, false};
  std::shuffle(of_device.begin(), of_device.end(), random);
  w.of_device = of_device;
  for (uint32_t t = 0; t < of_device.size(); ++t) {
    w.before.emplace_back();
    for (uint32_t b = 0; b < t; ++b) {
      if (!of_device[b] && random() % 3 == 0) w.before[t].push_back(b);
    }
    w.ns.push_back(1 + random() % 9);
  }
  return w;
}

// When each of the device's tasks can begin where the host works in this order.
std::vector<double> Begins(const FedWork& w, const std::vector<uint32_t>& order) {
  std::vector<double> finish(w.ns.size());
  double host = 0;
  for (const uint32_t t : order) finish[t] = host += w.ns[t];
  std::vector<double> begins;
  for (uint32_t t = 0; t < w.ns.size(); ++t) {
    if (!w.of_device[t]) continue;
    double at = begins.empty() ? 0 : begins.back();
    for (const uint32_t b : w.before[t]) at = std::max(at, finish[b]);
    begins.push_back(at);
  }
  return begins;
}

TEST(FirstFed, NoOrderLetsADeviceBeginEarlier) {
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    const FedWork w = RandomWork(seed);
    std::vector<uint32_t> host;
    for (uint32_t t = 0; t < w.ns.size(); ++t) {
      if (!w.of_device[t]) host.push_back(t);
    }
    const std::vector<uint32_t> fed = FirstFed(w.before, w.of_device);
    std::vector<uint32_t> by_fed = host;
    std::stable_sort(by_fed.begin(), by_fed.end(),
                     [&](uint32_t a, uint32_t b) { return fed[a] < fed[b]; });
    const std::vector<double> ours = Begins(w, by_fed);
    do {
      const auto place = [&](uint32_t t) { return std::find(host.begin(), host.end(), t); };
      const bool runs = std::all_of(host.begin(), host.end(), [&](uint32_t t) {
        return std::all_of(w.before[t].begin(), w.before[t].end(),
                           [&](uint32_t b) { return place(b) < place(t); });
      });
      if (!runs) continue;
      const std::vector<double> theirs = Begins(w, host);
      for (size_t k = 0; k < ours.size(); ++k) ASSERT_LE(ours[k], theirs[k]) << "seed " << seed;
    } while (std::next_permutation(host.begin(), host.end()));
  }
}

}  // namespace
}  // namespace ge
