// Lifetimes: for each value of a function, from when to when its bytes are needed, so that two
// values can be asked whether they may ever be live together. Happens-before by vector clocks over
// the streams; every wait must come after its signal in issue order, as STREAMS leaves it.
// Owns copies of what it needs; const use from any thread.
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
  static Result<Lifetimes> Make(const PlanFunction& f, const std::vector<PlanUses>& uses);

  // Instruction i runs after every use of v but that by instruction `except`.
  bool OverBefore(PlanValueId v, uint32_t i, uint32_t except = kNoInstruction) const;
  // The first place in issue order from which on every instruction of those streams, if there are
  // any, runs after all uses of v.
  uint32_t OverFrom(PlanValueId v, const std::vector<bool>& streams) const;
  // The two may hold bytes at one moment; values of one launch's inside by their steps.
  bool Together(PlanValueId a, PlanValueId b) const;

  // Places in issue order, for the packer's heuristics.
  uint32_t first(PlanValueId v) const { return first_[v]; }
  uint32_t last(PlanValueId v) const { return last_[v]; }

 private:
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
