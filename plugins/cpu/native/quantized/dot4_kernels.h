// Kernels that multiply 8-bit codes by fours: unsigned codes by signed weights, exactly
// (AVX512-VNNI has one instruction for that, AVX2 takes bytes apart). Signed codes come moved up by
// 128, which their zero point is, too. Chosen at run time, since a processor with AVX-512 may have
// no VNNI. They own nothing; any thread.
#pragma once

#include <cstdint>

namespace ge_engines::cpu::native {

// Codes are made in fixed point, with kCodePoint bits behind the point, where scales and sums are
// of floats; one whose low bits are within kCodeNear steps of those of the middle between two codes
// is made again by doubles, as ref makes all.
inline constexpr int kCodePoint = 16, kCodeNear = 4;

// What becomes of sums, by column: the sums themselves, or codes scaled from them. Arrays are as
// long as the columns, rounded up to whole panels.
struct CodeFinish {
  const int32_t* add = nullptr;   // bias less what the zero point of x adds
  const float* scale = nullptr;   // times 2^kCodePoint; null: sums are the result
  const double* exact = nullptr;  // the same scales as they are
  const double* bias = nullptr;   // that `add` does not hold; null: none
  // Zero points of the weights, negative, which each row adds times the sum of its codes; null:
  // none.
  const int32_t* less = nullptr;
  int16_t zero = 0, least = 0, most = 0;  // of the codes
};

// kCodeLanes columns a vector, kCodeVectors vectors a panel.
inline constexpr int64_t kCodeLanes = 16, kCodeVectors = 4;
inline constexpr int64_t kCodeColumns = kCodeLanes * kCodeVectors;
inline constexpr int64_t kMostCodeRows = 8;

// Rows of codes by one panel of weights. A row is read in `runs` runs of 4 * quads bytes, `at`
// bytes from its first.
struct CodeTile {
  const uint8_t* x[kMostCodeRows];
  void* y[kMostCodeRows];  // codes or int32
  int64_t rows;
  const int64_t* at;
  int64_t runs, quads;
  int64_t bytes;    // of a run that count
  const int8_t* w;  // [runs * quads][vectors * kCodeLanes][4]
  int64_t columns;  // of y
  int64_t vectors;
};

// Four lines of an image's pixels, kCodeColumns channels at most, whose bytes come side by side:
// [pixel][vector][lane][line], kCodeQuad bytes a pixel; see GE_DEPTHWISE_CHANNEL.
inline constexpr int64_t kCodeQuad = 4 * kCodeColumns;
struct CodeLines {
  const uint8_t* line[4];
  int64_t step[4];  // bytes from a pixel to the next; 0 where a line is all the same
  int64_t pixels, channels;
  bool turn;  // signed codes are moved up
  uint8_t* to;
  int64_t to_step;  // bytes from a pixel to the next
};
// Pixels of one line of a depth-wise convolution: of each, kw taps of `quads` quads of lines.
struct CodeTaps {
  const uint8_t* x;   // quads of the first pixel's first tap
  int64_t step, tap;  // bytes to the next pixel, to the next tap
  int64_t kw, quads;
  const int8_t* w;  // [tap][quad][vector][lane][4]
  int64_t pixels, channels;
  void* y;         // codes or int32
  int64_t y_step;  // bytes
};
// The channel among 64 that lane l of vector v computes: unpacking works in lanes of 16 bytes. A
// macro, since the linker might keep an inline function in its form for AVX-512.
#define GE_DEPTHWISE_CHANNEL(v, l) ((l) / 4 * 16 + (v)*4 + (l) % 4)

struct CodeKernels {
  // At most this many rows a tile with so many vectors.
  int64_t (*rows)(int64_t vectors);
  void (*product)(const CodeTile& tile, const CodeFinish& finish);
  void (*lines)(const CodeLines& lines);
  // finish: arrays in the order of vectors and lanes.
  void (*depthwise)(const CodeTaps& taps, const CodeFinish& finish);
  // y[i] = x[i] with the highest bit turned, which moves signed codes up by 128.
  void (*turn)(const uint8_t* x, uint8_t* y, int64_t n);
};
// Null where this processor or the instruction set (GE_ISA_*) has none.
const CodeKernels* CodeKernelsOf(uint32_t isa);
extern const CodeKernels kCodeKernelsAvx512, kCodeKernelsAvx2;

}  // namespace ge_engines::cpu::native
