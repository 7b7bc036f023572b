// Analytic prices of oneDNN's primitives: operations over the instruction set's rate, or bytes over
// the memory's speed, plus the cost of a call. kit/ prices the rest. Pure.
#pragma once

#include "plugins/cpu/kit/price.h"

namespace ge_engines::cpu::onednn {

Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine);
// Whether a unit rounds its inputs: a convolution with constant weights, if rounding x first is
// still cheaper.
bool Rounds(const Unit& unit, const Parser& parser, const Machine& machine);

}  // namespace ge_engines::cpu::onednn
