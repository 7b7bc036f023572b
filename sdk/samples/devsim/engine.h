// Simulated devices: an engine with the wrapped engine's offers. It runs them on streams, in
// memory of its own. The functions of the ABI table are in plugin.cc.
#ifndef GE_SAMPLES_DEVSIM_ENGINE_H_
#define GE_SAMPLES_DEVSIM_ENGINE_H_

#include <atomic>
#include <cstdio>
#include <memory>
#include <mutex>
#include <vector>

#include "clock.h"
#include "faults.h"
#include "memory.h"
#include "options.h"
#include "stream.h"
#include "wrapped.h"

// Copies under other names simulate other devices of one machine.
#ifndef DEVSIM_NAME
#define DEVSIM_NAME "devsim"
#endif

struct ge_exec {
  ge_engine* engine;
  ge_exec* wrapped;
  uint32_t device = 0;
  std::vector<uint32_t> nodes;  // by id, for traces
  uint64_t launch_ns = 0;       // in virtual time; 0 without a clock
  // Takes a compiled segment; `made` is the wrapped engine's exec.
  ge_rc Take(ge_engine* of, ge_exec* made, const ge_segment& segment, ge_err* err);
};

struct ge_engine {
  const ge_host_api* host = nullptr;
  devsim::Options options;
  devsim::Wrapped wrapped;
  devsim::Memory memory;
  devsim::Clock clock;
  devsim::Faults faults;
  ge_device device[devsim::kMostDevices] = {};
  // By device: its own memory; page-locked host memory, with option pinned.
  ge_domain domain[devsim::kMostDevices][2] = {};
  std::vector<ge_link> link;  // of each device to it and from it; then between devices
  uint32_t n_device() const { return static_cast<uint32_t>(options.devices); }
  std::atomic<uint64_t> draws{0};  // delays drawn

  std::mutex trace_mutex;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> trace{nullptr, std::fclose};

  void Describe();
  void Link(const void* from, const void* to, uint64_t gbps);
  void DescribeDevice(uint32_t d, uint32_t number);
  // Opens the trace; GE_INVALID_ARGUMENT if it cannot be written.
  ge_rc OpenTrace(ge_err* err);
  void Trace(const char* what, const ge_exec& exec);
  // Draws the longest delay of one stream, in us: none, half or all of the options' limit, so that
  // one stream may run far ahead of another.
  uint64_t DrawSlowness();
  // Of the host's clock.
  uint64_t NowNs() const;
  // Returns at that time, exactly: it does not sleep to the end.
  void StayUntil(uint64_t ns) const;
  // Virtual time of a task.
  uint64_t TaskNs(const devsim::Task& task) const;
  // One piece of work of device `on`: delay, injected failure, launch or copy. By a worker thread,
  // on_stream, or by the host.
  ge_rc Perform(const devsim::Task& task, uint32_t on, bool on_stream, uint64_t delay_us,
                ge_err* err);
  // Fills a task from a launch: copies everything it points to, and makes addresses shadow ones.
  ge_rc Prepare(const ge_launch& launch, devsim::Task* task, ge_err* err) const;
  ge_rc Prepare(const ge_copy& copy, devsim::Task* task, ge_err* err) const;
};

namespace devsim {
// Forwards the wrapped engine's answers with scaled prices; declines all other nodes.
ge_rc Query(ge_engine* engine, const ge_graph* graph, const ge_sink* sink, ge_err* err);
}  // namespace devsim
#endif  // GE_SAMPLES_DEVSIM_ENGINE_H_
