// ComputePool: the compute threads of all engines, one pool in a process. A thread that shares out
// work begins with it alone; the others take parts from its other end as they come. Nobody waits
// for an absent thread: a futex wake takes 50 to 100 us on a virtual machine. Threads spin for a
// bounded time after their last part, then sleep. Any thread may call; the pool's own live as long
// as it does.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "ge/base/status.h"
#include "ge/host/fair_semaphore.h"

namespace ge {

class ComputePool {
 public:
  using Body = void (*)(void* ctx, uint64_t i);
  // Starts as many of `threads` as the system gives; see threads().
  explicit ComputePool(uint32_t threads);
  ~ComputePool();
  ComputePool(const ComputePool&) = delete;
  ComputePool& operator=(const ComputePool&) = delete;

  // body(ctx, i) for each i below n, on this thread and helpers as they come; returns when all are
  // done. On this thread alone from inside another call, and while another thread has the helpers.
  void Run(uint64_t n, Body body, void* ctx);
  // body(ctx, i) for each i below n <= threads(), which may wait for each other: each gets a thread
  // in time. Waits while another thread has the helpers. Not from inside another call.
  void Team(uint32_t n, Body body, void* ctx);

  // A run of a plan, from its begin to its end, on its own thread. Several runs in flight share the
  // helpers: each has fewer, and none once there are as many runs as threads, so the pool never
  // computes on more threads than it has. Further runs wait for their turn; one from within another
  // of its thread has the turn of that: it would wait for itself.
  class InFlight {
   public:
    InFlight() = default;
    ~InFlight();
    InFlight(const InFlight&) = delete;
    InFlight& operator=(const InFlight&) = delete;
    // CANCELLED or DEADLINE_EXCEEDED when this thread's call is to end before its turn.
    Status Begin(ComputePool* pool);

   private:
    ComputePool* pool_ = nullptr;
  };
  // The number of threads beside the caller's that may help it now.
  uint32_t HelpersForOne() const;

  uint32_t threads() const { return static_cast<uint32_t>(helpers_.size()) + 1; }
  // Whether this thread is in a body.
  static bool Inside();

  struct Counts {
    uint64_t forks = 0;  // calls that shared out work
    uint64_t teams = 0;  // of them with Team
    uint64_t parks = 0;  // helpers that went to sleep
    uint64_t wakes = 0;  // calls that woke them
  };
  Counts counts() const;

 private:
  void Share(uint32_t parts, uint32_t helpers, uint64_t n, Body body, void* ctx);
  // Takes the first or the last part left in the round of `seen`; false when there is
  // none.
  bool Claim(uint64_t seen, bool first, uint32_t* part);
  void DoPart(uint32_t part, uint32_t parts, uint64_t n, Body body, void* ctx);
  void Wake();
  void Wait();  // for parts taken by others
  void Help(uint32_t number);
  bool SpinForWork(uint32_t number, uint64_t* seen);
  void Park(uint32_t number);
  std::vector<std::thread> StartHelpers(uint32_t n);

  // Round, first part left and end of the parts left, in one word: taking a part of a round that is
  // over fails. On lines of their own: helpers poll the first.
  alignas(64) std::atomic<uint64_t> state_{0};
  alignas(64) std::atomic<uint32_t> left_{0};   // parts that are not done
  alignas(64) std::atomic<uint32_t> round_{0};  // sleepers wait on it
  std::atomic<uint32_t> asleep_{0};
  std::atomic<bool> stop_{false};
  // Of the round; read before taking a part: a late reader throws its copy away.
  std::atomic<Body> body_{nullptr};
  std::atomic<void*> ctx_{nullptr};
  std::atomic<uint64_t> n_{0};
  std::atomic<uint32_t> parts_{0}, helping_{0}, float_control_{0};
  alignas(64) std::atomic<bool> taken_{false};  // somebody has the helpers
  std::atomic<uint64_t> forks_{0}, teams_{0}, parks_{0}, wakes_{0};
  // They use the members above.
  std::vector<std::thread> helpers_;
  // The runs in flight have as many turns as there are threads; helpers have nothing to do with it.
  alignas(64) FairSemaphore semaphore_;
};

}  // namespace ge
