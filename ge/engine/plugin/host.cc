// The host's side of the ABI's host table: log, clock, compute threads.
#include <algorithm>
#include <chrono>

#include "ge/base/file_mapping.h"
#include "ge/base/float_mode.h"
#include "ge/base/log.h"
#include "ge/engine/plugin/plugin.h"
#include "ge/host/machine.h"

namespace ge {
namespace {

void Log(ge_host*, uint32_t level, ge_str text) {
  if (text.p) LogLine(level, std::string_view(text.p, text.n));
}
uint64_t Now(ge_host*) {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
}
void ParallelFor(ge_host*, uint64_t n, void (*body)(void*, uint64_t), void* ctx) {
  HostPool()->Run(n, body, ctx);
}

void Team(ge_host*, uint32_t n, void (*body)(void*, uint64_t), void* ctx) {
  HostPool()->Team(n, body, ctx);
}

uint32_t Inside(ge_host*) { return ComputePool::Inside() ? 1 : 0; }

uint32_t Helpers(ge_host*) { return ComputePool::Inside() ? 0 : HostPool()->HelpersForOne(); }

void ConstDone(ge_host*, const void* data, uint64_t bytes) { DropMappedPages(data, bytes); }

}  // namespace

const ge_host_api* HostApi() {
  static const ge_host_api api = [] {
    ge_host_api a{};
    a.h = GE_HDR(ge_host_api, GE_TAG_HOST_API);
    a.log = &Log;
    a.now_ns = &Now;
    a.parallel_for = &ParallelFor;
    a.const_done = &ConstDone;
    a.team = &Team;
    a.inside = &Inside;
    a.helpers = &Helpers;
    ProcessFacts facts = CurrentProcessFacts();
    a.threads = facts.threads;
    a.isa_cap = facts.isa_cap;
    const MachineRecord& m = HostMachine();
    a.flops_per_ns = m.flops_per_ns[m.isa];
    std::copy_n(m.copy_bytes_per_ns[m.isa], 3, a.copy_bytes_per_ns);
    std::copy_n(m.thread_gain, 2, a.thread_gain);
    a.call_ns = m.call_ns;
    a.fork_ns = m.fork_ns;
    std::copy_n(m.cache_bytes, 2, a.cache_bytes);
    a.caller_fp = [](ge_host*) { return FloatModeScope::Caller(); };
    return a;
  }();
  return &api;
}

}  // namespace ge
