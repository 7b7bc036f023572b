// Works on images whose channels are neighbours in memory. Convolutions are products with weights
// in panels: the windows of some pixels are gathered as rows; with one tap the image holds the
// rows. Depth-wise convolutions and pools sum vectors of channels where they lie. None needs code
// of its own for a size, so that a new one costs nothing. They own no tensors; immutable, any
// number of threads may run one. Measured: docs/decisions/0042-channels-last.md. Source: ONNX Conv,
// MaxPool, AveragePool.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "plugins/cpu/kit/conv_pieces.h"
#include "plugins/cpu/native/loops.h"
#include "plugins/cpu/native/panels.h"

namespace ge_engines::cpu::native {

// Whether a convolution of one group is best made so: enough channels to fill rows and vectors.
bool IsChannelsLast(const ConvSpec& c);

struct ChannelsLastPlan {
  ChannelsLastPlan(const Simd& simd, const ConvSpec& c, const Machine& m);
  ConvShape s;
  PanelPlan product;  // rows: pixels of the result; depth: taps, then channels
  int threads = 1;
  bool rows_there;  // one tap of each pixel: x itself is the matrix
  // What a thread takes at once.
  int64_t pixels = 1, panels = 1;

  uint64_t workspace_floats() const;  // of one thread: gathered rows
  void Pack(const float* w, float* to) const;
  std::string PackKey() const;        // equal where Pack writes the same
  double ns(const Machine& m) const;  // analytic, on all threads
};

// Places: result, x, panels, bias, operands of posts, workspace of all threads. Channels last.
std::unique_ptr<Loop> ChannelsLastLoop(const Simd& simd, const ChannelsLastPlan& plan,
                                       std::vector<TilePost> posts);

// Images as planes of pixels with some channels each: channels last, or each block of channels.
struct ChannelPlanes {
  ChannelPlanes(const Layout& x, const Layout& result);
  int64_t images, blocks, channels;  // channels of a plane's pixel
  bool padded;                       // the last block has channels that are none
};

// One filter a channel, at most kMostTaps taps. Weights and biases lie by channel, rounded up to
// whole blocks, weights [tap][channel]. Places: result, x, weights, bias, operands of posts.
inline constexpr int64_t kMostTaps = 256;
bool IsChannelWise(const ConvSpec& c);
std::unique_ptr<Loop> ChannelSumsLoop(const Simd& simd, const ConvSpec& c, const Layout& x,
                                      const Layout& result, std::vector<TilePost> posts);
// Weights as above from ONNX's, for `channels` of them and zeros behind.
void PackChannelSums(const ConvSpec& c, int64_t channels, const float* w, float* to);
double ChannelSumsNs(const ConvSpec& c, const Machine& m);  // on all threads

// Places: result, x. At most kMostTaps taps.
std::unique_ptr<Loop> ChannelPoolLoop(const Simd& simd, const Pool& pool, const Layout& x,
                                      const Layout& result);

}  // namespace ge_engines::cpu::native
