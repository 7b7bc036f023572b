// RunClock: samples of the times of a plan's segments, copies and waits in real runs. It decides
// which runs are timed and keeps a few samples of each; it measures and prices nothing itself.
// Owned by a Compiled, shared by its frames; thread-safe. Made at compile time: no call allocates
// but Read.
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

  // Of work on a stream, by its device's stamps; zeros where it has none.
  struct Span {
    uint64_t begin = 0, end = 0;
  };
  // Takes one run: stamps[i] when instruction i began, stamps[n] when the last had ended, all from
  // Now(). `work`: by instruction, or empty where no stream took times. A run that finds the clock
  // in use by another thread is dropped. `cold`: the first run of its frame, which pays for fresh
  // pages and lazy preparations.
  void Take(std::span<const uint64_t> stamps, std::span<const Span> work, bool cold);
  static uint64_t Now();

  // Median in ns and number of samples; the cold ones alone while there are no others.
  struct Sample {
    double ns = 0;
    uint32_t count = 0;
    bool cold = false;
  };
  struct Copy {
    uint32_t instruction = 0;
    Sample time;  // on its stream
  };
  struct Summary {
    std::vector<Sample> segments;  // by segment; count 0 where it was not timed by itself
    std::vector<Copy> copies;      // those between domains on streams
    // By device: of a visit of the host, from its first call until it has waited, the time in which
    // neither did work. The lower quartile.
    std::vector<Sample> waits;
    Sample total;
  };
  Summary Read() const;
  uint32_t warm_runs() const;  // timed ones, cold ones left out

 private:
  static constexpr uint64_t kFirst = 5, kEvery = 64;
  static constexpr uint32_t kKeep = 15;  // samples of each segment, the newest
  // What is greater than such a share of its samples.
  Sample Of(size_t row, double share = 0.5) const;
  void Put(size_t row, double ns, bool cold);
  void PutWork(std::span<const uint64_t> stamps, std::span<const Span> work, bool cold);
  // Visits of the host to a device in one run.
  struct Visits {
    uint32_t count = 0;
    uint64_t idle_ns = 0;
  };
  Visits VisitsOf(DeviceId device, std::span<const uint64_t> stamps);
  void NoteBusy(std::span<const uint64_t> stamps, std::span<const Span> work);
  uint64_t BusyIn(DeviceId device, uint64_t begin, uint64_t end) const;

  const Plan& plan_;
  double read_ns_ = 0;  // the cost of one stamp
  mutable std::mutex mutex_;
  uint32_t warm_ = 0, colds_ = 0;
  std::vector<uint32_t> copies_;        // instructions with rows
  std::vector<DeviceId> event_device_;  // by event: whose stream signals it
  // Of the run that is taken: work of devices and of the host (device 0), by its begin.
  struct Busy {
    Span span;
    DeviceId device;
  };
  std::vector<Busy> busy_;
  // Rows: one a segment, then the copies, the devices, the total.
  std::vector<float> warm_ns_, cold_ns_;
};

}  // namespace ge
