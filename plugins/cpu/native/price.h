// Analytic prices of the engine `native`: its own works beside the loops of kit/. Pure.
#pragma once

#include "plugins/cpu/kit/price.h"

namespace ge_engines::cpu::native {

Price PriceOf(const Unit& u, const Parser& p, const Machine& m);

// Bytes of one thread's workspace of a convolution that is neither Winograd's nor of one pixel.
uint64_t BufferOf(const ConvSpec& c, const Machine& m);

}  // namespace ge_engines::cpu::native
