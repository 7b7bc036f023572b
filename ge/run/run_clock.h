// RunClock: samples of the times of a plan's segments in real runs. It decides which runs are
// timed and keeps a few samples of each segment; it measures and prices nothing itself. Owned by
// a Compiled, shared by its frames; thread-safe. Made at compile time: no call allocates but
// Read.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "ge/plan/plan.h"

namespace ge {

class RunClock {
 public:
  explicit RunClock(const Plan& plan);

  // Whether a frame's run number `nth` (from 0) is timed: the first few, then every 64th.
  static bool Due(uint64_t nth) { return nth < kFirst || nth % kEvery == 0; }

  // Takes one run: stamps[i] when instruction i began, stamps[n] when the last had ended, all from
  // Now(). A run that finds the clock in use by another thread is dropped. `cold`: the first run of
  // its frame, which pays for fresh pages and lazy preparations.
  void Take(std::span<const uint64_t> stamps, bool cold);
  static uint64_t Now();

  // Median in ns and number of samples; the cold ones alone while there are no others.
  struct Sample {
    double ns = 0;
    uint32_t count = 0;
    bool cold = false;
  };
  struct Summary {
    std::vector<Sample> segments;  // by segment; count 0 where it was not timed by itself
    Sample total;
  };
  Summary Read() const;
  uint32_t warm_runs() const;  // timed ones, cold ones left out

 private:
  static constexpr uint64_t kFirst = 5, kEvery = 64;
  static constexpr uint32_t kKeep = 15;  // samples of each segment, the newest
  Sample Of(size_t row) const;
  void Put(size_t row, double ns, bool cold);

  const Plan& plan_;
  double read_ns_ = 0;  // the cost of one stamp
  mutable std::mutex mutex_;
  uint32_t warm_ = 0, colds_ = 0;
  // Rows: one a segment, then the total.
  std::vector<float> warm_ns_, cold_ns_;
};

}  // namespace ge
