// AppendLoop: writes new rows into a cache of keys or values.
#pragma once

#include <cstdint>
#include <memory>

#include "plugins/cpu/kit/program.h"

namespace ge_engines::cpu::native {

// result = cache [outer][room][row] with `rows` new rows from the length on.
struct Append {
  int64_t outer = 1, room = 0, rows = 0, row_bytes = 0;
};

// Buffers: result (may be the cache), cache, length (one int64), new rows. If the new rows do not
// fit, Do returns GE_INVALID_ARGUMENT and leaves the result untouched.
std::unique_ptr<Kernel> AppendLoop(const Append& append);

}  // namespace ge_engines::cpu::native
