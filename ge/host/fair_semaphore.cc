#include "ge/host/fair_semaphore.h"

#include <chrono>

#include "ge/base/interrupt.h"

namespace ge {

// A cancel is seen so late at most.
constexpr auto kLook = std::chrono::milliseconds(10);

bool FairSemaphore::TakeFree() {
  uint64_t now = word_.load(std::memory_order_relaxed);
  while (now < limit_) {  // nobody waits, and not all are taken
    if (word_.compare_exchange_weak(now, now + 1, std::memory_order_acquire,
                                    std::memory_order_relaxed)) {
      return true;
    }
  }
  return false;
}

Status FairSemaphore::Take() {
  if (TakeFree()) return {};
  Waiter me;
  std::unique_lock<std::mutex> lock(mutex_);
  (last_ != nullptr ? last_->next : first_) = &me;
  last_ = &me;
  word_.fetch_add(kWaiting);
  // One may have been given back since; from here on it is handed on.
  for (uint64_t now = word_.load(); static_cast<uint32_t>(now) < limit_;) {
    if (!word_.compare_exchange_weak(now, now + 1)) continue;
    CallFirst();
    break;
  }
  while (!me.has_turn) {
    me.called.wait_for(lock, kLook);
    if (me.has_turn || !Interrupted()) continue;
    Remove(&me);
    return CheckInterrupt();
  }
  return {};
}

void FairSemaphore::Give() {
  uint64_t now = word_.load(std::memory_order_relaxed);
  while (now < kWaiting) {
    if (word_.compare_exchange_weak(now, now - 1, std::memory_order_release,
                                    std::memory_order_relaxed)) {
      return;
    }
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  if (first_ != nullptr) return CallFirst();
  word_.fetch_sub(1);  // who waited has given up
}

// The turn that is held is the first waiter's from now on. Woken under the lock: a waiter that has
// its turn may be gone once the lock is free.
void FairSemaphore::CallFirst() {
  Waiter* w = first_;
  first_ = w->next;
  if (first_ == nullptr) last_ = nullptr;
  word_.fetch_sub(kWaiting);
  w->has_turn = true;
  w->called.notify_one();
}

void FairSemaphore::Remove(Waiter* waiter) {
  Waiter* before = nullptr;
  for (Waiter* x = first_; x != waiter; x = x->next) before = x;
  (before != nullptr ? before->next : first_) = waiter->next;
  if (last_ == waiter) last_ = before;
  word_.fetch_sub(kWaiting);
}

}  // namespace ge
