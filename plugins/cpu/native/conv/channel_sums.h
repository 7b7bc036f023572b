// Depth-wise convolutions: they sum vectors of channels in place, channels last or in blocks. They
// own no tensors; immutable, any number of threads may run one. Measured:
// docs/decisions/0042-channels-last.md. Source: ONNX Conv.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/kit/simd/kernels.h"
#include "plugins/cpu/native/tile_post_ops.h"
#include "plugins/units/conv/conv.h"

namespace ge_engines::cpu::native {

// One filter a channel, at most kMostTaps taps. Weights and biases are by channel, rounded up to
// whole blocks, weights [tap][channel]. Buffers: result, x, weights, bias, operands of post-ops.
bool IsChannelWise(const ConvSpec& spec);
std::unique_ptr<Loop> ChannelSumsLoop(const Simd& simd, const ConvSpec& spec, const Layout& x,
                                      const Layout& result, std::vector<TilePostOp> post_ops);
// Packs ONNX's weights as above, for `channels` of them and zeros behind.
void PackChannelSums(const ConvSpec& spec, int64_t channels, const float* w, float* to);
double ChannelSumsNs(const ConvSpec& spec, const Machine& machine);  // on all threads

}  // namespace ge_engines::cpu::native
