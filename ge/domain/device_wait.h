// Waits of the host for an event of a device, which end with the call or with the device's limit.
// Any thread.
#pragma once

#include <cstdint>

#include "ge/base/interrupt.h"
#include "ge/ge_plugin.h"

namespace ge {

// How long a call that is to end waits for devices: so long are few launches, and nobody waits
// longer for a cancel.
constexpr uint64_t kGraceNs = 500'000'000;

struct WaitLimits {
  uint64_t longest_ns = 0;  // of this wait; 0 = no limit
  // From when the call is to end on, and at most until this time of NowNs, where it is not 0.
  uint64_t grace_ns = 0, until_ns = 0;
  // Of whom the thread works for; null: nobody ends it.
  const Interrupt* call = CurrentInterrupt();
};

// GE_PENDING where a limit came first. Else the answer of the engine.
ge_rc WaitFor(const ge_engine_api& api, ge_event* event, uint64_t value, const WaitLimits& limits,
              ge_err* err);

// GE_DEVICE_LOST, or any failure with such a scope: nothing works there any more.
inline bool IsDeviceFault(ge_rc rc, const ge_err& err) {
  return rc == GE_DEVICE_LOST ||
         (rc != GE_OK && rc != GE_PENDING && rc != GE_CANCELLED && err.scope >= GE_SCOPE_DEVICE);
}

}  // namespace ge
