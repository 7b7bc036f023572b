// Interrupt: how a long call learns that it should end, since somebody cancelled it or its time
// is over. It ends nothing itself: long loops ask Interrupted() now and then (two loads) and
// give up with CheckInterrupt()'s words. Each call (a load, a compile, a run) has one; the
// thread working for it holds an InterruptScope, so nothing has to be handed through every
// stage. Threads of a pool do not see it: the thread that shares out work asks between the
// shares.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>

#include "ge/base/status.h"

namespace ge {

class Interrupt {
 public:
  Interrupt() = default;
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  // From any thread, and from a signal handler. The first reason stays.
  void Cancel() { End(kCancelled); }
  bool stopped() const { return word_.load(std::memory_order_relaxed) != kGoOn; }
  // CANCELLED or DEADLINE_EXCEEDED once stopped; RESOURCE_EXHAUSTED where nothing could watch its
  // time limit.
  Status Check() const;
  // The word that engines read: not 0 = stop. Valid as long as this lives.
  const uint32_t* word() const { return reinterpret_cast<const uint32_t*>(&word_); }
  // Makes it ready for the next call. Nobody else may use it meanwhile.
  void Reset() {
    word_.store(kGoOn, std::memory_order_relaxed);
    plugin_.store(nullptr, std::memory_order_relaxed);
  }
  // The plugin function that the call is in (plugin_call.h), or null. Any thread, and a signal
  // handler.
  const char* in_plugin() const { return plugin_.load(std::memory_order_relaxed); }
  // For the thread working for the call. Answers the function it was in before.
  const char* EnterPlugin(const char* what) const {
    const char* outer = plugin_.load(std::memory_order_relaxed);
    plugin_.store(what, std::memory_order_relaxed);
    return outer;
  }

 private:
  friend class Deadline;
  enum : uint32_t { kGoOn = 0, kCancelled = 1, kLate = 2, kNoClock = 3 };
  void End(uint32_t why) {
    uint32_t none = kGoOn;
    word_.compare_exchange_strong(none, why, std::memory_order_relaxed);
  }
  std::atomic<uint32_t> word_{kGoOn};
  mutable std::atomic<const char*> plugin_{nullptr};
  static_assert(std::atomic<uint32_t>::is_always_lock_free && sizeof(std::atomic<uint32_t>) == 4);
};

// Stops an Interrupt when its time is over, unless it is destroyed before. One thread of the
// process waits for all of them; it is started with the first. Where it cannot be started the
// Interrupt is stopped at once, since nobody would watch the limit.
class Deadline {
 public:
  // That thread calls it once for a call still running a second after its time was over; `plugin`
  // is Interrupt::in_plugin. Null, as at first: it writes a line to the log instead.
  using Overdue = void (*)(const char* plugin);
  static void SetOverdue(Overdue overdue);

  // 0 = no limit.
  Deadline(Interrupt* interrupt, uint64_t limit_ms);
  ~Deadline();
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

 private:
  friend class AlarmClock;
  void Ring() {
    interrupt_->End(Interrupt::kLate);
    rung_ = true;
  }
  Interrupt* interrupt_;  // null: no limit
  std::chrono::steady_clock::time_point at_;
  bool rung_ = false, told_ = false;               // guarded by the clock's mutex
  Deadline *before_ = nullptr, *after_ = nullptr;  // in the alarm clock's list
};

namespace interrupt_detail {
inline thread_local const Interrupt* current = nullptr;
}

// The call that this thread works for; null outside of any.
inline const Interrupt* CurrentInterrupt() { return interrupt_detail::current; }
inline bool Interrupted() {
  const Interrupt* interrupt = CurrentInterrupt();
  return interrupt != nullptr && interrupt->stopped();
}
inline Status CheckInterrupt() { return Interrupted() ? CurrentInterrupt()->Check() : Status(); }

// This thread works for the given call until the scope ends.
class InterruptScope {
 public:
  explicit InterruptScope(const Interrupt* interrupt) : outer_(interrupt_detail::current) {
    interrupt_detail::current = interrupt;
  }
  ~InterruptScope() { interrupt_detail::current = outer_; }
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

 private:
  const Interrupt* outer_;
};

// Sleeps a little longer at each call, up to a millisecond: for waits that a cancel must end.
class Backoff {
 public:
  void Wait();

 private:
  uint32_t tries_ = 0;
};

// Locks (a unique_lock or shared_lock made with std::defer_lock), or gives up when the call is to
// end, since another thread may hold the mutex for long.
template <typename Lock>
Status LockOrStop(Lock* lock) {
  if (CurrentInterrupt() == nullptr) {
    lock->lock();
    return {};
  }
  Backoff backoff;
  while (!lock->try_lock()) {
    GE_RETURN_IF_ERROR(CheckInterrupt());
    backoff.Wait();
  }
  return {};
}

}  // namespace ge
