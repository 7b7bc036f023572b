#include "tools/ge/observe/run_times.h"

#include <utility>

namespace ge::tool {

size_t MomentsOf(const Compiled& plan) {
  const PlanFunction& fn = plan.plan.functions[0];
  size_t moments = fn.code.size();
  for (const Instruction& i : fn.code) {
    if (i.op == PlanOp::kLaunch) moments += fn.segments[i.segment].n_step;
  }
  return moments;
}

RunTimes::RunTimes(std::shared_ptr<const Compiled> plan) {
  times_.moments.reserve(MomentsOf(*plan));
  times_.plan = std::move(plan);
  times_.begin_ns = times_.first_ns = RunClock::Now();
}

void RunTimes::Begin(std::span<const void* const>) { times_.first_ns = RunClock::Now(); }

void RunTimes::After(uint32_t index, std::span<const ge_buf>, bool) {
  times_.moments.push_back({index, kWholeInstruction, RunClock::Now()});
}

void RunTimes::AfterStep(uint32_t index, uint32_t step, const ge_launch&) {
  times_.moments.push_back({index, step, RunClock::Now()});
}

PlanTimes RunTimes::Take() {
  times_.end_ns = RunClock::Now();
  return std::move(times_);
}

}  // namespace ge::tool
