// The numbers of a source's columns while a pass runs: for steps that look at all rows.
#pragma once

#include <functional>
#include <vector>

#include "passes/data/pipe/chain.h"

namespace ge::data {

// Elements as long double, which holds each 64-bit whole number. One thread.
using Numbers = std::vector<long double>;

// Calls block(first, count, values) for all rows that the chain has, in order and by blocks: values
// by column, then row, then element of the row. Throws GE_CANCELLED as CheckStop.
void ForBlocks(const Chain& chain, const std::vector<size_t>& columns,
               const std::function<void(int64_t, size_t, const std::vector<Numbers>&)>& block);

}  // namespace ge::data
