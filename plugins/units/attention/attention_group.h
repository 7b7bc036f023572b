// Finds the attention of exporters, MatMul, scaling and masks, Softmax, MatMul with views between,
// and makes it one unit. Pure; any thread.
#pragma once

#include "plugins/units/parser.h"

namespace ge_engines {

// Sets *unit to the attention whose last node is this MatMul; false if there is none.
bool GroupOfAttention(const Parser& parser, uint32_t product, Unit* unit);

}  // namespace ge_engines
