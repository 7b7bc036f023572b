#include "ge/compile/compiled/plan_cache.h"

#include <algorithm>

#include "ge/base/word_hash.h"
#include "ge/run/tensor_view.h"

namespace ge {
namespace {

// Which shapes a plan is for. Dtypes are not part: the model says them.
uint64_t SignatureHash(PlanCache::Key entry, std::span<const TensorView> inputs) {
  WordHash hash;
  hash.Add(reinterpret_cast<uintptr_t>(entry));
  for (const TensorView& t : inputs) {
    hash.Add(t.dims.size());
    for (int64_t d : t.dims) hash.Add(static_cast<uint64_t>(d));
  }
  return hash.sum();
}

}  // namespace

std::shared_ptr<Compiled> PlanCache::Find(Key entry, std::span<const TensorView> inputs) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto [begin, end] = by_hash_.equal_range(SignatureHash(entry, inputs));
  for (auto it = begin; it != end; ++it) {
    const Plan& plan = *it->second;
    bool same = plan.entry == entry && plan.compiled->inputs.size() == inputs.size();
    for (size_t i = 0; same && i < inputs.size(); ++i) {
      const Compiled::Port& port = plan.compiled->inputs[i];
      same = port.dtype == inputs[i].dtype && port.dims == inputs[i].dims;
    }
    if (!same) continue;
    plans_.splice(plans_.begin(), plans_, it->second);
    latest_[entry] = plan.compiled;
    return plan.compiled;
  }
  return nullptr;
}

void PlanCache::Add(Key entry, std::span<const TensorView> inputs, std::shared_ptr<Compiled> made) {
  std::lock_guard<std::mutex> lock(mutex_);
  const uint64_t hash = SignatureHash(entry, inputs);
  latest_[entry] = made;
  plans_.push_front({entry, hash, std::move(made)});
  by_hash_.emplace(hash, plans_.begin());
  Evict();
}

void PlanCache::Replace(Key entry, const std::shared_ptr<Compiled>& old,
                        std::shared_ptr<Compiled> made) {
  std::lock_guard<std::mutex> lock(mutex_);
  changes_.fetch_add(1, std::memory_order_relaxed);
  for (Plan& p : plans_) {
    if (p.compiled == old) p.compiled = made;
  }
  auto latest = latest_.find(entry);
  if (latest != latest_.end() && latest->second == old) latest->second = std::move(made);
}

std::vector<std::shared_ptr<Compiled>> PlanCache::Forget() {
  std::lock_guard<std::mutex> lock(mutex_);
  changes_.fetch_add(1, std::memory_order_relaxed);
  std::vector<std::shared_ptr<Compiled>> forgotten;
  for (const Plan& p : plans_) {
    on_evict_(p.compiled.get());
    forgotten.push_back(p.compiled);
  }
  plans_.clear();
  by_hash_.clear();
  latest_.clear();
  return forgotten;
}

void PlanCache::DropLost() {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto lost = [](const Plan& p) { return p.compiled->UsesLost(); };
  if (std::none_of(plans_.begin(), plans_.end(), lost)) return;
  changes_.fetch_add(1, std::memory_order_relaxed);
  std::erase_if(latest_, [](const auto& l) { return l.second->UsesLost(); });
  plans_.remove_if(lost);
  by_hash_.clear();
  for (auto it = plans_.begin(); it != plans_.end(); ++it) by_hash_.emplace(it->hash, it);
}

std::shared_ptr<Compiled> PlanCache::Latest(Key entry) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto it = latest_.find(entry);
  return it == latest_.end() ? nullptr : it->second;
}

std::vector<std::shared_ptr<Compiled>> PlanCache::All() {
  std::lock_guard<std::mutex> lock(mutex_);
  std::vector<std::shared_ptr<Compiled>> all;
  for (const Plan& p : plans_) all.push_back(p.compiled);
  return all;
}

std::vector<std::shared_ptr<Compiled>> PlanCache::Of(Key entry) {
  std::lock_guard<std::mutex> lock(mutex_);
  std::vector<std::shared_ptr<Compiled>> of;
  for (const Plan& p : plans_) {
    if (p.entry == entry) of.push_back(p.compiled);
  }
  return of;
}

// Drops the least recently used plans beyond the bound; runs in flight keep theirs alive.
void PlanCache::Evict() {
  uint64_t held = 0;
  for (auto it = plans_.begin(); it != plans_.end();) {
    held += it->compiled->BytesHeld();
    if (it == plans_.begin() || held <= most_bytes_) {
      ++it;
      continue;
    }
    auto [begin, end] = by_hash_.equal_range(it->hash);
    for (auto k = begin; k != end; ++k) {
      if (k->second == it) {
        by_hash_.erase(k);
        break;
      }
    }
    on_evict_(it->compiled.get());
    it = plans_.erase(it);
    evicted_.fetch_add(1, std::memory_order_relaxed);
  }
}

}  // namespace ge
