// Analytic prices of products and convolutions by shape, instruction set and threads, measured on
// one host (see price.cc); the host corrects them. Pure; any thread.
#pragma once

#include <cstdint>

#include "plugins/cpu/openblas/vendor.h"

namespace ge_engines::cpu::openblas {

// m.isa: the instruction set of the library's kernels.
Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine);

}  // namespace ge_engines::cpu::openblas
