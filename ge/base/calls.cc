#include "ge/base/calls.h"

namespace ge {

Calls::~Calls() {
  for (Chunk* c = first_.next.load(); c != nullptr;) {
    Chunk* next = c->next.load();
    delete c;
    c = next;
  }
}

Calls::Slot* Calls::Take() {
  // Threads begin to look at different places, so that each mostly finds its own slot free.
  static std::atomic<uint32_t> threads{0};
  thread_local const uint32_t mine = threads.fetch_add(1, std::memory_order_relaxed);
  for (Chunk* c = &first_;;) {
    for (size_t i = 0; i < c->slots.size(); ++i) {
      Slot& slot = c->slots[(mine + i) % c->slots.size()];
      if (slot.taken.load(std::memory_order_relaxed) ||
          slot.taken.exchange(true, std::memory_order_acquire)) {
        continue;
      }
      slot.interrupt.Reset();
      if (closed_.load(std::memory_order_relaxed)) slot.interrupt.Cancel();
      return &slot;
    }
    Chunk* next = c->next.load(std::memory_order_acquire);
    if (next == nullptr) {
      auto* made = new Chunk;
      if (c->next.compare_exchange_strong(next, made, std::memory_order_acq_rel)) {
        next = made;
      } else {
        delete made;
      }
    }
    c = next;
  }
}

void Calls::CancelAll() {
  for (Chunk* c = &first_; c != nullptr; c = c->next.load(std::memory_order_acquire)) {
    for (Slot& slot : c->slots) {
      if (slot.taken.load(std::memory_order_relaxed)) slot.interrupt.Cancel();
    }
  }
}

const char* Calls::in_plugin() const {
  for (const Chunk* c = &first_; c != nullptr; c = c->next.load(std::memory_order_acquire)) {
    for (const Slot& slot : c->slots) {
      const char* plugin = slot.interrupt.in_plugin();
      if (slot.taken.load(std::memory_order_relaxed) && plugin != nullptr) return plugin;
    }
  }
  return nullptr;
}

void Calls::CancelForGood() {
  closed_.store(true, std::memory_order_seq_cst);
  CancelAll();
}

CallScope::CallScope(Calls* calls)
    : own_(),
      scope_(CurrentInterrupt() != nullptr ? CurrentInterrupt()
                                           : &own_.emplace(calls).interrupt()) {
  const uint64_t limit = own_ ? calls->time_limit_ms() : 0;
  if (limit != 0) deadline_.emplace(&own_->interrupt(), limit);
}

CancelScope::CancelScope(Calls* calls)
    : own_(),
      scope_(CurrentInterrupt() != nullptr ? CurrentInterrupt()
                                           : &own_.emplace(calls).interrupt()) {}

CallScope::CallScope(Calls* calls, Calls::Call* call) : scope_(&call->interrupt()) {
  const uint64_t limit = calls->time_limit_ms();
  if (limit != 0) deadline_.emplace(&call->interrupt(), limit);
}

}  // namespace ge
