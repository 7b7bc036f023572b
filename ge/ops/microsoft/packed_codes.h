// Quantized values of 2, 4 or 8 bits packed in bytes, low bits first, as in com.microsoft's
// operators. One thread.
#pragma once

#include <vector>

#include "ge/ops/microsoft/steps.h"

namespace ge {

// Unpacks bytes [rows, columns] into one quantized value a byte: [rows, count].
inline ValueId UnpackCodes(Steps* steps, ValueId bytes, int64_t bits, int64_t count) {
  const Steps::Shape x = steps->ShapeOf(bytes);
  if (bits == 8) return steps->Slice(bytes, 1, 0, count);
  const int64_t per_byte = 8 / bits;
  const ValueId low = steps->Byte(static_cast<uint8_t>((1 << bits) - 1));
  std::vector<ValueId> parts;
  for (int64_t i = 0; i < per_byte; ++i) {
    ValueId v = bytes;
    if (i > 0) {
      const ValueId places = steps->Byte(static_cast<uint8_t>(i * bits));
      v = steps->Map("BitShift", {v, places}, {{"direction", std::string("RIGHT")}});
    }
    if (i + 1 < per_byte) v = steps->Pair("BitwiseAnd", v, low);
    parts.push_back(steps->Reshape(v, {x[0], x[1], 1}));
  }
  const ValueId all = steps->Reshape(steps->Concat(parts, 2), {x[0], x[1] * per_byte});
  return steps->Slice(all, 1, 0, count);
}

}  // namespace ge
