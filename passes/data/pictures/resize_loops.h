// The loops of Resampler: plain ones, for AVX2, and for AVX-512. All give the same bits.
#pragma once

#include <cstdint>
#include <vector>

#include "passes/data/pictures/resize.h"

namespace ge::data {

struct ResizeLoops {
  // The taps of columns as `rgb` reads them; NULL: as they are.
  void (*pack)(const Taps& taps, PackedTaps* to);
  // A line of RGB to RGB0 (4 bytes a place) by the taps of columns. Up to 64 bytes behind the last
  // place are written.
  void (*rgb)(const uint8_t* line, const Taps& taps, const PackedTaps& packed, uint8_t* to);
  // The same of rows, for `rows`.
  void (*pack_rows)(const Taps& taps, PackedTaps* to);
  // `bytes` bytes, a multiple of 64, of the lines of a place, weighted. There are as many lines as
  // it has taps, and then some up to a multiple of four, which have no weight.
  void (*rows)(const uint8_t* const* lines, const Taps& taps, const PackedTaps& packed,
               int64_t place, int64_t bytes, uint8_t* to);
  // to[i] = table[from[i * step]] for i in [0, n), or to[n - 1 - i]; step 1 or 4. With step 4, 3
  // bytes behind the last one may be read.
  void (*look)(const uint8_t* from, int64_t step, int64_t n, bool reverse, const float* table,
               float* to);
};

// Bytes of a line that may be read behind its last pixel.
inline int64_t LinePadding(const Taps& taps) { return 3 * taps.most + 64; }
// Taps are taken in fours.
inline int64_t PackedGroups(const Taps& taps) { return (taps.most + 3) / 4; }

// What is compiled for one ISA stands in a file of its own, which calls nothing that another file
// might take from there: what both need is inlined always.

// Of AVX2: of each four taps the upper halves, then the lower ones.
constexpr int kHalfBits = 11;
void PackHalves(const Taps& taps, PackedTaps* to);

// Of AVX-512: by kQuad places, where each begins in the line, and how many fours of taps there are;
// then for each four of taps kDigits times kFours bytes.
constexpr int64_t kQuad = 4, kDigits = 3, kFours = 4 * kQuad;
void PackDigits(const Taps& taps, PackedTaps* to);
// Digits of base 256 from -128 to 127, the lowest first, `step` bytes apart.
[[gnu::always_inline]] inline void WeightDigits(int32_t weight, int8_t* to, int64_t step) {
  for (int64_t d = 0; d < kDigits; ++d, to += step) {
    *to = static_cast<int8_t>(weight & 255);
    weight = (weight - *to) >> 8;
  }
}

const ResizeLoops& PlainLoops();
// NULL where the compiler does not know them.
const ResizeLoops* Avx2Loops();
const ResizeLoops* Avx512Loops();
// The fastest ones of this machine; isa_cap is of ge_host_api.
const ResizeLoops& LoopsOf(uint32_t isa_cap);

}  // namespace ge::data
