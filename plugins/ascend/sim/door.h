// How the other simulated libraries of the vendor's, of objects and of operators, reach the devices
// behind the simulated libascendcl.so, against which they are linked. All of them are of one build:
// this is no interface for anybody else. Any thread may call.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "plugins/ascend/api/operators.h"
#include "plugins/ascend/sim/rules.h"
#include "plugins/device/sim/simulator.h"

namespace ge_engines::ascend::sim {

// What a kind of chip has. The numbers are ours: nothing that we know of tells them.
struct Chip {
  const char* name = "";  // as aclrtGetSocName tells it
  bool bf16 = false;
  bool formats = false;  // NC1HWC0 and FRACTAL_NZ
  bool peers = false;
  uint64_t streams = 0, events = 0;  // most of a device
};
GE_SIM_SHARED const Chip& ChipOfMachine();

// Every function of the vendor's asks first: what it must answer, doing nothing else. `counts`: it
// may be refused because a test planted that.
GE_SIM_SHARED acl::Status EnterFunction(const char* function, bool counts);
// The context that is current in this thread.
GE_SIM_SHARED acl::Status NeedContext(const char* function, uint64_t* context);
// The answer of a call that breaks a rule; kSuccess where that is off, and the call goes on.
GE_SIM_SHARED acl::Status BreakRule(Rule rule, const std::string& what);
GE_SIM_SHARED bool RuleIsOff(Rule rule);

// Where an address lies.
struct Place {
  enum class Kind : uint8_t { kDevice, kPinned, kFreed, kUnknown } kind = Kind::kUnknown;
  int device = -1;
  uint64_t left = 0;  // bytes from it to the end of its block
};
GE_SIM_SHARED Place PlaceOf(const void* address);
GE_SIM_SHARED int DeviceOf(uint64_t context);

// Runs `body` on a stream of the context as work that reads and writes these ranges. It answers
// why the work failed; empty: it did not. What it holds must be its own: objects may be gone when
// it runs.
GE_SIM_SHARED acl::Status LaunchWork(const char* function, uint64_t context, acl::Stream stream,
                                     const char* name,
                                     std::vector<ge_engines::device::sim::Range> reads,
                                     std::vector<ge_engines::device::sim::Range> writes,
                                     std::function<std::string()> body);

// Objects that are made (1) and destroyed (-1): what is left when the process ends is a leak.
GE_SIM_SHARED void CountObject(const char* kind, int by);
// A tensor in a private format of a launch: the option `calls` tells how many there were.
GE_SIM_SHARED void CountFormat(acl::Format format, const char* function);
// What padding is filled with, because a test asked for that.
GE_SIM_SHARED std::optional<float> PlantedPadding();
// Bytes that every operator writes behind its workspace, because a test asked for that.
GE_SIM_SHARED uint64_t PlantedSpill();
// Whether an operator is not simulated, because a test asked for that.
GE_SIM_SHARED bool IsLeftOut(std::string_view name);

}  // namespace ge_engines::ascend::sim
