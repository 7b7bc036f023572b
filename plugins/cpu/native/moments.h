// Batch normalisation in training: the moments of each channel, and the gradient. Images may lie in
// plain order, with channels last or in blocks. Nothing here owns tensors; a loop is immutable, any
// number of threads may run it. Source: Ioffe and Szegedy, arXiv 1502.03167.
#pragma once

#include <memory>

#include "plugins/cpu/kit/loops.h"

namespace ge_engines::cpu::native {

// Whether images that lie so can be walked: channels one behind the other, in a row or in planes.
bool HasChannelRows(const Layout& l);
// Places: mean, variance, x.
std::unique_ptr<Loop> MomentsLoop(const Simd& simd, const Layout& x);
// Places: dX, dscale, dB, dY, x, scale, mean, variance; the images lie alike.
std::unique_ptr<Loop> BatchNormGradLoop(const Simd& simd, const Layout& x, float epsilon);

}  // namespace ge_engines::cpu::native
