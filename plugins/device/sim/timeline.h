// What a device's engines are busy with, on the simulated clock: how long work waits for its turn.
// Work takes the first gap that is long enough, so that what is called late but may begin early
// does.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace ge_engines::device::sim {

class Timeline {
 public:
  explicit Timeline(int at_once) : busy_(at_once < 1 ? 1 : at_once) {}

  // Takes `cost_ns` from `ready_ns` on at the earliest; returns the begin.
  int64_t Take(int64_t ready_ns, int64_t cost_ns);
  void Forget(int64_t before_ns);  // nothing will ask for less

 private:
  using Spans = std::map<int64_t, int64_t>;  // begin -> end, apart
  static int64_t FirstGap(const Spans& spans, int64_t ready_ns, int64_t cost_ns);

  std::vector<Spans> busy_;
};

}  // namespace ge_engines::device::sim
