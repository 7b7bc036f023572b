#include "ge/memory/pack.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <queue>
#include <set>
#include <utility>

namespace ge::memory {
namespace {

enum class Fit { kFirst, kBest };

// Work of the local search, in visits of a conflict: at most some 100 ms at 2.5 GHz.
constexpr int64_t kSearchVisits = 3'000'000;
constexpr int kSearchRounds = 400, kQuickRounds = 20;
// An arena this near its floor is good enough: the rest is less than a page or 0.4 %; or 5 %.
constexpr int64_t kNearFloor = 256, kQuickNearFloor = 20;

int64_t AlignUp(int64_t n, int64_t align) { return (n + align - 1) & ~(align - 1); }

// The greatest element between two places: a table of the maxima of all runs of 2^k elements.
class RangeMaximum {
 public:
  explicit RangeMaximum(const std::vector<int64_t>& values) : levels_{values} {
    for (size_t run = 1; 2 * run <= values.size(); run *= 2) {
      const std::vector<int64_t>& half = levels_.back();
      std::vector<int64_t> level(values.size() - 2 * run + 1);
      for (size_t i = 0; i < level.size(); ++i) level[i] = std::max(half[i], half[i + run]);
      levels_.push_back(std::move(level));
    }
  }

  int64_t Of(uint32_t first, uint32_t last) const {
    const int k = std::bit_width(last - first + 1) - 1;
    return std::max(levels_[k][first], levels_[k][last + 1 - (uint32_t{1} << k)]);
  }

 private:
  std::vector<std::vector<int64_t>> levels_;
};

class Packer {
 public:
  Packer(const std::vector<PackBlock>& blocks, bool quick) : blocks_(blocks), quick_(quick) {
    for (const PackBlock& b : blocks) visits_ += 1 + static_cast<int64_t>(b.conflicts.size());
    FindLiveSums();
  }

  PackResult Run() {
    std::vector<std::vector<uint32_t>> orders = Orders();
    std::vector<uint32_t> best_order;
    Fit best_fit = Fit::kFirst;
    for (const auto& order : orders) {
      for (Fit fit : {Fit::kBest, Fit::kFirst}) {
        PackResult r = Place(order, fit);
        if (!best_order.empty() && r.bytes >= best_.bytes) continue;
        best_ = std::move(r);
        best_order = order;
        best_fit = fit;
        if (best_.bytes <= good_) return std::move(best_);
      }
    }
    Search(std::move(best_order), best_fit);
    return std::move(best_);
  }

 private:
  struct Taken {
    int64_t begin, end;
  };

  // Bytes live at each place of the issue order, in whole units of the smallest alignment. Their
  // maximum is about what no arena can be smaller than; it only tells when to stop looking.
  void FindLiveSums() {
    uint32_t n = 0;
    int64_t unit = blocks_.empty() ? 1 : blocks_[0].align;
    for (const PackBlock& b : blocks_) {
      n = std::max(n, b.last + 1);
      unit = std::min(unit, b.align);
    }
    live_.assign(n + 1, 0);
    for (const PackBlock& b : blocks_) {
      live_[b.first] += AlignUp(b.bytes, unit);
      live_[b.last + 1] -= AlignUp(b.bytes, unit);
    }
    for (uint32_t i = 1; i <= n; ++i) live_[i] += live_[i - 1];
    int64_t floor = 0;
    for (uint32_t i = 0; i <= n; ++i) floor = std::max(floor, live_[i]);
    good_ = floor + floor / (quick_ ? kQuickNearFloor : kNearFloor);
  }

  template <typename Key>
  std::vector<uint32_t> SortedBy(Key key) const {
    std::vector<uint32_t> order(blocks_.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      const auto ka = key(a), kb = key(b);
      return ka != kb ? ka > kb : a < b;
    });
    return order;
  }

  std::vector<std::vector<uint32_t>> Orders() const {
    const auto life = [&](uint32_t i) {
      return static_cast<int64_t>(blocks_[i].last) - blocks_[i].first + 1;
    };
    // Breadth: the fullest point that a block lives through; then by size.
    std::vector<int64_t> breadth(blocks_.size());
    const RangeMaximum fullest(live_);
    for (uint32_t i = 0; i < blocks_.size(); ++i) {
      breadth[i] = fullest.Of(blocks_[i].first, blocks_[i].last);
    }
    using Pair = std::pair<int64_t, int64_t>;
    return {
        SortedBy([&](uint32_t i) { return Pair(blocks_[i].bytes, life(i)); }),
        SortedBy([&](uint32_t i) { return Pair(breadth[i], blocks_[i].bytes); }),
        SortedBy([&](uint32_t i) {
          return Pair(static_cast<int64_t>(static_cast<double>(blocks_[i].bytes) * life(i) / 64.0),
                      blocks_[i].bytes);
        }),
        SortedBy([&](uint32_t i) {
          return Pair(-static_cast<int64_t>(blocks_[i].first), blocks_[i].bytes);
        }),
        SortedBy([&](uint32_t i) { return Pair(life(i), blocks_[i].bytes); }),
    };
  }

  PackResult Place(const std::vector<uint32_t>& order, Fit fit) {
    PackResult r;
    r.offset.assign(blocks_.size(), -1);
    std::vector<Taken> taken;
    for (uint32_t i : order) {
      const PackBlock& b = blocks_[i];
      if (b.bytes == 0) {
        r.offset[i] = 0;
        continue;
      }
      taken.clear();
      for (uint32_t j : b.conflicts) {
        if (r.offset[j] >= 0 && blocks_[j].bytes > 0) {
          taken.push_back({r.offset[j], r.offset[j] + blocks_[j].bytes});
        }
      }
      r.offset[i] = FindGap(&taken, b, fit);
      r.bytes = std::max(r.bytes, r.offset[i] + b.bytes);
    }
    return r;
  }

  static int64_t FindGap(std::vector<Taken>* taken, const PackBlock& b, Fit fit) {
    std::sort(taken->begin(), taken->end(),
              [](const Taken& x, const Taken& y) { return x.begin < y.begin; });
    int64_t cursor = 0, best = -1;
    int64_t best_slack = std::numeric_limits<int64_t>::max();
    for (const Taken& t : *taken) {
      const int64_t at = AlignUp(cursor, b.align);
      if (at + b.bytes <= t.begin) {
        if (fit == Fit::kFirst) return at;
        const int64_t slack = t.begin - cursor - b.bytes;
        if (slack < best_slack) {
          best_slack = slack;
          best = at;
        }
      }
      cursor = std::max(cursor, t.end);
    }
    return best >= 0 ? best : AlignUp(cursor, b.align);
  }

  // Moves a block that ends at the top of the arena to an earlier place in the order, keeps what
  // is not worse.
  void Search(std::vector<uint32_t> order, Fit fit) {
    const int64_t per_round = std::max<int64_t>(visits_, 1);
    const int rounds = static_cast<int>(
        std::min<int64_t>(quick_ ? kQuickRounds : kSearchRounds, kSearchVisits / per_round));
    PackResult now = best_;
    for (int round = 0; round < rounds && best_.bytes > good_; ++round) {
      std::vector<uint32_t> next = order;
      std::vector<size_t> top;
      for (size_t p = 0; p < next.size(); ++p) {
        if (now.offset[next[p]] + blocks_[next[p]].bytes == now.bytes) top.push_back(p);
      }
      if (top.empty()) return;
      const size_t from = top[Random() % top.size()];
      const size_t to = from == 0 ? Random() % next.size() : Random() % from;
      const uint32_t moved = next[from];
      next.erase(next.begin() + from);
      next.insert(next.begin() + to, moved);
      PackResult r = Place(next, Random() % 4 ? fit : Other(fit));
      if (r.bytes > now.bytes) continue;
      order = std::move(next);
      now = r;
      if (r.bytes < best_.bytes) best_ = std::move(r);
    }
  }

  static Fit Other(Fit fit) { return fit == Fit::kFirst ? Fit::kBest : Fit::kFirst; }

  // xorshift64: the same on every machine.
  uint64_t Random() {
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    return random_;
  }

  const std::vector<PackBlock>& blocks_;
  const bool quick_;
  PackResult best_;
  std::vector<int64_t> live_;
  int64_t good_ = 0;    // bytes of an arena that is not worth more work
  int64_t visits_ = 0;  // conflicts that one placement looks at
  uint64_t random_ = 0x9e3779b97f4a7c15ull;
};

// The bytes of an arena that nobody holds at one point; joined where they touch.
class Gaps {
 public:
  // The start of a place for the block: in the smallest gap of a few that may do, else at the end
  // of the arena, whose free bytes it then takes with it.
  int64_t Take(const PackBlock& b) {
    constexpr int kLook = 16;  // gaps that are large enough, but not once aligned
    auto it = by_size_.lower_bound({b.bytes, 0});
    for (int i = 0; i < kLook && it != by_size_.end(); ++i, ++it) {
      const int64_t begin = it->second, end = begin + it->first, at = AlignUp(begin, b.align);
      if (at + b.bytes > end) continue;
      Remove(begin);
      Add(begin, at);
      Add(at + b.bytes, end);
      return at;
    }
    int64_t begin = bytes_;
    if (!by_place_.empty() && by_place_.rbegin()->second == bytes_)
      begin = by_place_.rbegin()->first;
    const int64_t at = AlignUp(begin, b.align);
    if (begin < bytes_) Remove(begin);
    Add(begin, at);
    bytes_ = std::max(bytes_, at + b.bytes);
    return at;
  }

  void Return(int64_t begin, int64_t end) {
    auto behind = by_place_.lower_bound(begin);
    if (behind != by_place_.end() && behind->first == end) {
      end = behind->second;
      Remove(behind->first);
    }
    behind = by_place_.lower_bound(begin);
    if (behind != by_place_.begin() && std::prev(behind)->second == begin) {
      begin = std::prev(behind)->first;
      Remove(begin);
    }
    Add(begin, end);
  }

  int64_t bytes() const { return bytes_; }

 private:
  void Add(int64_t begin, int64_t end) {
    if (begin >= end) return;
    by_place_.emplace(begin, end);
    by_size_.emplace(end - begin, begin);
  }

  void Remove(int64_t begin) {
    const auto it = by_place_.find(begin);
    by_size_.erase({it->second - begin, begin});
    by_place_.erase(it);
  }

  std::map<int64_t, int64_t> by_place_;            // begin -> end
  std::set<std::pair<int64_t, int64_t>> by_size_;  // size, begin
  int64_t bytes_ = 0;                              // of the arena
};

}  // namespace

PackResult Pack(const std::vector<PackBlock>& blocks, bool quick) {
  return Packer(blocks, quick).Run();
}

PackResult PackInOrder(const std::vector<PackBlock>& blocks) {
  PackResult r;
  r.offset.assign(blocks.size(), 0);
  std::vector<uint32_t> order(blocks.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return std::pair(blocks[a].first, -blocks[a].bytes) <
           std::pair(blocks[b].first, -blocks[b].bytes);
  });
  Gaps gaps;
  using End = std::pair<uint32_t, uint32_t>;  // until, block
  std::priority_queue<End, std::vector<End>, std::greater<>> held;
  for (const uint32_t i : order) {
    const PackBlock& b = blocks[i];
    if (b.bytes == 0) continue;
    for (; !held.empty() && held.top().first < b.first; held.pop()) {
      const uint32_t done = held.top().second;
      gaps.Return(r.offset[done], r.offset[done] + blocks[done].bytes);
    }
    r.offset[i] = gaps.Take(b);
    held.emplace(b.until, i);
  }
  r.bytes = gaps.bytes();
  return r;
}

}  // namespace ge::memory
