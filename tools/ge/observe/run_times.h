// RunTimes: when the instructions of a plan's run ended, and the steps inside its launches. Between
// two of them it reads the clock and keeps 16 bytes; it looks at no value. One thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ge/compile/compiled/compiled.h"
#include "ge/run/observer.h"

namespace ge::tool {

inline constexpr uint32_t kWholeInstruction = UINT32_MAX;

// Something of a run ended at `ns`, by RunClock::Now.
struct RunMoment {
  uint32_t instruction = 0;  // of the plan's code
  uint32_t step = kWholeInstruction;
  uint64_t ns = 0;
};

// One execution of one plan.
struct PlanTimes {
  std::shared_ptr<const Compiled> plan;
  uint64_t begin_ns = 0, end_ns = 0;  // of the call
  uint64_t first_ns = 0;              // before the first instruction
  std::vector<RunMoment> moments;     // in their order
};

class RunTimes : public RunObserver {
 public:
  // The call begins now. `plan` is ready to run.
  explicit RunTimes(std::shared_ptr<const Compiled> plan);
  void Begin(std::span<const void* const> states) override;
  void After(uint32_t index, std::span<const ge_buf> written, bool queued) override;
  void AfterStep(uint32_t index, uint32_t step, const ge_launch& launch) override;
  // The call has ended.
  PlanTimes Take();

 private:
  PlanTimes times_;
};

// How many moments a run of the plan has at most.
size_t MomentsOf(const Compiled& plan);

}  // namespace ge::tool
