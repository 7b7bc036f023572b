// The host probe: the best rates of one core, and of all of them. `ge tune` measures
// them in about 0.25 s and keeps them in the cache folder by CPU model, instruction
// sets, cap, thread count and probe version; before that, shipped rates of processors
// like this one are used. Engines get them through ge_host_api and scale their prices by
// them. It is not a benchmark of any engine. A record is plain data; any thread may read
// it.
#pragma once

#include <cstdint>
#include <string>

#include "ge/base/status.h"

namespace ge {

struct MachineRecord {
  std::string cpu;        // model name, family and model, as the kernel tells them
  uint32_t isa_mask = 0;  // bit GE_ISA_*: those of the CPU
  uint32_t isa = 0;       // GE_ISA_*: the best within the cap, never GE_ISA_NATIVE
  uint32_t threads = 1;
  bool fixed = false;       // not measured: FixedMachine()
  bool probed_now = false;  // measured by this process, not read from the cache
  bool shipped = false;     // of a processor like this one, not of this host
  bool doubtful = false;    // the machine was busy: it is measured again once it is quiet
  // By GE_ISA_*, one thread; 0 beyond the cap. Copies count bytes read + written: inside L2, inside
  // L3, in memory.
  double flops_per_ns[4] = {};
  double copy_bytes_per_ns[4][3] = {};
  double thread_gain[2] = {1, 1};  // all threads / one: multiply-adds, copies in memory
  double call_ns = 0;              // an indirect call with the arguments of enqueue
  double fork_ns = 0;              // parallel_for over empty bodies; 0 with one thread
  uint64_t cache_bytes[2] = {};    // L2, L3
};

// The best instruction set of the processor itself, ignoring the cap.
uint32_t BestIsa(const MachineRecord& record);

// The same on every host, for tests whose plans must not depend on it: a 2.8 GHz server core.
MachineRecord FixedMachine(uint32_t isa_cap, uint32_t threads);

using ParallelForFn = void (*)(uint64_t n, void (*body)(void* ctx, uint64_t i), void* ctx);
// Measures now.
MachineRecord ProbeMachine(uint32_t isa_cap, uint32_t threads, ParallelForFn parallel_for);
// Measures nothing: the cache folder's record of this host, else a shipped one of similar
// processors, else FixedMachine. GE_PROBE=fixed answers FixedMachine always.
MachineRecord KnownMachine(uint32_t isa_cap, uint32_t threads);
// The shipped record of processors like this one, without measurements made here; else
// FixedMachine. GE_PROBE=fixed answers FixedMachine always.
MachineRecord ShippedMachine(uint32_t isa_cap, uint32_t threads);
// Measured and kept in the cache folder. GE_PROBE=fixed answers FixedMachine.
MachineRecord MeasuredMachine(uint32_t isa_cap, uint32_t threads, ParallelForFn parallel_for);

// machines.json, the shipped records of processors, with this record replacing one of its vendor,
// instruction sets, cap and threads. `present` is that file now, or empty; DATA_CORRUPT, beginning
// with "it", where it is damaged.
Result<std::string> WithShippedMachine(const std::string& present, const MachineRecord& record);
// Takes the nearest record of `text`: one of the host's instruction set, of its vendor where there
// is one, of a processor with the same best instruction set, of as many threads or almost.
// FAILED_PRECONDITION when there is none of its instruction set, DATA_CORRUPT as above.
Status MachineFromShipped(const std::string& text, const MachineRecord& host, MachineRecord* out);

// The text for the cache, and back. FAILED_PRECONDITION when it is of another version or about
// another machine than `key` (its cpu, isa_mask, isa and threads), DATA_CORRUPT as above.
std::string MachineToText(const MachineRecord& record);
Status MachineFromText(const std::string& text, const MachineRecord& key, MachineRecord* out);

// cpu, isa_mask, isa and threads of this host; nothing is measured.
MachineRecord IdentifyMachine(uint32_t isa_cap, uint32_t threads);

}  // namespace ge
