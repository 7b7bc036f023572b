// The arithmetic of Order: position -> row by a keyed permutation, and of Draw: position ->
// numbers. Frozen: docs/data.md has both in Python, and golden numbers hold them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace ge::data {

// Philox4x32-10. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
std::array<uint32_t, 4> Philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

// A permutation of [0, rows): a Feistel network of eight rounds over the least even number of bits
// that holds rows - 1, walked on until the result is a row.
class Permutation {
 public:
  Permutation(uint64_t seed, uint64_t epoch, uint64_t rows);  // rows >= 1, at most 2^62
  uint64_t At(uint64_t i) const;                              // i < rows

 private:
  static constexpr int kRounds = 8;
  uint64_t Round(uint64_t i) const;
  uint64_t rows_, mask_;
  int half_;
  std::array<uint64_t, kRounds> keys_;
};

// The key of draws by this name.
std::array<uint32_t, 2> DrawKey(uint64_t seed, std::string_view name);
// Draw number `i` at a position, uniform in [0, 1): 24 bits.
float DrawAt(std::array<uint32_t, 2> key, uint64_t position, uint32_t i);
// Draws [0, n), as DrawAt.
void Draws(std::array<uint32_t, 2> key, uint64_t position, uint32_t n, float* out);

}  // namespace ge::data
