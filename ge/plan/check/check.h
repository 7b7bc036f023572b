// CHECK: proves a plan safe without knowing its planner. Uses ir and plan only and shares no code
// with STREAMS, MEMORY or RUN. Runs in every build type; a plan that fails is not executed.
#pragma once

#include <string>
#include <vector>

#include "ge/base/status.h"
#include "ge/plan/plan.h"

namespace ge {

struct CheckReport {
  // Per domain: the greatest total of transient, internal and workspace values of which no two may
  // ever share a byte. Two values conflict unless one is surely over (its writer and all readers
  // finished) before the other's writer starts, or both are internals of one launch at different
  // steps, or one is declared in the place of the other. Exact; with one stream it is the fullest
  // moment along the instructions. No arena can be smaller.
  std::vector<int64_t> max_live_bytes;
  std::vector<int64_t> arena_bytes;  // per domain, transient arenas
  int64_t proved_pairs = 0;          // of values sharing bytes at different times
};

// Every read happens after its write, every cross-stream read, write and reuse is ordered by an
// event chain, no two live values overlap, every alias is permitted, every segment runs after the
// segments it names (PlanSegment::after), inputs are overwritten only where nothing can fail any
// more (PlanOp::kCommit), ids and sizes are in range, every wait stands behind its signal, every
// output is written. INTERNAL naming the pair ("value 'a' written by instruction 3 on stream
// 1 and ...").
Result<CheckReport> Check(const Plan& plan);

// Bytes of a checked plan's entry that count in max_live_bytes, while a copy or a launch runs and
// from a step of the launch on.
struct LiveMoment {
  uint32_t instruction = 0, step = 0;
  int64_t bytes = 0;
};
// In the order of instructions and steps. The greatest is the domain's max_live_bytes where all
// runs on one stream; with several it may be less, since these follow the host's order.
Result<std::vector<LiveMoment>> LiveBytes(const Plan& plan, DomainId domain);

}  // namespace ge
