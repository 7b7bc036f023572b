// Calls: the loads, compiles and runs of one session in progress, so one call cancels them all,
// from a signal handler too. Beginning a call costs one exchange; it allocates nothing while at
// most 16 are in progress.
#pragma once

#include <array>
#include <atomic>
#include <optional>

#include "ge/base/interrupt.h"

namespace ge {

class Calls {
  struct alignas(64) Slot {  // threads that run at once do not share a line
    Interrupt interrupt;
    std::atomic<bool> taken{false};
  };

 public:
  Calls() = default;
  ~Calls();
  Calls(const Calls&) = delete;
  Calls& operator=(const Calls&) = delete;

  // A call from its begin to its end; another thread than the one working for it may begin it.
  class Call {
   public:
    explicit Call(Calls* calls) : slot_(calls->Take()) {}
    ~Call() { slot_->taken.store(false, std::memory_order_release); }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    Interrupt& interrupt() { return slot_->interrupt; }

   private:
    Slot* slot_;
  };

  // Calls in progress end with CANCELLED; later ones are not affected. From any thread, and from a
  // signal handler.
  void CancelAll();
  // The plugin function that one of the calls is in, or null: from any thread, and from a signal
  // handler.
  const char* in_plugin() const;
  // Calls that begin later are cancelled too.
  void CancelForGood();
  // Sets the time limit of the work of each call that begins later; 0 = none.
  void SetTimeLimit(uint64_t ms) { limit_ms_.store(ms, std::memory_order_relaxed); }
  uint64_t time_limit_ms() const { return limit_ms_.load(std::memory_order_relaxed); }

 private:
  struct Chunk {
    std::array<Slot, 16> slots;
    std::atomic<Chunk*> next{nullptr};
  };
  Slot* Take();

  Chunk first_;
  std::atomic<bool> closed_{false};
  std::atomic<uint64_t> limit_ms_{0};
};

// This thread works for a call of the session until the scope ends. A scope within another call of
// this thread belongs to that call.
class CallScope {
 public:
  explicit CallScope(Calls* calls);
  // For a call that has begun already.
  CallScope(Calls* calls, Calls::Call* call);

 private:
  std::optional<Calls::Call> own_;
  InterruptScope scope_;
  std::optional<Deadline> deadline_;
};

// The same, without the session's time limit: for what copies or writes as long as it takes, but
// may wait for others or for a device.
class CancelScope {
 public:
  explicit CancelScope(Calls* calls);

 private:
  std::optional<Calls::Call> own_;
  InterruptScope scope_;
};

}  // namespace ge
