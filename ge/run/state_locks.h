// StateLocks: who uses which states of a set now: runs, and calls that copy. Who writes a state is
// alone with it, who reads it shares it. A request gets all of its states at once, and waits only
// for others that use one of them. Nobody who has some waits for more of the set, so no order of
// requests is a deadlock; and who has waited for a while is the next one, so nobody waits for ever.
// Thread-safe; allocates nothing.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "ge/base/status.h"
#include "ge/ir/graph.h"
#include "ge/run/state_slot.h"

namespace ge {

class StateAccess;

class StateLocks {
 public:
  // Who waits longest is next once so many others came first: a writer beside readers that overlap
  // would else wait until there are none.
  static constexpr uint64_t kMostBefore = 16;

  StateLocks() = default;
  StateLocks(const StateLocks&) = delete;
  StateLocks& operator=(const StateLocks&) = delete;
  size_t waiting() const;  // requests

 private:
  friend class StateAccess;
  mutable std::mutex mutex_;  // of the following, and of the slots' own counts
  std::condition_variable changed_;
  StateAccess *first_ = nullptr, *last_ = nullptr;  // that wait, the oldest first
  StateAccess* due_ = nullptr;                      // whose states nobody else gets now
  uint64_t granted_ = 0;                            // requests so far
};

// Some states of a set, held by the thread that has asked, until the end of this.
class StateAccess {
 public:
  using Slots = std::span<const std::shared_ptr<StateSlot>>;

  StateAccess() = default;
  ~StateAccess() { End(); }
  StateAccess(const StateAccess&) = delete;
  StateAccess& operator=(const StateAccess&) = delete;

  // By index of `slots`; a state may be in both. All of these stay in place until End. Waits, or
  // gives up when the thread's call is to end. FAILED_PRECONDITION where the thread holds states of
  // this set already, as within an operator's kernel: it would wait for itself.
  Status Begin(StateLocks* locks, Slots slots, std::span<const StateId> read,
               std::span<const StateId> write);
  // Who has asked to write all of these goes on with as much as it needs, so that readers may come.
  void Keep(std::span<const StateId> read, std::span<const StateId> write);
  void End();

 private:
  friend class StateLocks;
  bool CanTake() const;
  void Take();
  Status Wait(std::unique_lock<std::mutex>* lock);
  void Mark(bool due);
  Status CheckOutside() const;

  StateLocks* locks_ = nullptr;  // null: it holds none
  Slots slots_;
  std::span<const StateId> read_, write_;
  StateAccess* outer_ = nullptr;                      // the thread's, before this
  StateAccess *before_ = nullptr, *after_ = nullptr;  // in the list of those that wait
};

}  // namespace ge
