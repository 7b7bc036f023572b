// PackSet: the residents that the launches of one plan read. While a run is in flight all of them
// are in memory; between runs those that have lain longest without use give way when the budget of
// the process is used up, and are written again before the next run. Thread-safe.
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
  // Each resident once. Nothing is written yet.
  explicit PackSet(std::vector<std::shared_ptr<Resident>> packs);
  ~PackSet();
  PackSet(const PackSet&) = delete;
  PackSet& operator=(const PackSet&) = delete;

  // Writes those that are not there yet, and pins all of them, also where some could not be
  // written: statuses by position, as given. How many bytes were written.
  uint64_t WriteFirst(std::vector<Status>* statuses);

  // Until Unpin all are in memory and stay where they are. Where some had to be written, `moved` is
  // called before any Pin returns: addresses may be others than at the last run. Nothing is pinned
  // where it fails.
  Status Pin(const std::function<void()>& moved);
  // The same where all are in memory anyway; else false, and nothing is pinned or written.
  bool PinAsTheyAre();
  void Unpin() { pins_.fetch_sub(1, std::memory_order_release); }

 private:
  friend class PackBudget;
  struct NotAdded {};
  PackSet(std::vector<std::shared_ptr<Resident>> packs, NotAdded) : packs_(std::move(packs)) {}
  static constexpr uint32_t kGoing = 1u << 31;  // somebody takes residents away; wait for him
  void Enter();
  Status PinSlowly(const std::function<void()>& moved);
  uint64_t Write(std::vector<Status>* statuses);

  const std::vector<std::shared_ptr<Resident>> packs_;
  std::atomic<uint32_t> pins_{0};
  std::atomic<bool> whole_{false};
  std::atomic<int64_t> last_use_{0};  // ns of the steady clock
};

// What packs of the process may take together, beside those that runs in flight read. 0: half of
// the machine's memory. What is beyond gives way at once, as far as no run reads it.
void SetPackBudget(uint64_t bytes);
// Bytes of packs that are in memory now.
uint64_t PackBytesPresent();

}  // namespace ge
