// PlanCache: the finished plans of a session by entry and input shapes. When they hold too many
// bytes, the least recently used are evicted; runs in flight keep theirs alive. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "ge/compile/compiled/compiled.h"
#include "ge/run/tensor_view.h"

namespace ge {

class PlanCache {
 public:
  using Key = const Entry*;
  // Calls `on_evict` for each evicted plan.
  PlanCache(uint64_t most_bytes, std::function<void(Compiled*)> on_evict)
      : most_bytes_(most_bytes), on_evict_(std::move(on_evict)) {}
  // Null where there is none. The plan found becomes the latest of its entry.
  std::shared_ptr<Compiled> Find(Key entry, std::span<const TensorView> inputs);
  void Add(Key entry, std::span<const TensorView> inputs, std::shared_ptr<Compiled> made);
  void Replace(Key entry, const std::shared_ptr<Compiled>& old, std::shared_ptr<Compiled> made);
  // Empties the cache and hands out its plans. Data shared with later plans, packed constants above
  // all, lives as long as the caller keeps them.
  std::vector<std::shared_ptr<Compiled>> Forget();
  // Drops the plans with work for lost devices.
  void DropLost();
  // The last used plan of this entry; null when there is none.
  std::shared_ptr<Compiled> Latest(Key entry);
  std::vector<std::shared_ptr<Compiled>> All();
  // Those of one entry, the most recent first.
  std::vector<std::shared_ptr<Compiled>> Of(Key entry);
  // How often a plan was replaced or all were forgotten; evictions do not count.
  uint64_t changes() const { return changes_.load(std::memory_order_relaxed); }
  uint64_t evicted() const { return evicted_.load(std::memory_order_relaxed); }

 private:
  struct Plan {
    Key entry;
    uint64_t hash;  // of entry and input shapes
    std::shared_ptr<Compiled> compiled;
  };
  void Evict();

  const uint64_t most_bytes_;
  const std::function<void(Compiled*)> on_evict_;
  std::mutex mutex_;
  std::list<Plan> plans_;  // most recent first
  std::unordered_multimap<uint64_t, std::list<Plan>::iterator> by_hash_;
  std::map<Key, std::shared_ptr<Compiled>> latest_;
  std::atomic<uint64_t> evicted_{0}, changes_{0};
};

}  // namespace ge
