// Reductions over ranks, element by element in the order of the ranks, in the tensors' own dtype.
// Pure; any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "plugins/comm/kit/transport.h"

namespace ge_engines::ranks {

bool CanReduce(int32_t dtype);
// from: by rank; each of `to` gets the result, and may be one of `from`.
void Reduce(comm::Reduction reduction, int32_t dtype, uint64_t bytes,
            const std::vector<const void*>& from, const std::vector<void*>& to);

}  // namespace ge_engines::ranks
