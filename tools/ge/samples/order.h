// The order of samples in an epoch: a function of the seed and the epoch alone, so that a resumed
// run keeps the order. docs/training.md has it in Python.
#pragma once

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace ge::tool {

inline uint64_t MixBits(uint64_t z) {  // the finalizer of splitmix64
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// Fisher and Yates from the end, with numbers of splitmix64.
inline std::vector<uint32_t> OrderOf(uint64_t seed, uint64_t epoch, uint32_t count) {
  std::vector<uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0u);
  uint64_t state = MixBits(MixBits(seed) + epoch);
  for (uint32_t i = count; i-- > 1;) {
    state += 0x9e3779b97f4a7c15u;
    const auto j =
        static_cast<uint64_t>((static_cast<unsigned __int128>(MixBits(state)) * (i + 1u)) >> 64);
    std::swap(order[i], order[j]);
  }
  return order;
}

}  // namespace ge::tool
