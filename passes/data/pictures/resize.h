// Resampler: a part of a resized picture, made line by line: bilinear with antialias, in the
// fixed-point arithmetic of Pillow's resize, bit for bit. One picture at a time, one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ge::data {

// One axis: `kept` places from `from` on of `in` pixels resized to `out`. Places outside [0, out)
// have no taps and become 0.
struct Taps {
  Taps() = default;
  Taps(int64_t in, int64_t out, int64_t from, int64_t kept);
  // The pixels that are read: [first, end); none where these are equal.
  int64_t first = 0, end = 0;
  int64_t most = 1;    // taps of a place
  int64_t inside = 0;  // the first place that has taps
  std::vector<int32_t> begin, count;
  // `most` for each place that has taps, in units of 2^-22: bilinear ones are never below 0.
  std::vector<int32_t> weight;
  const int32_t* of(int64_t place) const { return weight.data() + (place - inside) * most; }
};

constexpr int kWeightBits = 22;

struct ResizeLoops;

// Taps once more, as some loops want them.
struct PackedTaps {
  std::vector<int16_t> halves;  // of AVX2: of 11 bits
  std::vector<int8_t> digits;   // of AVX-512
  std::vector<int32_t> from;
};

// Where the result goes: planes [channels, height, width] of bytes, or of floats through a table of
// 256 for each channel.
struct Planes {
  int64_t channels = 0, height = 0, width = 0;
  bool flip = false;  // columns in reverse
  uint8_t* bytes = nullptr;
  float* floats = nullptr;
  const float* table = nullptr;
  const ResizeLoops* loops = nullptr;  // by LoopsOf
};

class Resampler {
 public:
  // Sizes of the picture, of the resized one, and the place of what is kept of it.
  void Begin(int64_t height, int64_t width, int64_t full_height, int64_t full_width, int64_t top,
             int64_t left, const Planes& to);
  // The part of the picture that is read.
  int64_t first_row() const { return rows_.first; }
  int64_t end_row() const { return rows_.end; }
  int64_t first_column() const { return columns_.first; }
  int64_t end_column() const { return columns_.end; }
  // Memory for one line of that part, interleaved, until the next call of Line; zeros around it may
  // be read.
  uint8_t* line() { return line_.data(); }
  // The next row of [first_row, end_row) is in line().
  void Line();
  // After the last one.
  void Finish();

 private:
  void Emit();
  Planes to_;
  Taps rows_, columns_;
  int64_t next_ = 0, out_ = 0;  // row of the picture, row of the result
  int64_t stride_ = 0;          // bytes of a resampled line: 4 or 1 a pixel, and up to 63
  std::vector<uint8_t> line_, ring_, row_;
  PackedTaps packed_columns_, packed_rows_;
  std::vector<const uint8_t*> taken_;
};

}  // namespace ge::data
