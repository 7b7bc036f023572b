// The host's side of the ABI's host table: log, clock, compute threads.
#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "ge/base/file_mapping.h"
#include "ge/base/float_mode.h"
#include "ge/engine/plugin.h"

namespace ge {
namespace {

// Cores that this process may use: affinity mask and cgroup quota, at least one.
uint32_t UsableCores() {
  cpu_set_t set;
  uint32_t cores = 1;
  if (sched_getaffinity(0, sizeof set, &set) == 0) cores = std::max(1, CPU_COUNT(&set));
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  std::string quota;
  double period = 0;
  if (file >> quota >> period && quota != "max" && period > 0) {
    double limit = std::strtod(quota.c_str(), nullptr) / period;
    cores = std::min(cores, std::max(1u, static_cast<uint32_t>(limit + 0.5)));
  }
  return cores;
}

// Compute threads of the process. One parallel_for at a time has the helpers (the compute token);
// any other caller runs its loop alone, so that never more than `threads` compute at once for it.
class ComputePool {
 public:
  explicit ComputePool(uint32_t threads) {
    for (uint32_t i = 1; i < threads; ++i) helpers_.emplace_back([this] { Help(); });
  }
  ~ComputePool() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      stop_ = true;
    }
    wake_.notify_all();
    for (auto& t : helpers_) t.join();
  }

  void Run(uint64_t n, void (*body)(void*, uint64_t), void* ctx) {
    bool expected = false;
    if (helpers_.empty() || n < 2 || inside_ ||
        !busy_.compare_exchange_strong(expected, true, std::memory_order_acquire)) {
      for (uint64_t i = 0; i < n; ++i) body(ctx, i);
      return;
    }
    {
      std::lock_guard<std::mutex> lock(mutex_);
      body_ = body, ctx_ = ctx, n_ = n;
      float_control_ = FloatControl();  // helpers compute as the caller does
      next_.store(0, std::memory_order_relaxed);
      working_ = static_cast<uint32_t>(helpers_.size());
      ++round_;
    }
    wake_.notify_all();
    Work();
    std::unique_lock<std::mutex> lock(mutex_);
    done_.wait(lock, [this] { return working_ == 0; });
    lock.unlock();
    busy_.store(false, std::memory_order_release);
  }

 private:
  void Work() {
    inside_ = true;
    for (uint64_t i; (i = next_.fetch_add(1, std::memory_order_relaxed)) < n_;) body_(ctx_, i);
    inside_ = false;
  }
  void Help() {
    uint64_t seen = 0;
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      wake_.wait(lock, [&] { return stop_ || round_ != seen; });
      if (stop_) return;
      seen = round_;
      SetFloatControl(float_control_);
      lock.unlock();
      Work();
      lock.lock();
      if (--working_ == 0) done_.notify_one();
    }
  }

  std::vector<std::thread> helpers_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::atomic<bool> busy_{false};
  std::atomic<uint64_t> next_{0};
  void (*body_)(void*, uint64_t) = nullptr;
  void* ctx_ = nullptr;
  uint64_t n_ = 0, round_ = 0;
  uint32_t working_ = 0, float_control_ = 0;
  bool stop_ = false;
  static thread_local bool inside_;
};
thread_local bool ComputePool::inside_ = false;

struct Process {
  std::mutex mutex;
  bool fixed = false;
  ProcessFacts facts;
  std::unique_ptr<ComputePool> pool;
  std::unique_ptr<const MachineRecord> machine;  // made once, then never changed
};
Process& TheProcess() {
  static Process* process = new Process;  // never freed: engines may use it until exit
  return *process;
}

void Log(ge_host*, uint32_t level, ge_str text) {
  static const char* const kNames[] = {"error", "warning", "info", "debug", "trace"};
  static const uint32_t limit = [] {
    const char* wanted = std::getenv("GE_LOG_LEVEL");
    return wanted ? static_cast<uint32_t>(std::strtoul(wanted, nullptr, 10)) : 1u;
  }();
  if (level > limit || !text.p) return;
  fmt::print(stderr, "graphengine: {}: {}\n", kNames[std::min(level, 4u)],
             std::string_view(text.p, std::min<uint64_t>(text.n, 4096)));
}
uint64_t Now(ge_host*) {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
}
void ParallelFor(ge_host*, uint64_t n, void (*body)(void*, uint64_t), void* ctx) {
  TheProcess().pool->Run(n, body, ctx);
}

void PoolFor(uint64_t n, void (*body)(void*, uint64_t), void* ctx) {
  TheProcess().pool->Run(n, body, ctx);
}
void ConstDone(ge_host*, const void* data, uint64_t bytes) { DropMappedPages(data, bytes); }

ProcessFacts WithDefaults(ProcessFacts facts) {
  if (facts.threads == 0) facts.threads = UsableCores();
  return facts;
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
  Process& p = TheProcess();
  std::lock_guard<std::mutex> lock(p.mutex);
  ProcessFacts facts = WithDefaults(wanted);
  const char* cap = std::getenv("GE_MAX_ISA");
  if (!p.fixed && facts.isa_cap == 0 && cap) {
    GE_ASSIGN_OR_RETURN(facts.isa_cap, IsaFromName(cap, "GE_MAX_ISA"));
  }
  if (!p.fixed) {
    p.fixed = true;
    p.facts = facts;
    p.pool = std::make_unique<ComputePool>(facts.threads);
    p.machine = std::make_unique<const MachineRecord>(
        facts.probe ? FindMachine(facts.isa_cap, facts.threads, &PoolFor)
                    : FixedMachine(facts.isa_cap, facts.threads));
    return {};
  }
  if (wanted.threads != 0 && facts.threads != p.facts.threads) {
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

void LogLine(uint32_t level, std::string_view text) {
  Log(nullptr, level, {text.data(), text.size()});
}

const ge_host_api* HostApi() {
  static const ge_host_api api = [] {
    ge_host_api a{};
    a.h = GE_HDR(ge_host_api, GE_TAG_HOST_API);
    a.log = &Log, a.now_ns = &Now, a.parallel_for = &ParallelFor;
    a.const_done = &ConstDone;
    ProcessFacts facts = CurrentProcessFacts();
    a.threads = facts.threads, a.isa_cap = facts.isa_cap;
    const MachineRecord& m = HostMachine();
    a.flops_per_ns = m.flops_per_ns[m.isa];
    std::copy_n(m.copy_bytes_per_ns[m.isa], 3, a.copy_bytes_per_ns);
    std::copy_n(m.thread_gain, 2, a.thread_gain);
    a.call_ns = m.call_ns, a.fork_ns = m.fork_ns;
    std::copy_n(m.cache_bytes, 2, a.cache_bytes);
    a.caller_fp = [](ge_host*) { return FloatModeScope::Caller(); };
    return a;
  }();
  return &api;
}

}  // namespace ge
