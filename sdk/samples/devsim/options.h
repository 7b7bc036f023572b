// Options of devsim, from the engine's option string. Plain data; any thread may read it.
//
//   wrap=NAME|PATH      engine that does the work (ref): a path with a slash, or NAME.so beside
//                       devsim.so or in ../graphengine from there
//   price=PERCENT       of the wrapped engine's prices (100)
//   take=PERCENT        share of the nodes that are offered at all (100), drawn by take_seed (1)
//   ops=OP+OP...         only these operators are offered (all)
//   fail_compile=OP+OP... segments with one of these operators do not compile (none)
//   link_latency_ns=N   price of a copy in either direction (2000) ...
//   link_gbps=N         ... and its speed in GB/s (10)
//   link_told=N         speed that the links are told to have, beside what they do (0 = link_gbps)
//   paced=1             copies take their link's time on the host's clock, too (0)
//   round_trip_ns=N     the host sees the end of work so much later, and nobody is told (0)
//   peer_gbps=N         two devices copy to each other directly, so fast (0 = they do not)
//   pinned=1            offers page-locked host memory, where the host's end of copies then lies
//                       (0)
//   pinned_gbps=N       speed of copies between that memory and the device (0 = not stated)
//   memory=BYTES        of each device, with K, M or G behind it for 2^10, 2^20, 2^30 bytes (0 = as
//                       much as the host has); what is beyond is refused
//   memory=host         the devices work in the host's memory, as those on the processor's chip do
//   streams=N           at most so many streams, 1 to 16 (2)
//   strict=1            refuses a wait whose signal was not called before (0 = it waits for
//   nothing,
//                       as on real devices)
//   delay=SEED          sleeps a random time before each piece of work (0 = never) ...
//   delay_us=N          ... of at most so many microseconds (200); some streams are slow, some not
//   trace=FILE          what ran: a line "begin ID" or "end ID" for each node of a launch (none)
//   devices=N           as many devices of the same kind, 1 or 2 (1); each is offered all nodes
//   fail_at=N           the N-th launch or copy on a stream fails (0 = none)
//   late_at=N           the same, with ...
//   scope=call|device   ... this scope (call): of a device nothing works from then on
//   lost_at=N           the N-th launch or copy finds its device lost, as all behind it do (0)
//   hang_at=N           the N-th launch or copy never ends, nor does any work behind it on the
//                       same device (0)
//   timeout_ms=N        what the devices say of the longest time of their work (0 = no limit)
//   grow=0              each offer is a segment of its own (1)
//   capture=0|1|2       launches may not be captured, may be (1), or fail to be
//   clock=FILE          keeps a virtual clock there, which engines share that name the same file;
//                       see clock.h (none)
#ifndef GE_SAMPLES_DEVSIM_OPTIONS_H_
#define GE_SAMPLES_DEVSIM_OPTIONS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "ge/ge_plugin.h"

namespace devsim {

constexpr uint32_t kMostDevices = 2;

struct Options {
  std::string wrap = "ref";
  std::string ops;  // "Add+Mul", empty = all
  std::string fail_compile;
  std::string trace, clock;
  uint64_t price = 100, take = 100, take_seed = 1;
  uint64_t link_latency_ns = 2000, link_gbps = 10, link_told = 0, peer_gbps = 0;
  uint64_t paced = 0, round_trip_ns = 0;
  uint64_t memory = 0;          // bytes of each device; 0 = no limit
  bool memory_is_host = false;  // they have none of their own
  uint64_t streams = 2;
  uint64_t pinned = 0, pinned_gbps = 0;
  uint64_t strict = 0, grow = 1, capture = 1;
  uint64_t delay = 0, delay_us = 200;
  uint64_t devices = 1;
  uint64_t fail_at = 0, late_at = 0, lost_at = 0, hang_at = 0;
  bool scope_is_device = false;  // of late_at
  uint64_t timeout_ms = 0;
};

// GE_INVALID_ARGUMENT naming an unknown key or a value out of range.
ge_rc ParseOptions(ge_str text, Options* out, ge_err* err);

// Is `op` one of "Add+Mul"?
bool Named(std::string_view list, std::string_view op);

// A well-mixed number for (seed, n); the same everywhere.
uint64_t Mix(uint64_t seed, uint64_t n);

}  // namespace devsim
#endif  // GE_SAMPLES_DEVSIM_OPTIONS_H_
