// A vector clock: what a stream, or the host, knows of the work of all others. Lane 0 is the host.
// Clocks are of the order that the calls demand, not of the order in which work happens to run.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ge_engines::device::sim {

// The count-th step of a lane.
struct Epoch {
  uint32_t lane = 0;
  uint32_t count = 0;
};

class VectorClock {
 public:
  uint32_t at(uint32_t lane) const { return lane < counts_.size() ? counts_[lane] : 0; }
  bool Knows(Epoch epoch) const { return at(epoch.lane) >= epoch.count; }
  Epoch Step(uint32_t lane) {
    if (lane >= counts_.size()) counts_.resize(lane + 1, 0);
    return {lane, ++counts_[lane]};
  }
  void Merge(const VectorClock& other) {
    if (other.counts_.size() > counts_.size()) counts_.resize(other.counts_.size(), 0);
    for (size_t i = 0; i < other.counts_.size(); ++i)
      counts_[i] = std::max(counts_[i], other.counts_[i]);
  }

 private:
  std::vector<uint32_t> counts_;
};

// The host's clock, and the lanes in use. A lane is used anew once the host knows all its work:
// what the next user does comes after it.
class Clocks {
 public:
  Clocks() { host.Step(0); }
  Epoch now() const { return {0, host.at(0)}; }
  uint32_t Take() {
    for (Epoch& last : given_) {
      if (!host.Knows(last)) continue;
      const uint32_t lane = last.lane;
      last = given_.back();
      given_.pop_back();
      return lane;
    }
    return next_++;
  }
  void Give(uint32_t lane, const VectorClock& clock) { given_.push_back({lane, clock.at(lane)}); }

  VectorClock host;

 private:
  std::vector<Epoch> given_;
  uint32_t next_ = 1;
};

}  // namespace ge_engines::device::sim
