// What one run of a finished plan holds in devices' memory, beside the limits that the devices
// state. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ge/compile/compiled/compiled.h"

namespace ge {

struct DeviceNeed {
  std::string memory;  // "devsim/sim:0"
  DomainId domain = 0;
  uint64_t limit = 0;  // of ge_domain.bytes; 0 = none
  uint64_t arena = 0, packs = 0, states = 0;
  std::string largest;  // of these, by name
  uint64_t largest_bytes = 0;
  uint64_t total() const { return arena + packs + states; }
};

// One for each memory of a device that the plan uses. With a plan behind MEMORY.
std::vector<DeviceNeed> DeviceNeeds(const Compiled& compiled);

}  // namespace ge
