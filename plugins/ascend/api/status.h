// What the runtime's answers mean for a driver. Pure; any thread.
#pragma once

#include "plugins/ascend/api/acl.h"
#include "plugins/device/driver.h"

namespace ge_engines::ascend {

device::Outcome OutcomeOf(acl::Status status);
inline device::Result ResultOf(acl::Status status) {
  return {OutcomeOf(status), static_cast<int32_t>(status)};
}

}  // namespace ge_engines::ascend
