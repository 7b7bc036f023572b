// New rows of a cache of keys or values.
#pragma once

#include <cstdint>
#include <memory>

#include "plugins/cpu/kit/program.h"

namespace ge_engines::cpu::native {

// result = cache [outer][room][row], but for `rows` rows from the length on, which are new.
struct Append {
  int64_t outer = 1, room = 0, rows = 0, row_bytes = 0;
};

// Buffers: result, which may be the cache, cache, length (one int64), new rows. Rows that do not
// fit make Do return GE_INVALID_ARGUMENT, with the result untouched.
std::unique_ptr<Kernel> AppendLoop(const Append& append);

}  // namespace ge_engines::cpu::native
