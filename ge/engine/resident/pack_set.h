// PackSet: the residents read by the launches of one plan. During a run all of them are in memory.
// Between runs the longest unused ones give way when the process's budget is used up, or the memory
// of their device, and are written again before the next run. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "ge/base/status.h"
#include "ge/engine/resident/residents.h"

namespace ge {

class PackSet {
 public:
  // Each resident once. Writes nothing yet.
  explicit PackSet(std::vector<std::shared_ptr<Resident>> packs);
  ~PackSet();
  PackSet(const PackSet&) = delete;
  PackSet& operator=(const PackSet&) = delete;

  // Writes the missing ones, and pins all, also where some could not be written: statuses by
  // position, as given. Answers the bytes written.
  uint64_t WriteFirst(std::vector<Status>* statuses);

  // All are in memory and stay in place until Unpin. Where some had to be written, `moved` is
  // called before any Pin returns: addresses may differ from the last run's. A failure pins
  // nothing.
  Status Pin(const std::function<void()>& moved);
  // The same where all are in memory anyway; else false, and nothing is pinned or written.
  bool PinAsTheyAre();
  void Unpin() { pins_.fetch_sub(1, std::memory_order_release); }

 private:
  friend class PackBudget;
  struct NotAdded {};
  PackSet(std::vector<std::shared_ptr<Resident>> packs, NotAdded) : packs_(std::move(packs)) {}
  static constexpr uint32_t kGoing = 1u << 31;  // somebody takes residents away; wait until done
  void Enter();
  Status PinSlowly(const std::function<void()>& moved);
  uint64_t Write(std::vector<Status>* statuses);

  const std::vector<std::shared_ptr<Resident>> packs_;
  std::atomic<uint32_t> pins_{0};
  std::atomic<bool> whole_{false};
  std::atomic<int64_t> last_use_{0};  // ns of the steady clock
};

// Sets the bytes that packs of the process may take together in the host's memory, beside those of
// runs in flight. 0: half of the machine's memory. Those on devices count against
// ge_domain.bytes. Packs beyond it give way at once, unless a run reads them.
void SetPackBudget(uint64_t bytes);
// Bytes of packs in memory now.
uint64_t PackBytesPresent();

}  // namespace ge
