// Depth-wise convolutions and pools that sum vectors of channels where they lie: channels last or
// in blocks. They own no tensors; immutable, any number of threads may run one. Measured:
// docs/decisions/0042-channels-last.md. Source: ONNX Conv, MaxPool, AveragePool.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/kit/simd/kernels.h"
#include "plugins/cpu/native/reduce/pool.h"
#include "plugins/cpu/native/tile_posts.h"
#include "plugins/units/conv/conv.h"

namespace ge_engines::cpu::native {

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
