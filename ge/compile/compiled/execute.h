// One run of a finished plan: takes states, the cores, packs and a frame, runs the program, and
// makes the new states visible. Buffers were checked (check_buffers.h). Thread-safe.
#pragma once

#include <vector>

#include "ge/base/status.h"
#include "ge/compile/compiled/compiled.h"
#include "ge/compile/compiled/kept_run.h"
#include "ge/run/state_store.h"

namespace ge {

// `in` and `out` are the caller's buffers by position; the addresses of states are appended to
// them. `observer`, if any, is told of the run's instructions. Allocates nothing where both have
// room and the plan ran before. `kept`: set where the run failed and a device may still be at work
// for it; whoever owns buffers of the run adds them.
Status ExecutePlan(Compiled* compiled, StateStore* states, std::vector<const void*>* in,
                   std::vector<void*>* out, RunObserver* observer = nullptr,
                   std::shared_ptr<KeptRun>* kept = nullptr);

}  // namespace ge
