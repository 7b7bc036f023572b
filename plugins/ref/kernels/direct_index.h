// Places of whole keys that lie close together, found without a search. A plain value; any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ref {

class DirectIndex {
 public:
  static constexpr int32_t kNone = -1;

  DirectIndex() = default;
  // Of `keys`, none twice; empty() where they lie too far apart.
  explicit DirectIndex(const std::vector<int64_t>& keys) {
    if (keys.empty()) return;
    const auto [low, high] = std::minmax_element(keys.begin(), keys.end());
    const uint64_t span = static_cast<uint64_t>(*high) - static_cast<uint64_t>(*low);
    if (span >= kMost) return;
    first_ = *low;
    places_.assign(static_cast<size_t>(span) + 1, int32_t{kNone});
    for (size_t i = 0; i < keys.size(); ++i) places_[At(keys[i])] = static_cast<int32_t>(i);
  }
  bool empty() const { return places_.empty(); }
  int32_t Of(int64_t key) const {
    const size_t at = At(key);
    return at < places_.size() ? places_[at] : kNone;
  }

 private:
  static constexpr uint64_t kMost = 1 << 16;

  size_t At(int64_t key) const {
    return static_cast<size_t>(static_cast<uint64_t>(key) - static_cast<uint64_t>(first_));
  }

  int64_t first_ = 0;
  std::vector<int32_t> places_;
};

}  // namespace ref
