// Waits of the host for an event of a device, which end with the call or with the device's limit.
// Any thread.
#pragma once

#include <cstdint>

#include "ge/run/program.h"

namespace ge {

// How long a run that is to end waits for devices: so long are few launches, and nobody waits
// longer for a cancel.
constexpr uint64_t kGraceNs = 500'000'000;

// Of the work of one of the engine's devices; 0 = none.
inline uint64_t LimitOf(const RunEngine& engine, uint32_t device) {
  return device < engine.limit_ns.size() ? engine.limit_ns[device] : 0;
}

struct WaitLimits {
  uint64_t longest_ns = 0;  // of this wait; 0 = no limit
  // From when the call is to end on, and at most until this time of RunClock, where it is not 0.
  uint64_t grace_ns = 0, until_ns = 0;
};

// GE_PENDING where a limit came first. Else the answer of the engine.
ge_rc WaitFor(const RunEngine& engine, ge_event* event, uint64_t value, const WaitLimits& limits,
              ge_err* err);

}  // namespace ge
