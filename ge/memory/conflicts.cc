#include "ge/memory/conflicts.h"

#include <algorithm>

namespace ge::memory {
namespace {

// Comparisons, about 10 ns each, and pairs, 8 bytes each. The largest of the reference networks
// needs 20,000 of either; 2,800 values that all live together are at the second limit.
constexpr uint64_t kMostComparisons = 40'000'000, kMostPairs = 4'000'000;

class Walk {
 public:
  Walk(const Lifetimes& life, std::vector<PackBlock>* blocks) : life_(life), blocks_(*blocks) {}

  bool Run(std::vector<BlockMember> members) {
    std::stable_sort(members.begin(), members.end(),
                     [](const auto& a, const auto& b) { return a.stay.first < b.stay.first; });
    for (const BlockMember& m : members) {
      if (blocks_[m.block].bytes == 0) continue;
      if (!Start(m)) return false;
    }
    return true;
  }

 private:
  bool Start(const BlockMember& m) {
    if (!parked_.empty() && parked_.front().stay.linger_first <= m.stay.first) {
      live_.insert(live_.end(), parked_.begin(), parked_.end());
      parked_.clear();
    }
    compared_ += live_.size();
    size_t kept = 0;
    for (size_t i = 0; i < live_.size(); ++i) {
      if (!Holds(m.stay.first, &live_[i])) continue;
      if (kept != i) live_[kept] = live_[i];
      const BlockMember& a = live_[kept++];
      if (a.block != m.block && life_.Together(a.value, m.value)) Add(a.block, m.block);
    }
    live_.resize(kept);
    live_.push_back(m);
    return compared_ <= kMostComparisons && pairs_ <= kMostPairs;
  }

  // Whether a value may still hold its bytes at a point. One that will again is parked.
  bool Holds(uint32_t point, BlockMember* a) {
    Stay& stay = a->stay;
    if (stay.last >= point) return true;
    if (stay.linger_first > stay.linger_last || stay.linger_last < point) return false;
    stay.last = stay.linger_last;
    if (stay.linger_first <= point) return true;
    parked_.push_back(*a);
    return false;
  }

  void Add(uint32_t a, uint32_t b) {
    ++pairs_;
    AddTo(a, b);
    AddTo(b, a);
  }

  void AddTo(uint32_t a, uint32_t b) {
    std::vector<uint32_t>& list = blocks_[a].conflicts;
    if (list.capacity() == 0) list.reserve(8);  // hardly a block has fewer
    list.push_back(b);
  }

  const Lifetimes& life_;
  std::vector<PackBlock>& blocks_;
  std::vector<BlockMember> live_;
  // Internal values of the present launch whose steps are over, but not for other streams.
  std::vector<BlockMember> parked_;
  uint64_t compared_ = 0, pairs_ = 0;
};

}  // namespace

bool FindConflicts(const Lifetimes& life, std::vector<BlockMember> members,
                   std::vector<PackBlock>* blocks) {
  const bool all = Walk(life, blocks).Run(std::move(members));
  for (PackBlock& b : *blocks) {
    if (!all) {
      b.conflicts = {};
      continue;
    }
    std::sort(b.conflicts.begin(), b.conflicts.end());
    b.conflicts.erase(std::unique(b.conflicts.begin(), b.conflicts.end()), b.conflicts.end());
  }
  return all;
}

}  // namespace ge::memory
