// FairSemaphore: bounds how many runs of plans compute at once: as many as the pool has threads.
// The others sleep and come in the order in which they asked, so no more threads compute than the
// process may use and no caller is passed over. Thread-safe; a free turn costs one exchange, and
// nothing allocates.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "ge/base/status.h"

namespace ge {

class FairSemaphore {
 public:
  explicit FairSemaphore(uint32_t limit) : limit_(limit) {}
  FairSemaphore(const FairSemaphore&) = delete;
  FairSemaphore& operator=(const FairSemaphore&) = delete;

  // Waits for a turn. CANCELLED or DEADLINE_EXCEEDED, without a turn, when this thread's call is to
  // end before.
  Status Take();
  // Hands the turn on to the caller waiting longest, if any.
  void Give();

  uint32_t taken() const { return static_cast<uint32_t>(word_.load(std::memory_order_relaxed)); }
  uint32_t waiting() const {
    return static_cast<uint32_t>(word_.load(std::memory_order_relaxed) >> 32);
  }

 private:
  struct Waiter {
    std::condition_variable called;
    bool has_turn = false;
    Waiter* next = nullptr;
  };
  bool TakeFree();
  void CallFirst();
  void Remove(Waiter* waiter);

  static constexpr uint64_t kWaiting = uint64_t{1} << 32;
  const uint32_t limit_;
  // Waiting callers above, turns taken below. The upper half changes under the mutex alone.
  std::atomic<uint64_t> word_{0};
  std::mutex mutex_;
  Waiter *first_ = nullptr, *last_ = nullptr;
};

}  // namespace ge
