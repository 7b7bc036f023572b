// What the units of each kind are told of their operator. Plain values.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "plugins/cpu/kit/layout.h"
#include "plugins/cpu/kit/simd/kernels.h"

namespace ge_cpu {

// Conv and ConvTranspose; in: x, weights.
struct ConvSpec {
  bool transposed = false;
  Dims src, weights, dst;  // weights: g, o/g, i/g, spatial... when groups > 1
  Dims stride, dilation, pad_l, pad_r;
  int64_t groups = 1;
  bool bias = false;
  auto operator<=>(const ConvSpec&) const = default;
};
// MatMul and Gemm; in: a, b.
struct ProductSpec {
  bool trans_a = false, trans_b = false;
  float alpha = 1, beta = 1;  // factors of the product and of the bias
};
struct PoolSpec {
  bool max = true, count_pad = false;
  Dims src, dst, kernel, stride, pad_l, pad_r;
};
struct PointwiseSpec {};  // in[0], then posts

struct ReduceSpec {
  Reduce reduce = Reduce::kSum;
  Dims axes;
  bool keep_dims = true;
};
struct SoftmaxSpec {
  int axis = 0;
};
struct LayerNormSpec {  // in: x, gamma or 0, beta or 0
  float eps = 0;
};
struct ConcatSpec {
  int axis = 0;
};
struct ResizeSpec {  // nearest, whole factors
  Dims factors;
};
struct ViewSpec {};  // same elements in the same order
struct TransposeSpec {
  Dims perm;
};
struct Box {
  Dims start, step;
};
struct SliceSpec {  // one box for each output: Slice, Split
  std::vector<Box> boxes;
};
struct ExpandSpec {};

// How element i of an axis of a resized tensor is made: x[at] + w * (x[next] - x[at]), or x[at]
// where next and w are empty.
struct Taps {
  std::vector<int32_t> at, next;
  std::vector<float> w;
};
struct ResampleSpec {      // Resize, nearest by any factor or linear
  std::vector<Taps> taps;  // by axis; empty where the axis stays
};
struct GatherSpec {  // in: data, indices
  int axis = 0;
};
struct AppendSpec {  // in: cache, length, new rows
  int axis = 0;
};
struct CastSpec {};
struct EqualSpec {};   // in: two of one dtype; out: bool, or float32 where a Cast follows
struct WhereSpec {};   // in: condition, x, z; of 4-byte types
struct RoiAlignSpec {  // in: x, rois, batch indices; the mean of samples
  int64_t rois = 0, batch = 0, channels = 0, height = 0, width = 0;
  int64_t out_height = 0, out_width = 0;
  int64_t ratio = 0;  // samples along each axis of a bin; 0 = by the region's size
  double scale = 1;
  bool half_pixel = false;
};
struct IntegerSpec {  // in[0] fn in[1]
  Fn fn = Fn::kAdd;
};

// Positions in Unit::in of integer convolutions and products; 0 where there is none. Weights and
// their zero points are constants; without y_scale the result is the sums, int32.
struct QuantIn {
  enum : size_t { kX, kW, kXZero, kWZero, kXScale, kWScale, kYScale, kYZero, kBias, kCount };
};
struct IntegerConvSpec {
  ConvSpec conv;
};
struct IntegerProductSpec {};
// A scale for each of `dim` slices of a tensor [outer, dim, inner]; 1 for a scale for all.
struct QuantGrid {
  int64_t outer = 1, dim = 1, inner = 1;
};
struct QuantizeSpec {  // in: x, scale, zero or 0, or x alone; out: y, then maybe scale and zero
  QuantGrid grid;
};
struct DequantizeSpec {  // in: x, scale, zero or 0
  QuantGrid grid;
};

struct LstmSpec {  // in: x, w, r, then bias, h and c, or 0; out: y, y_h and y_c, or 0
  int64_t steps = 0, batch = 0, inputs = 0, hidden = 0;
  int directions = 1;
  bool reverse = false;  // of the first direction; the second always is
  bool input_forget = false;
  float clip = 0;  // 0: none
};

using Spec = std::variant<ViewSpec, ConvSpec, ProductSpec, PoolSpec, PointwiseSpec, ReduceSpec,
                          SoftmaxSpec, LayerNormSpec, ConcatSpec, ResizeSpec, TransposeSpec,
                          SliceSpec, ExpandSpec, ResampleSpec, GatherSpec, AppendSpec, CastSpec,
                          EqualSpec, WhereSpec, RoiAlignSpec, IntegerSpec, IntegerConvSpec,
                          IntegerProductSpec, QuantizeSpec, DequantizeSpec, LstmSpec>;

}  // namespace ge_cpu
