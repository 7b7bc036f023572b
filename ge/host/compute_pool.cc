#include "ge/host/compute_pool.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <exception>

#include "ge/base/float_mode.h"
#include "ge/base/mapping_faults.h"

namespace ge {
namespace {

// How long a helper looks for work after its last part. Loops of one run follow each other within a
// few microseconds; to be woken takes 50 to 100.
constexpr int64_t kLookNs = 100'000;
// Between two looks at the clock.
constexpr int kLooks = 64;
// Who waits for a part of another thread's spins so often, then gives its core away between looks:
// that thread may want just that one.
constexpr int kWaits = 20'000;
// Ranges of a loop for each thread: the last ones even out what the first ones took unequally.
constexpr uint32_t kPartsAThread = 4;

thread_local bool inside = false;                          // a body runs on this thread
thread_local const ComputePool* turn_of_thread = nullptr;  // whose turn a run of this thread has

int64_t SteadyNow() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

uint64_t Word(uint32_t round, uint32_t first, uint32_t end) {
  return uint64_t{round} << 32 | uint64_t{first} << 16 | end;
}
uint32_t First(uint64_t word) { return static_cast<uint32_t>(word >> 16) & 0xffff; }
uint32_t End(uint64_t word) { return static_cast<uint32_t>(word) & 0xffff; }
bool HasWork(uint64_t word) { return First(word) < End(word); }

long Futex(std::atomic<uint32_t>* word, int op, uint32_t value) {
  return syscall(SYS_futex, reinterpret_cast<uint32_t*>(word), op | FUTEX_PRIVATE_FLAG, value,
                 nullptr, nullptr, 0);
}

// A quarter of a limited address space, kept free of stacks (8 MB each) while this lives: models
// and engines need it.
class SpaceForTheRest {
 public:
  SpaceForTheRest() {
    rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
    bytes_ = limit.rlim_cur / 4;
    at_ = mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  }
  ~SpaceForTheRest() {
    if (at_ != nullptr && there()) munmap(at_, bytes_);
  }
  SpaceForTheRest(const SpaceForTheRest&) = delete;
  SpaceForTheRest& operator=(const SpaceForTheRest&) = delete;
  bool there() const { return at_ != MAP_FAILED; }

 private:
  void* at_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace

ComputePool::ComputePool(uint32_t threads)
    : helpers_(StartHelpers(std::max(1u, threads) - 1)), semaphore_(this->threads()) {}

std::vector<std::thread> ComputePool::StartHelpers(uint32_t n) {
  std::vector<std::thread> helpers;
  helpers.reserve(n);
  const SpaceForTheRest rest;
  if (!rest.there()) return helpers;
  try {
    for (uint32_t i = 1; i <= n; ++i) helpers.emplace_back([this, i] { Help(i); });
  } catch (const std::exception&) {
    // The limit of processes or of memory: those that there are do.
  }
  return helpers;
}

ComputePool::~ComputePool() {
  stop_.store(true);
  round_.fetch_add(1);
  Futex(&round_, FUTEX_WAKE, INT32_MAX);
  for (auto& t : helpers_) t.join();
}

bool ComputePool::Inside() { return inside; }

Status ComputePool::InFlight::Begin(ComputePool* pool) {
  if (turn_of_thread == pool) return {};
  GE_RETURN_IF_ERROR(pool->semaphore_.Take());
  pool_ = pool;
  turn_of_thread = pool;
  return {};
}

ComputePool::InFlight::~InFlight() {
  if (pool_ == nullptr) return;
  turn_of_thread = nullptr;
  pool_->semaphore_.Give();
}

ComputePool::Counts ComputePool::counts() const {
  return {forks_.load(std::memory_order_relaxed), teams_.load(std::memory_order_relaxed),
          parks_.load(std::memory_order_relaxed), wakes_.load(std::memory_order_relaxed)};
}

void ComputePool::Run(uint64_t n, Body body, void* ctx) {
  const uint32_t helpers = HelpersForOne();
  if (helpers == 0 || n < 2 || inside || taken_.exchange(true, std::memory_order_acquire)) {
    for (uint64_t i = 0; i < n; ++i) body(ctx, i);
    return;
  }
  const uint64_t parts = std::min<uint64_t>(n, uint64_t{kPartsAThread} * (helpers + 1));
  Share(static_cast<uint32_t>(parts), helpers, n, body, ctx);
  taken_.store(false, std::memory_order_release);
}

uint32_t ComputePool::HelpersForOne() const {
  const uint32_t others = std::max(1u, semaphore_.taken()) - 1;
  const auto all = static_cast<uint32_t>(helpers_.size());
  return all > others ? all - others : 0;
}

void ComputePool::Team(uint32_t n, Body body, void* ctx) {
  for (int looks = 0; taken_.exchange(true, std::memory_order_acquire); ++looks) {
    if (looks < kLooks) {
      Pause();
    } else {
      sched_yield();
    }
  }
  teams_.fetch_add(1, std::memory_order_relaxed);
  Share(n, n - 1, n, body, ctx);
  taken_.store(false, std::memory_order_release);
}

void ComputePool::Share(uint32_t parts, uint32_t helpers, uint64_t n, Body body, void* ctx) {
  forks_.fetch_add(1, std::memory_order_relaxed);
  body_.store(body, std::memory_order_relaxed);
  ctx_.store(ctx, std::memory_order_relaxed);
  n_.store(n, std::memory_order_relaxed);
  parts_.store(parts, std::memory_order_relaxed);
  helping_.store(helpers, std::memory_order_relaxed);
  float_control_.store(FloatControl(), std::memory_order_relaxed);  // helpers compute as we do
  left_.store(parts, std::memory_order_relaxed);
  const uint32_t round = round_.load(std::memory_order_relaxed) + 1;
  const uint64_t begin = Word(round, 1, parts);  // the first part is ours
  state_.store(begin, std::memory_order_seq_cst);
  round_.store(round, std::memory_order_seq_cst);
  if (asleep_.load(std::memory_order_seq_cst) != 0) Wake();
  inside = true;
  uint32_t part = 0;
  do {
    DoPart(part, parts, n, body, ctx);
  } while (Claim(begin, true, &part));
  inside = false;
  Wait();
}

void ComputePool::DoPart(uint32_t part, uint32_t parts, uint64_t n, Body body, void* ctx) {
  const uint64_t end = n * (part + 1) / parts;
  for (uint64_t i = n * part / parts; i < end; ++i) body(ctx, i);
  left_.fetch_sub(1, std::memory_order_acq_rel);
}

bool ComputePool::Claim(uint64_t seen, bool first, uint32_t* part) {
  uint64_t now = state_.load(std::memory_order_acquire);
  while (now >> 32 == seen >> 32 && HasWork(now)) {
    const uint64_t next = first ? now + (1 << 16) : now - 1;
    if (state_.compare_exchange_weak(now, next, std::memory_order_acq_rel,
                                     std::memory_order_acquire)) {
      *part = first ? First(now) : End(now) - 1;
      return true;
    }
  }
  return false;
}

void ComputePool::Wake() {
  wakes_.fetch_add(1, std::memory_order_relaxed);
  Futex(&round_, FUTEX_WAKE, INT32_MAX);
}

void ComputePool::Wait() {
  for (int waits = 0; left_.load(std::memory_order_acquire) != 0; ++waits) {
    if (waits < kWaits) {
      Pause();
    } else {
      sched_yield();
    }
  }
}

void ComputePool::Help(uint32_t number) {
  const FaultScope faults;  // whatever the application has blocked in the thread that made it
  inside = true;
  uint64_t seen = 0;
  while (!stop_.load(std::memory_order_relaxed)) {
    if (!SpinForWork(number, &seen)) {
      Park(number);
      continue;
    }
    const Body body = body_.load(std::memory_order_relaxed);
    void* const ctx = ctx_.load(std::memory_order_relaxed);
    const uint64_t n = n_.load(std::memory_order_relaxed);
    const uint32_t parts = parts_.load(std::memory_order_relaxed);
    const uint32_t control = float_control_.load(std::memory_order_relaxed);
    uint32_t part = 0;
    if (!Claim(seen, false, &part)) continue;
    if (FloatControl() != control) SetFloatControl(control);
    do {
      DoPart(part, parts, n, body, ctx);
    } while (Claim(seen, false, &part));
  }
}

// True when there is a part to take.
bool ComputePool::SpinForWork(uint32_t number, uint64_t* seen) {
  const int64_t end = SteadyNow() + kLookNs;
  do {
    for (int i = 0; i < kLooks; ++i) {
      *seen = state_.load(std::memory_order_acquire);
      // Whom a round leaves out, it leaves out to its end: helping_ is written before state_.
      if (HasWork(*seen) && number <= helping_.load(std::memory_order_relaxed)) return true;
      Pause();
    }
  } while (SteadyNow() < end && !stop_.load(std::memory_order_relaxed));
  return false;
}

void ComputePool::Park(uint32_t number) {
  asleep_.fetch_add(1, std::memory_order_seq_cst);
  const uint32_t round = round_.load(std::memory_order_seq_cst);
  const bool work = HasWork(state_.load(std::memory_order_seq_cst)) &&
                    number <= helping_.load(std::memory_order_relaxed);
  if (!work && !stop_.load()) {
    parks_.fetch_add(1, std::memory_order_relaxed);
    Futex(&round_, FUTEX_WAIT, round);
  }
  asleep_.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace ge
