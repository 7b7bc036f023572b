// Analytic prices of oneDNN's primitives: operations over the instruction set's rate, or bytes over
// the memory's speed, plus the cost of a call. The rest is priced by kit/. Pure.
#pragma once

#include "plugins/cpu/kit/price.h"

namespace ge_engines::cpu::onednn {

Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine);
// Whether a unit's inputs are rounded: of convolutions with constant weights, where that is cheaper
// though x is rounded first.
bool Rounds(const Unit& unit, const Parser& parser, const Machine& machine);

}  // namespace ge_engines::cpu::onednn
