// ProgramPoints: the packer's time axis of one function: one point for each instruction in issue
// order, and one for each step at which an internal value of a launch starts or ends. Gives the
// points in which each value needs its bytes. Immutable; const use from any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "ge/memory/lifetimes.h"
#include "ge/plan/plan.h"

namespace ge::memory {

// The points in which a value may share its bytes with no other. With the host alone issue order is
// time; another stream may go on without knowing of a value's end.
struct Stay {
  uint32_t first = 0, last = 0;  // of a launch's internal value: those of its steps
  // An internal value after its launch, until the other streams know. Empty: first > last.
  uint32_t linger_first = 1, linger_last = 0;
  uint32_t used_last = 0;  // the last point at which it is used itself

  // Values starting behind this point do not meet it.
  uint32_t until() const { return linger_first <= linger_last ? linger_last : last; }
};

class ProgramPoints {
 public:
  explicit ProgramPoints(const PlanFunction& function);

  // `writing`: the streams with instructions that write into the value's domain.
  Stay Of(const Lifetimes& life, PlanValueId plan_value, const std::vector<bool>& writing) const;

 private:
  const PlanFunction& f_;
  std::vector<std::vector<uint32_t>> steps_;  // by segment
  std::vector<uint32_t> begin_;               // by instruction, and the end
};

}  // namespace ge::memory
