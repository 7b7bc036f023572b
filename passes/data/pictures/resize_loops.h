// The loops of Resampler: plain ones, and for AVX2. Both give the same bits.
#pragma once

#include <cstdint>

#include "passes/data/pictures/resize.h"

namespace ge::data {

// A line of RGB to RGB0 (4 bytes a place) by the taps of columns; `packed` as PackWeights makes it.
using ResizeRgb = void (*)(const uint8_t* line, const Taps& taps, const int16_t* packed,
                           uint8_t* to);
// `bytes` places of `count` lines, weighted.
using ResizeRows = void (*)(const uint8_t* const* lines, const int32_t* weight, int64_t count,
                            int64_t bytes, uint8_t* to);

struct ResizeLoops {
  ResizeRgb rgb;
  ResizeRows rows;
  int64_t padding;  // bytes that may be read behind a line
};

// Groups of four taps: the upper halves of 11 bits, then the lower ones.
inline int64_t PackedGroups(const Taps& taps) { return (taps.most + 3) / 4; }

ResizeLoops PlainLoops();
ResizeLoops Avx2Loops();  // plain ones where the compiler does not know it
const ResizeLoops& BestLoops();

}  // namespace ge::data
