// Attention as exporters write it: MatMul, scaling and masks, Softmax, MatMul, with views between,
// as one unit. Pure; any thread.
#pragma once

#include "plugins/units/parser.h"

namespace ge_engines {

// The attention that ends in this MatMul; false where it ends none.
bool GroupOfAttention(const Parser& parser, uint32_t product, Unit* unit);

}  // namespace ge_engines
