// WinogradLoop: convolutions of 3 x 3 taps at stride 1 by F(h x w, 3 x 3). It takes volumes slice
// by slice, with any taps in depth: it adds their products before the transform back. h = w = 4
// needs a quarter of the multiplications and rounds about twice as much as a direct sum
// (docs/numerics.md). A tile with an infinity, a NaN or an overflow is computed again by
// definition. Weights grow 4-fold for 4 x 4, 1.8-fold for 2 x 2. Nothing here owns tensors; a loop
// is immutable, any number of threads may run it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/kit/simd/kernels.h"
#include "plugins/cpu/native/tile_post_ops.h"
#include "plugins/units/conv/conv.h"

namespace ge_engines::cpu::native {

// Whether it takes the convolution: only if it has enough channels to beat direct sums.
bool IsWinograd(const ConvSpec& spec, const Machine& machine);

// How one convolution is cut: tiles of h x w pixels, blocks of tiles transformed at once, groups of
// output channels with their sums in registers.
struct WinogradPlan {
  // Tiles of 2 or 4 pixels a side.
  WinogradPlan(const ConvSpec& spec, const Machine& machine, int tile_h, int tile_w);
  // The plan with the presumably fastest size of tiles.
  static WinogradPlan Best(const ConvSpec& spec, const Machine& machine);

  int h, w;
  int64_t lanes = 4, vectors = 2;
  // An image is a slice of the result in depth; `taps` slices of x are read for it.
  int64_t images = 1, in = 1, out = 1, src_h = 1, src_w = 1, dst_h = 1, dst_w = 1;
  int64_t pad_h = 0, pad_w = 0;
  int64_t src_d = 1, dst_d = 1, taps = 1, stride_d = 1, dilation_d = 1, pad_d = 0;
  int64_t tiles_h = 1, tiles_w = 1;  // of one image
  int64_t tiles = 1, blocks = 1;     // of one block; blocks of an image
  int64_t parts = 1;                 // of the output channels, for threads that find no more blocks
  int threads = 1;

  int64_t positions() const { return (h + 2) * (w + 2); }
  int64_t in_blocks() const { return (in + lanes - 1) / lanes; }
  // Channels in one sum, of all taps in depth; with several taps each tap begins a new vector.
  int64_t depth() const { return taps == 1 ? in : taps * in_blocks() * lanes; }
  // The slice of x for tap k and slice d of the result; it may lie beyond the borders.
  int64_t SliceOf(int64_t d, int64_t k) const { return d * stride_d + k * dilation_d - pad_d; }
  // [first, end) of the taps inside x; if none is, the first tap, and it reads zeros.
  std::pair<int64_t, int64_t> TapsOf(int64_t d) const;
  int64_t group() const { return vectors * lanes; }  // output channels
  int64_t groups() const { return (out + group() - 1) / group(); }
  int VectorsOf(int64_t g) const;  // of output group g: the last may have fewer
  // Floats from one position to the next, of transformed inputs and of products.
  int64_t v_position() const;
  int64_t m_position() const;
  uint64_t weight_floats() const;     // transformed
  uint64_t workspace_floats() const;  // of one thread
  bool Near() const;                  // transformed weights stay in the second cache
  double ns(const Machine& machine) const;
  // Equal where WinogradWeights writes the same.
  std::string PackKey() const;
};

// Whether n weights, maybe unaligned, stay finite when transformed; otherwise Winograd must not
// take them.
bool WinogradKeepsFinite(const void* weights, int64_t n);
// ONNX's weights [out][in][taps][3][3], transformed: [output group][position][depth()][group].
void WinogradWeights(const WinogradPlan& plan, const float* weights, float* u);

// Buffers: result, x, transformed weights, bias (of groups() * group() floats), workspace of each
// thread, ONNX's weights (for tiles that are not finite), operands of post-ops from buffer 6 on.
// Images have unit-stride channels: channels last or in blocks of a multiple of lanes.
std::unique_ptr<Loop> WinogradLoop(const Simd& simd, const WinogradPlan& plan, const Layout& x,
                                   const Layout& result, std::vector<TilePostOp> post_ops);

}  // namespace ge_engines::cpu::native
