// Calls: what goes on in one session now (loads, compiles, runs), so that all of it can be
// cancelled at once, from a signal handler too. A call that begins costs one exchange and allocates
// nothing up to 16 at once.
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

  // A call from its begin to its end; may begin in another thread than the one that works for it.
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

  // What goes on now ends with CANCELLED; what begins later goes on. From any thread, and from a
  // signal handler.
  void CancelAll();
  // The plugin's function that one of the calls is in, null where none is: from any thread, and
  // from a signal handler.
  const char* in_plugin() const;
  // What begins later ends too.
  void CancelForGood();
  // Of each call that begins later, of its work; 0 = none.
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

// This thread works for a call of the session until the scope ends. Within another call of this
// thread it is a part of that one.
class CallScope {
 public:
  explicit CallScope(Calls* calls);
  // Of a call that began before.
  CallScope(Calls* calls, Calls::Call* call);

 private:
  std::optional<Calls::Call> own_;
  InterruptScope scope_;
  std::optional<Deadline> deadline_;
};

}  // namespace ge
