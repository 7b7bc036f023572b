// Dot4Loop: convolutions and products of 8-bit integers by 8-bit weights, exact, on images with
// channels last. Each pixel of a window is a run of bytes; dot4_kernels.h multiplies them four at a
// time. A product of rows is a convolution of one tap. They own no tensors; immutable, any number
// of threads may run one.
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
  // m rows of k int8 values by a matrix, stored as [k][n] or transposed, [n][k].
  Dot4Plan(int64_t m, int64_t n, int64_t k, bool transposed, int threads,
           const QuantResult& result);
  // Whether a kernel suits its groups. `symmetric`: weights are int8 without a zero point, or uint8
  // with zero points of 128.
  static bool Suits(const ConvSpec& spec, bool symmetric);

  int64_t batch = 1, groups = 1, in = 0, out = 0;  // channels of one group
  int64_t h = 1, w = 1, out_h = 1, out_w = 1, kh = 1, kw = 1;
  int64_t stride[2] = {1, 1}, dilation[2] = {1, 1}, pad[2] = {0, 0};
  bool by_rows = false;        // weights are [k][n]
  bool depthwise = false;      // one channel a group, in and out
  bool copies = false;         // the image is copied first, padded, int8 moved up
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
  // Depth-wise: image lines read for the lines made together, and their bytes.
  int64_t lines() const { return kh + (together - 1) * stride[0]; }
  int64_t line_bytes() const;
  int64_t image_bytes() const;  // of the copy, or of such lines for each thread
  int64_t macs() const;         // multiply-adds of an image
  // Packed: int8 weights, then each column's sum of weights less zero points, int32. A depth-wise
  // panel holds its weights once for each line made together, shifted down by the lines' distance.
  int64_t panel_bytes() const;
  int64_t tap_bytes() const {
    return kw * quads * kDot4Depth;
  }  // depth-wise: of one line's weights
  uint64_t code_bytes() const;
  uint64_t weight_bytes() const;
  uint64_t scratch_bytes() const;
  // Scales, zero points and biases are constants: the finish of the sums is packed, too.
  bool settled = false;
  uint64_t sum_bytes() const;
  uint64_t less_bytes() const;  // of the zero points of weights by column
  int64_t finish_bytes() const;
  // Call it after Pack, for a settled plan; inputs by position (scratch.h), aligned.
  void Settle(const void* const* inputs, void* to) const;
  // w is [groups * out][in][kh][kw], or by_rows; `zeros`: w_zeros zero points of the same type.
  void Pack(const uint8_t* w, bool is_signed, const uint8_t* zeros, void* to) const;
  std::string PackKey() const;

 private:
  void Finish();
};
// Buffers as of IntegerConvLoop.
std::unique_ptr<Loop> Dot4Loop(const Dot4Kernels& kernels, const Dot4Plan& plan);

}  // namespace ge_engines::cpu::native
