// Numbers of data sets as the dtypes that nets take. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ge/ir/dtype.h"

namespace ge::tool {

// Whether ConvertNumbers can: real numbers and bool become float32 and float64, whole numbers also
// int64 and int32, and each dtype itself.
bool CanConvert(DType from, DType to);
// Bytes (uint8) are divided by 255 where floats are wanted; every other number keeps its value, or
// the nearest that `to` has. `from` and `to` need no alignment.
void ConvertNumbers(DType dtype, const std::byte* from, uint64_t n, DType as, std::byte* to);

}  // namespace ge::tool
