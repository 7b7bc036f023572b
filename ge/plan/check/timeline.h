// Timeline: the instructions finished when each instruction of one function starts, by vector
// clocks over its streams and the time model of ge/plan/plan.h. It knows no values and no memory.
// Needs a function whose ids passed CheckStructure. Const use from any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "ge/base/status.h"
#include "ge/plan/plan.h"

namespace ge::check {

class Timeline {
 public:
  // INTERNAL naming a wait that stands before the signal that it is for, or has none.
  static Result<Timeline> Make(const PlanFunction& function);

  uint32_t streams() const { return streams_; }
  // Place of instruction i among those of its stream.
  uint32_t index(uint32_t i) const { return index_[i]; }
  uint32_t stream(uint32_t i) const { return stream_[i]; }
  // start(i)[s]: the number of instructions of stream s surely finished when i starts.
  const uint32_t* start(uint32_t i) const { return &start_[size_t{i} * streams_]; }
  // left is surely finished when `right` starts.
  bool Before(uint32_t left, uint32_t right) const {
    return start(right)[stream_[left]] > index_[left];
  }
  // a is surely finished when the host leaves the function.
  bool BeforeEnd(uint32_t a) const { return end_[stream_[a]] > index_[a]; }

 private:
  uint32_t streams_ = 0;
  std::vector<uint32_t> stream_, index_, start_, end_;
  friend class TimelineMaker;
};

}  // namespace ge::check
