// WordHash: a hash of 64-bit words, FNV-1a a word at a time. For keys of this process; nothing on
// disk uses it.
#pragma once

#include <cstdint>

namespace ge {

class WordHash {
 public:
  void Add(uint64_t x) { sum_ = (sum_ ^ x) * 1099511628211u; }
  uint64_t sum() const { return sum_; }

 private:
  uint64_t sum_ = 1469598103934665603u;
};

}  // namespace ge
