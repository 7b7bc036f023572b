// The machine as this process may use it: its threads, its instruction sets, what a probe found of
// it, and the one pool of compute threads. Fixed when the first engine is created. Thread-safe.
#pragma once

#include <cstdint>
#include <string_view>

#include "ge/base/status.h"
#include "ge/ge_plugin.h"
#include "ge/host/compute_pool.h"
#include "ge/host/probe.h"

namespace ge {

inline constexpr uint32_t kMostThreads = 4096;
// Process-wide facts, fixed when the first engine is created; a second value is refused.
struct ProcessFacts {
  uint32_t threads = 0;  // 0 = the cores that the process may use; at most kMostThreads
  uint32_t isa_cap = 0;  // GE_ISA_*; 0 = what $GE_MAX_ISA names, else all that the host has
  // How fast the machine is taken to be, for this and every later session of the process: kFixed is
  // the fixed one of the tests, kKnown what is known of it without measuring, kShipped is what
  // ships about its like; see probe.h.
  enum class Rates { kFixed, kKnown, kMeasured, kShipped } rates = Rates::kFixed;
};
// GE_ISA_* of native, sse4.2, avx2 or avx512; INVALID_ARGUMENT, saying that `what` is another word.
Result<uint32_t> IsaFromName(std::string_view name, std::string_view what);
// Where the system gives fewer threads than are wanted, those are the process's, and the log says
// so. INVALID_ARGUMENT for more than kMostThreads.
Status FixProcessFacts(const ProcessFacts& wanted);
ProcessFacts CurrentProcessFacts();  // What is fixed now, defaults filled in.
// The record that engines get through ge_host_api; the fixed one before any session exists.
const MachineRecord& HostMachine();
// The threads that every engine computes on; null before any session exists.
ComputePool* HostPool();

}  // namespace ge
