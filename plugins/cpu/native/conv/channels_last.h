// Convolutions on images with neighbouring channels. They are products with weights in panels: a
// loop gathers the windows of some pixels as rows; with one tap the image holds the rows already.
// No size needs generated code, so a new size costs nothing. They own no tensors; immutable, any
// number of threads may run one. Measured: docs/decisions/0042-channels-last.md. Source: ONNX
// Conv.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/im2col_tiles.h"
#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/kit/simd/kernels.h"
#include "plugins/cpu/native/matmul/panels.h"
#include "plugins/cpu/native/tile_post_ops.h"
#include "plugins/units/conv/conv.h"

namespace ge_engines::cpu::native {

// Whether channels last suits a convolution of one group: channels must fill rows and vectors.
bool IsChannelsLast(const ConvSpec& spec);

struct ChannelsLastPlan {
  ChannelsLastPlan(const Simd& simd, const ConvSpec& spec, const Machine& machine);
  ConvShape s;
  PanelPlan product;  // rows: pixels of the result; depth: taps, then channels
  int threads = 1;
  bool rows_there;  // one tap of each pixel: x itself is the matrix
  // The share that a thread takes at once.
  int64_t pixels = 1, panels = 1;

  uint64_t workspace_floats() const;  // of one thread: gathered rows
  void Pack(const float* w, float* to) const;
  std::string PackKey() const;              // equal where Pack writes the same
  double ns(const Machine& machine) const;  // analytic, on all threads
};

// Buffers: result, x, panels, bias, operands of post-ops, workspace of all threads. Channels last.
std::unique_ptr<Loop> ChannelsLastLoop(const Simd& simd, const ChannelsLastPlan& plan,
                                       std::vector<TilePostOp> post_ops);

}  // namespace ge_engines::cpu::native
