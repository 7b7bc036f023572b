// DeviceFault: what a call of an engine says of a device beside its own failure: it is lost, and
// everything else asked of it will fail. Plain data.
#pragma once

#include <cstdint>
#include <string>

namespace ge {

struct DeviceFault {
  uint32_t engine = 0, device = 0;  // of Plan::engines, and of the engine
  bool all = false;                 // devices of the engine
  std::string why;
};

}  // namespace ge
