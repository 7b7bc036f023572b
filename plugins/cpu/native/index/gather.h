// Gathers rows by index.
#pragma once

#include <cstdint>
#include <memory>

#include "plugins/cpu/kit/program.h"

namespace ge_engines::cpu::native {

// result[o][i][:] = x[o][index[i]][:] for elements of `bytes` bytes.
struct Gather {
  int64_t outer = 1, axis = 1, inner = 1;  // x is [outer][axis][inner]
  int64_t count = 0;                       // indices
  int64_t bytes = 4;                       // of one element
  bool wide = true;                        // indices are int64; otherwise int32
  bool backwards = true;                   // negative indices count from the end
};

// Buffers: result, x, indices. If an index is outside [-axis, axis), or [0, axis) without counting
// backwards, Do returns GE_INVALID_ARGUMENT and leaves the result untouched.
std::unique_ptr<Kernel> GatherLoop(const Gather& gather);

}  // namespace ge_engines::cpu::native
