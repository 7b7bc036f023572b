// Kernels for the dot4 product of 8-bit integers: uint8 values by int8 weights, exact (AVX512-VNNI
// has one instruction for it, AVX2 takes bytes apart). Signed x and its zero point come moved up by
// 128. Dot4KernelsOf chooses at run time: a processor with AVX-512 may have no VNNI. They own
// nothing; any thread.
#pragma once

#include <cstdint>

namespace ge_engines::cpu::native {

// The kernels quantize in fixed point, kDot4Point bits behind the point, from float sums and
// scales. If the low bits lie within kCodeNear steps of the middle between two quantized values,
// doubles compute the value again, as ref computes all.
inline constexpr int kDot4Point = 16, kCodeNear = 4;

// The finish of sums, by column: the sums themselves, or quantized values scaled from them. Arrays
// are as long as the columns, rounded up to whole panels.
struct Dot4Finish {
  const int32_t* add = nullptr;   // bias less the share of x's zero point
  const float* scale = nullptr;   // times 2^kDot4Point; null: sums are the result
  const double* exact = nullptr;  // the same scales as they are
  const double* bias = nullptr;   // bias outside of `add`; null: none
  // Negated zero points of the weights; each row adds them times its sum of uint8 values. null:
  // none.
  const int32_t* less = nullptr;
  int16_t zero = 0, least = 0, most = 0;  // of quantized values
};

// kDot4Lanes columns a vector, kCodeVectors vectors a panel.
inline constexpr int64_t kDot4Lanes = 16, kCodeVectors = 4;
inline constexpr int64_t kDot4Columns = kDot4Lanes * kCodeVectors;
inline constexpr int64_t kMostDot4Rows = 8;

// Rows of uint8 values by one panel of weights. A row is read in `runs` runs of 4 * quads bytes,
// `at` bytes from its first.
struct Dot4Tile {
  const uint8_t* x[kMostDot4Rows];
  void* y[kMostDot4Rows];  // 8 bits or int32
  int64_t rows;
  const int64_t* at;
  int64_t runs, quads;
  int64_t bytes;    // of a run that count
  const int8_t* w;  // [runs * quads][vectors * kDot4Lanes][4]
  int64_t columns;  // of y
  int64_t vectors;
};

// Interleaves four lines of an image's pixels, kDot4Columns channels at most, byte by byte:
// [pixel][vector][lane][line], kDot4Depth bytes a pixel; see GE_DEPTHWISE_CHANNEL.
inline constexpr int64_t kDot4Depth = 4 * kDot4Columns;
struct Dot4Lines {
  const uint8_t* line[4];
  int64_t step[4];  // bytes from a pixel to the next; 0 where a line is all the same
  int64_t pixels, channels;
  bool turn;  // int8 values are moved up
  uint8_t* to;
  int64_t to_step;  // bytes from a pixel to the next
};
// Pixels of one line of a depth-wise convolution; each has kw taps of `quads` quads of lines.
struct Dot4Taps {
  const uint8_t* x;   // quads of the first pixel's first tap
  int64_t step, tap;  // bytes to the next pixel, to the next tap
  int64_t kw, quads;
  const int8_t* w;  // [tap][quad][vector][lane][4]
  int64_t pixels, channels;
  void* y;         // 8 bits or int32
  int64_t y_step;  // bytes
};
// The channel among 64 of lane l of vector v: unpacking works in lanes of 16 bytes. A macro, since
// the linker might keep an inline function in its form for AVX-512.
#define GE_DEPTHWISE_CHANNEL(v, l) ((l) / 4 * 16 + (v)*4 + (l) % 4)

struct Dot4Kernels {
  // Most rows of a tile with so many vectors.
  int64_t (*rows)(int64_t vectors);
  void (*product)(const Dot4Tile& tile, const Dot4Finish& finish);
  void (*lines)(const Dot4Lines& lines);
  // The arrays of `finish` are in the order of vectors and lanes.
  void (*depthwise)(const Dot4Taps& taps, const Dot4Finish& finish);
  // y[i] = x[i] with the highest bit flipped: this moves int8 values up by 128.
  void (*turn)(const uint8_t* x, uint8_t* y, int64_t n);
};
// Null where this processor or the instruction set (GE_ISA_*) has none.
const Dot4Kernels* Dot4KernelsOf(uint32_t isa);
extern const Dot4Kernels kDot4KernelsAvx512, kDot4KernelsAvx2;

}  // namespace ge_engines::cpu::native
