// Convolutions without gathered windows: a loop copies lines of the image once with their padding,
// and splits lines and columns by the strides' remainders. So every tap reads whole vectors side by
// side, and each vector serves several output channels. A strip is as many lines as fit into the
// first caches; OpenMP's threads share the strips. Nothing here owns tensors; a loop is immutable,
// any number of threads may run it. Source: ONNX Conv.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/im2col_tiles.h"
#include "plugins/cpu/kit/loops.h"
#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/kit/simd/kernels.h"
#include "plugins/units/conv/conv.h"

namespace ge_engines::cpu::native {

// One input channel a group and at most two spatial axes.
bool IsDepthwise(const ConvSpec& spec);
bool IsDirect(const ConvSpec& spec, const Machine& machine);

struct DirectPlan {
  // Plans a convolution with at most two spatial axes; not a transposed one.
  DirectPlan(const ConvSpec& spec, const Machine& machine);
  ConvShape s;
  int threads = 1;
  int64_t width = 0;   // of a copied line, less what other phases of the stride have
  int64_t lines = 1;   // of the result in a strip
  int64_t strips = 1;  // an image and group
  int64_t block = 1;   // output channels whose sums wait in the workspace

  // The first read of each input channel's taps in a strip, as many as a filter has weights. Prices
  // do not need it.
  std::vector<int64_t> Reads() const;
  int64_t rows() const;                     // copied lines of a phase
  int64_t channel() const;                  // floats of an input channel's copy
  int64_t row() const;                      // floats of an output channel's sums
  uint64_t workspace_floats() const;        // of one thread
  double ns(const Machine& machine) const;  // analytic
};

// Buffers: result, x, weights as in ONNX, bias, workspace of all threads. Dense, or the result with
// channels last. The post-ops have no operands.
std::unique_ptr<Loop> DirectLoop(const Simd& simd, const DirectPlan& plan,
                                 std::vector<PointwiseOp> post_ops, bool channels_last = false);

// Whether the result gets channels last: for many channels of several lines.
bool LeavesChannelsLast(const ConvSpec& spec);
Price DirectPrice(const Unit& unit, const ConvSpec& spec, const Parser& parser,
                  const Machine& machine);

}  // namespace ge_engines::cpu::native
