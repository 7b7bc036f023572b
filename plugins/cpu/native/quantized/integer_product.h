// Exact products and convolutions of 8-bit integers less their zero points. Sums are int32; the
// loops may requantize them (ONNX: ConvInteger, MatMulInteger, QLinearConv, QLinearMatMul). They
// widen the values to 16 bits before the product, the input's less its zero point: no sum saturates
// in any instruction set, and padding is zero. They own no tensors; immutable, any number of
// threads may run one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/kit/simd/kernels.h"
#include "plugins/units/conv/conv.h"
#include "plugins/units/quantized/inputs.h"

namespace ge_engines::cpu::native {

// Finish of the sums, and the dtypes. Scales: one, or one a filter or column.
struct QuantResult {
  bool x_signed = false, y_signed = false;
  bool x_zero = false;  // whether there is one
  bool codes = false;   // requantized; else the sums
  int64_t w_scales = 1;
  int64_t biases = 0;        // one a filter or column, int32 that add to the sums; 0: none
  bool bias_floats = false;  // they are float32 instead
  bool y_zero = true;        // whether there is one
  QuantizedRange range;      // of quantized y, within its dtype
  double least() const { return std::max<double>(y_signed ? -128 : 0, range.least); }
  double most() const { return std::min<double>(y_signed ? 127 : 255, range.most); }
};
// Buffers after result, x and weights: those of QuantIn from kXZero on without kWZero (any buffer
// for an absent one), then scratch.

// rows x depth quantized values times a constant matrix of depth x columns.
struct IntegerProductPlan {
  IntegerProductPlan(const Simd& simd, int64_t m, int64_t n, int64_t k, QuantResult result);
  int64_t m, n, k, pairs, columns, panels;
  QuantResult result;
  // Packed: weights as uint8 (int8 moved up by 128), then a zero point for each column, int32.
  uint64_t code_bytes() const { return static_cast<uint64_t>(panels * pairs * columns * 2); }
  uint64_t weight_bytes() const {
    return code_bytes() + static_cast<uint64_t>(panels * columns) * sizeof(int32_t);
  }
  uint64_t scratch_bytes() const;
  bool transposed = false;  // weights come as [n][k]
  // w is [k][n] or transposed; zeros has one element or n.
  void Pack(const uint8_t* w, bool is_signed, const std::vector<int32_t>& zeros, void* to) const;
  std::string PackKey() const {
    return "int8 product " + ToText({n, k, pairs, columns, transposed ? 1 : 0});
  }
};
std::unique_ptr<Loop> IntegerProductLoop(const Simd& simd, const IntegerProductPlan& plan);

struct IntegerConvPlan {
  IntegerConvPlan(const Simd& simd, const ConvSpec& spec, int threads, QuantResult result);
  int64_t batch, groups, in, out, h, w;  // in and out: channels of one group
  int64_t out_h, out_w, stride[2], pad[2];
  int64_t wide, high;                     // of the padded image
  int64_t depth, pairs, columns, blocks;  // blocks of rows of weights
  bool runs;  // stride 1: pixels are computed along padded rows, their ends thrown away
  int64_t pixels, tiles;
  int threads;
  QuantResult result;
  std::vector<int64_t> tap;  // by place in a filter: elements from a pixel's first
  // Packed: weights less their zero points, of 16 bits.
  uint64_t weight_bytes() const {
    return static_cast<uint64_t>(groups * blocks * pairs * kIntegerRows * 2) * sizeof(int16_t);
  }
  int64_t image_count() const { return in * high * wide + columns; }  // of 16 bits
  uint64_t thread_bytes() const;
  uint64_t scratch_bytes() const;
  // w is [groups][out][depth]; zeros has one element or groups * out.
  void Pack(const uint8_t* w, bool is_signed, const std::vector<int32_t>& zeros, void* to) const;
  std::string PackKey() const {
    return "int8 convolution " + ToText({groups, out, depth, pairs, blocks});
  }
};
std::unique_ptr<Loop> IntegerConvLoop(const Simd& simd, const IntegerConvPlan& plan);

}  // namespace ge_engines::cpu::native
