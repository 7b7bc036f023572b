// Converts numbers of columns to the dtypes of nets. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ge/ir/dtype.h"

namespace ge::tool {

// Whether ConvertNumbers has the pair: real numbers and bool become float32 and float64, whole
// numbers also int64 and int32, and each dtype itself.
bool CanConvert(DType from, DType to);
// Divides bytes (uint8) by 255 if `to` is a float; every other number keeps its value, or the
// nearest in `to`. `from` and `to` need no alignment.
void ConvertNumbers(DType dtype, const std::byte* from, uint64_t n, DType as, std::byte* to);

}  // namespace ge::tool
