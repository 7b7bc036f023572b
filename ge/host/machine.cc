#include "ge/host/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>

#include "ge/base/log.h"
#include "ge/host/usable_cores.h"

namespace ge {
namespace {

struct Process {
  std::mutex mutex;
  bool fixed = false;
  ProcessFacts facts;
  uint32_t asked_threads = 0;  // facts.threads unless the system gave fewer
  std::unique_ptr<ComputePool> pool;
  std::unique_ptr<const MachineRecord> machine;  // made once, then never changed
};
Process& TheProcess() {
  static Process* process = new Process;  // never freed: engines may use it until exit
  return *process;
}

void PoolFor(uint64_t n, void (*body)(void*, uint64_t), void* ctx) {
  TheProcess().pool->Run(n, body, ctx);
}

MachineRecord MachineOf(const ProcessFacts& facts) {
  switch (facts.rates) {
    case ProcessFacts::Rates::kKnown:
      return KnownMachine(facts.isa_cap, facts.threads);
    case ProcessFacts::Rates::kShipped:
      return ShippedMachine(facts.isa_cap, facts.threads);
    case ProcessFacts::Rates::kMeasured:
      return MeasuredMachine(facts.isa_cap, facts.threads, &PoolFor);
    case ProcessFacts::Rates::kGiven:
      return *facts.given;
    default:
      return FixedMachine(facts.isa_cap, facts.threads);
  }
}

ProcessFacts WithDefaults(ProcessFacts facts) {
  if (facts.threads == 0) facts.threads = UsableCores();
  return facts;
}

// With p->mutex held.
void Fix(ProcessFacts facts, Process* p) {
  p->pool = std::make_unique<ComputePool>(facts.threads);
  p->asked_threads = facts.threads;
  facts.threads = p->pool->threads();
  p->facts = facts;
  if (facts.threads < p->asked_threads) {
    LogLine(2, fmt::format("{} compute threads were asked for, and the system gave {}; raise the "
                           "limit of processes (ulimit -u, pids.max) or of address space (ulimit "
                           "-v), or ask for fewer",
                           p->asked_threads, facts.threads));
  }
  p->machine = std::make_unique<const MachineRecord>(MachineOf(facts));
  p->fixed = true;
}

}  // namespace

Result<uint32_t> IsaFromName(std::string_view name, std::string_view what) {
  static constexpr std::string_view kNames[] = {"native", "sse4.2", "avx2", "avx512"};
  const auto* it = std::find(std::begin(kNames), std::end(kNames), name);
  if (it != std::end(kNames)) return static_cast<uint32_t>(it - std::begin(kNames));
  return Status(Code::kInvalidArgument,
                fmt::format("{} is '{}', wanted native, sse4.2, avx2 or avx512", what, name));
}

Status FixProcessFacts(const ProcessFacts& wanted) {
  if (wanted.threads > kMostThreads) {
    return Status(Code::kInvalidArgument,
                  fmt::format("threads is {}, wanted at most {}", wanted.threads, kMostThreads));
  }
  Process& p = TheProcess();
  std::lock_guard<std::mutex> lock(p.mutex);
  ProcessFacts facts = WithDefaults(wanted);
  const char* cap = std::getenv("GE_MAX_ISA");
  if (!p.fixed && facts.isa_cap == 0 && cap) {
    GE_ASSIGN_OR_RETURN(facts.isa_cap, IsaFromName(cap, "GE_MAX_ISA"));
  }
  if (!p.fixed) {
    Fix(facts, &p);
    return {};
  }
  if (wanted.threads != 0 && wanted.threads != p.facts.threads &&
      wanted.threads != p.asked_threads) {
    return Status(Code::kFailedPrecondition,
                  fmt::format("threads = {} was asked for, but this process is fixed to {} since "
                              "its first engine was loaded; use one value in a process",
                              wanted.threads, p.facts.threads));
  }
  if (wanted.isa_cap != 0 && wanted.isa_cap != p.facts.isa_cap) {
    return Status(Code::kFailedPrecondition,
                  fmt::format("instruction-set cap {} was asked for, but this process is fixed to "
                              "{} since its first engine was loaded; use one value in a process",
                              wanted.isa_cap, p.facts.isa_cap));
  }
  return {};
}

ProcessFacts CurrentProcessFacts() {
  Process& p = TheProcess();
  std::lock_guard<std::mutex> lock(p.mutex);
  return p.fixed ? p.facts : WithDefaults(p.facts);
}

const MachineRecord& HostMachine() {
  Process& p = TheProcess();
  std::lock_guard<std::mutex> lock(p.mutex);
  if (p.machine) return *p.machine;
  static const MachineRecord fixed = FixedMachine(GE_ISA_NATIVE, 1);
  return fixed;
}

ComputePool* HostPool() { return TheProcess().pool.get(); }

}  // namespace ge
