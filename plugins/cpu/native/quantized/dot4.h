// Convolutions and products of 8-bit integers by weights of 8 bits, exactly, on images whose
// channels are last: every pixel of a window is a run of bytes, which the kernels of dot4_kernels.h
// multiply four at a time. A product of rows is a convolution of one tap. They own no tensors;
// immutable, any number of threads may run one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "plugins/cpu/kit/price.h"
#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/native/quantized/dot4_kernels.h"
#include "plugins/cpu/native/quantized/integer_product.h"

namespace ge_engines::cpu::native {

struct Dot4Plan {
  Dot4Plan(const ConvSpec& spec, int threads, const QuantResult& result);
  // m rows of k codes by a matrix, stored as [k][n] or turned, [n][k].
  Dot4Plan(int64_t m, int64_t n, int64_t k, bool transposed, int threads,
           const QuantResult& result);
  // Whether there is a kernel that suits its groups. `symmetric`: weights are signed codes without
  // a zero point, or unsigned ones of 128.
  static bool Suits(const ConvSpec& spec, bool symmetric);

  int64_t batch = 1, groups = 1, in = 0, out = 0;  // channels of one group
  int64_t h = 1, w = 1, out_h = 1, out_w = 1, kh = 1, kw = 1;
  int64_t stride[2] = {1, 1}, dilation[2] = {1, 1}, pad[2] = {0, 0};
  bool by_rows = false;        // weights are [k][n]
  bool depthwise = false;      // one channel a group, in and out
  bool copies = false;         // the image is copied first, padded, signed codes moved up
  int64_t high = 1, wide = 1;  // of that copy, or of x
  int threads = 1;
  QuantResult result;
  int64_t w_zeros = 0;      // zero points, one or of each filter; 0: weights are symmetric
  std::vector<int64_t> at;  // of each run: bytes from a window's first
  int64_t run = 0;          // bytes of a run that count
  int64_t quads = 0;        // read for it, of four bytes; depth-wise: of lines that a window has
  int64_t panels = 0;       // of one group
  int64_t together = 1;     // depth-wise: lines of the result that one set of lines serves

  int64_t pixel() const { return groups * in; }  // bytes of x
  int64_t pixels() const { return out_h * out_w; }
  int64_t columns() const { return panels * kDot4Columns; }  // of one group, rounded up
  int64_t taps() const { return kh * kw; }
  int64_t groups_columns() const;         // of all groups
  int64_t channel(int64_t column) const;  // of the result; -1: of none
  int64_t pixel_out() const {             // bytes of y
    return groups * out * (result.codes ? 1 : static_cast<int64_t>(sizeof(int32_t)));
  }
  // Depth-wise: lines that those made together read, and their bytes.
  int64_t lines() const { return kh + (together - 1) * stride[0]; }
  int64_t line_bytes() const;
  int64_t image_bytes() const;  // of the copy, or of such lines for each thread
  int64_t macs() const;         // multiply-adds of an image
  // Packed: codes, then the sum of each column less its zero point, int32. A depth-wise panel has
  // its weights once for each of the lines that are made together, further down by their distance.
  int64_t panel_bytes() const;
  int64_t tap_bytes() const {
    return kw * quads * kDot4Depth;
  }  // depth-wise: of one line's weights
  uint64_t code_bytes() const;
  uint64_t weight_bytes() const;
  uint64_t scratch_bytes() const;
  // Scales, zero points and biases are constants: what becomes of sums is packed, too.
  bool settled = false;
  uint64_t sum_bytes() const;
  uint64_t less_bytes() const;  // of the zero points of weights by column
  int64_t finish_bytes() const;
  // Behind Pack, of a settled plan: inputs by their place (scratch.h), aligned.
  void Settle(const void* const* inputs, void* to) const;
  // w is [groups * out][in][kh][kw], or by_rows; `zeros`: w_zeros codes of the same kind.
  void Pack(const uint8_t* w, bool is_signed, const uint8_t* zeros, void* to) const;
  std::string PackKey() const;

 private:
  void Finish();
};
// Places as IntegerConvLoop has them.
std::unique_ptr<Loop> Dot4Loop(const Dot4Kernels& kernels, const Dot4Plan& plan);

}  // namespace ge_engines::cpu::native
