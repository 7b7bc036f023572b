// DeviceFault: what a call of an engine says of a device beside its own failure: it is lost, and
// everything else asked of it will fail. Plain data.
#pragma once

#include <cstdint>
#include <string>

#include "ge/ge_plugin.h"

namespace ge {

struct DeviceFault {
  uint32_t engine = 0, device = 0;  // of Plan::engines, and of the engine
  bool all = false;                 // devices of the engine
  std::string why;
};

// GE_DEVICE_LOST, or any failure with such a scope.
inline bool IsDeviceFault(ge_rc rc, const ge_err& err) {
  return rc == GE_DEVICE_LOST ||
         (rc != GE_OK && rc != GE_PENDING && rc != GE_CANCELLED && err.scope >= GE_SCOPE_DEVICE);
}

}  // namespace ge
