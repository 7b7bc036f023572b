// Lifetimes: the time in which each value of a function needs its bytes. Tells of two values
// whether they may ever be live together. Happens-before by vector clocks over the streams; every
// wait must come after its signal in issue order, as STREAMS leaves it. Owns copies of its data;
// const use from any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "ge/base/status.h"
#include "ge/plan/plan.h"
#include "ge/plan/uses.h"

namespace ge::memory {

class Lifetimes {
 public:
  // INTERNAL when a wait precedes its signal.
  static Result<Lifetimes> Make(const PlanFunction& function, const std::vector<PlanUses>& uses);

  // Instruction i runs after every use of `value` except by instruction `except`.
  bool OverBefore(PlanValueId value, uint32_t i, uint32_t except = kNoInstruction) const;
  // The first position in issue order from which every instruction of those streams, if there are
  // any, runs after all uses of `value`.
  uint32_t OverFrom(PlanValueId value, const std::vector<bool>& streams) const;
  // Whether both may hold bytes at one point; inner values of one launch by their steps.
  bool Together(PlanValueId left, PlanValueId right) const;

  // Places in issue order, for the packer's heuristics.
  uint32_t first(PlanValueId value) const { return first_[value]; }
  uint32_t last(PlanValueId value) const { return last_[value]; }

 private:
  // Collects the uses of each value, once the instructions have their clocks.
  void TakeUses(const PlanFunction& function, const std::vector<PlanUses>& uses);

  struct Inside {  // kInternal
    bool internal = false;
    SegmentId segment = 0;
    uint32_t first_step = 0, last_step = 0;
  };
  uint32_t streams_ = 1;
  std::vector<std::vector<uint32_t>> of_stream_;  // instructions of each stream
  std::vector<uint32_t> stream_, index_;          // by instruction
  std::vector<uint32_t> clock_;         // by instruction and stream: finished when it starts
  std::vector<uint32_t> end_;           // by value and stream: must have finished
  std::vector<uint32_t> first_, last_;  // by value
  std::vector<PlanUses> uses_;
  std::vector<Inside> inside_;  // by value
};

}  // namespace ge::memory
