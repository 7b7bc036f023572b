// Analytic prices: operations over the instruction set's rate, or bytes over the memory's speed,
// plus the cost of a call. Measured on one host (see price.cc); the host corrects them. Pure.
#pragma once

#include <cstdint>

#include "plugins/cpu/segment/engine.h"

namespace ge_onednn {

using namespace ge_cpu;

Price PriceOf(const Unit& u, const Parser& p, const Machine& m);

}  // namespace ge_onednn
