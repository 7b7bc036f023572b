#include "ge/run/state_locks.h"

#include <fmt/format.h>

#include <chrono>

#include "ge/base/interrupt.h"

namespace ge {
namespace {

// A cancel may come from a signal handler, which can wake nobody.
constexpr auto kLook = std::chrono::milliseconds(1);

thread_local StateAccess* innermost = nullptr;  // that this thread holds

}  // namespace

size_t StateLocks::waiting() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  size_t n = 0;
  for (const StateAccess* a = first_; a != nullptr; a = a->after_) ++n;
  return n;
}

Status StateAccess::CheckOutside() const {
  for (const StateAccess* a = innermost; a != nullptr; a = a->outer_) {
    if (a->locks_ != locks_) continue;
    const StateId held = a->write_.empty() ? a->read_[0] : a->write_[0];
    return Status(Code::kFailedPrecondition,
                  fmt::format("the call comes from within a run or call of this thread that uses "
                              "state '{}', and would wait for itself; wanted after its end",
                              a->slots_[held]->name));
  }
  return {};
}

Status StateAccess::Begin(StateLocks* locks, Slots slots, std::span<const StateId> read,
                          std::span<const StateId> write) {
  if (read.empty() && write.empty()) return {};
  locks_ = locks;
  slots_ = slots;
  read_ = read;
  write_ = write;
  Status begun = CheckOutside();
  if (begun.ok()) {
    std::unique_lock<std::mutex> lock(locks->mutex_);
    begun = CanTake() ? Status() : Wait(&lock);
    if (begun.ok()) Take();
  }
  if (!begun.ok()) {
    locks_ = nullptr;
    return begun;
  }
  outer_ = innermost;
  innermost = this;
  return {};
}

bool StateAccess::CanTake() const {
  const bool others = locks_->due_ != nullptr && locks_->due_ != this;
  for (const StateId id : write_) {
    const StateSlot& s = *slots_[id];
    if (s.readers != 0 || s.writers != 0 || (others && (s.due_read || s.due_write))) return false;
  }
  for (const StateId id : read_) {
    const StateSlot& s = *slots_[id];
    if (s.writers != 0 || (others && s.due_write)) return false;
  }
  return true;
}

void StateAccess::Take() {
  for (const StateId id : write_) ++slots_[id]->writers;
  for (const StateId id : read_) ++slots_[id]->readers;
  ++locks_->granted_;
}

void StateAccess::Mark(bool due) {
  locks_->due_ = due ? this : nullptr;
  for (const StateId id : write_) slots_[id]->due_write = due;
  for (const StateId id : read_) slots_[id]->due_read = due;
}

Status StateAccess::Wait(std::unique_lock<std::mutex>* lock) {
  StateLocks& l = *locks_;
  before_ = l.last_;
  after_ = nullptr;
  (l.last_ != nullptr ? l.last_->after_ : l.first_) = this;
  l.last_ = this;
  const uint64_t since = l.granted_;
  Status ended;
  while (ended.ok() && !CanTake()) {
    const bool late = l.granted_ - since >= StateLocks::kMostBefore;
    if (late && l.first_ == this && l.due_ == nullptr) Mark(true);
    if (CurrentInterrupt() == nullptr) {
      l.changed_.wait(*lock);
    } else {
      l.changed_.wait_for(*lock, kLook);
      ended = CheckInterrupt();
    }
  }
  (before_ != nullptr ? before_->after_ : l.first_) = after_;
  (after_ != nullptr ? after_->before_ : l.last_) = before_;
  if (l.due_ == this) {
    Mark(false);
    if (!ended.ok()) l.changed_.notify_all();
  }
  return ended;
}

void StateAccess::Keep(std::span<const StateId> read, std::span<const StateId> write) {
  if (locks_ == nullptr) return;
  const std::lock_guard<std::mutex> lock(locks_->mutex_);
  for (const StateId id : write_) --slots_[id]->writers;
  for (const StateId id : read_) --slots_[id]->readers;
  read_ = read;
  write_ = write;
  for (const StateId id : write_) ++slots_[id]->writers;
  for (const StateId id : read_) ++slots_[id]->readers;
  if (locks_->first_ != nullptr) locks_->changed_.notify_all();
}

void StateAccess::End() {
  if (locks_ == nullptr) return;
  StateAccess** at = &innermost;
  while (*at != nullptr && *at != this) at = &(*at)->outer_;
  if (*at != nullptr) *at = outer_;
  const std::lock_guard<std::mutex> lock(locks_->mutex_);
  for (const StateId id : write_) --slots_[id]->writers;
  for (const StateId id : read_) --slots_[id]->readers;
  if (locks_->first_ != nullptr) locks_->changed_.notify_all();
  locks_ = nullptr;
}

}  // namespace ge
