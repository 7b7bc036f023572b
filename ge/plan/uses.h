// The writer and the readers of every value of a plan function, the input of STREAMS and MEMORY. It
// judges nothing about time or place; the prover (ge/plan/check) has its own reading of a plan and
// does not use this file. The result is the caller's; const use from any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "ge/base/status.h"
#include "ge/plan/plan.h"

namespace ge {

inline constexpr uint32_t kNoInstruction = UINT32_MAX;

struct PlanUses {
  // Index into PlanFunction::code of the one writer; kNoInstruction: written before the run, or
  // unused. Internals and workspace count as written by their segment's launch.
  uint32_t writer = kNoInstruction;
  std::vector<uint32_t> readers;  // indices into code, ascending, each once
};

// The values that an instruction reads and writes, by position; empty for signals and waits.
// Only after CollectUses answered OK for this function.
const std::vector<PlanValueId>& ReadsOf(const PlanFunction& function, const Instruction& in,
                                        std::vector<PlanValueId>* scratch);

// One entry per value. INTERNAL when an id is out of range or a value has two writers, and
// UNSUPPORTED for control-flow instructions: no stage plans them yet.
Result<std::vector<PlanUses>> CollectUses(const PlanFunction& function);

}  // namespace ge
