// Homes of states: where a state lies between the runs of a plan. That is the memory of the device
// that makes its new value; of a state that is only read, the memory that all its readers share.
// PLACE prices boundaries by it and PARTITION builds them, so both ask here. Any thread.
#pragma once

#include <span>
#include <vector>

#include "ge/plan/plan.h"

namespace ge {

// A state of a lifted function: the parameter that it is read by, the result that it is written by.
struct StateValues {
  ValueId before = 0, after = 0;  // 0: not read, not written
  StateId state = 0;
};

// By state: a device in whose memory its home is; 0 = the host's. `device_of`: by node. A state
// that is also an input or an output of its own stays at the host.
std::vector<DeviceId> HomesOfStates(const Function& function, std::span<const StateValues> states,
                                    std::span<const DeviceId> device_of, const Plan& plan);

}  // namespace ge
