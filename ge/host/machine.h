// The machine as this process may use it: its threads, its instruction sets, the probe's results,
// and the one pool of compute threads. Fixed when the first engine is created. Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "ge/base/status.h"
#include "ge/ge_plugin.h"
#include "ge/host/compute_pool.h"
#include "ge/host/probe.h"

namespace ge {

inline constexpr uint32_t kMostThreads = 4096;
// Process-wide facts, fixed when the first engine is created; a second value is refused.
struct ProcessFacts {
  uint32_t threads = 0;  // 0 = all cores open to the process; at most kMostThreads
  uint32_t isa_cap = 0;  // GE_ISA_*; 0 = $GE_MAX_ISA, else all of the host's
  // The assumed speed of the machine, for this and every later session of the process: kFixed is
  // the fixed one of the tests, kKnown the one known without measuring, kShipped the shipped one of
  // similar processors, kGiven that of `given`; see probe.h.
  enum class Rates { kFixed, kKnown, kMeasured, kShipped, kGiven } rates = Rates::kFixed;
  std::shared_ptr<const MachineRecord> given;  // of this host: a recorded run's
};
// GE_ISA_* of native, sse4.2, avx2 or avx512; INVALID_ARGUMENT, naming `what`, for another word.
Result<uint32_t> IsaFromName(std::string_view name, std::string_view what);
// Where the system gives fewer threads than wanted, the process has those, and the log says so.
// INVALID_ARGUMENT for more than kMostThreads.
Status FixProcessFacts(const ProcessFacts& wanted);
ProcessFacts CurrentProcessFacts();  // The fixed facts, defaults filled in.
// The record given to engines through ge_host_api; the fixed one before any session exists.
const MachineRecord& HostMachine();
// The compute threads of every engine; null before any session exists.
ComputePool* HostPool();

}  // namespace ge
