// Elements of constants as text and back, exact to the bit. Pure; any thread may call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "ge/ir/dtype.h"

namespace ge::text {

// Appends element `index` of packed little-endian `data`. False when this element has no exact
// decimal form (a NaN with a payload, a bool other than 0 and 1, a type only written in hex); then
// *out is as before.
bool AppendElement(DType dtype, const std::byte* data, uint64_t index, std::string* out);

// Appends the bytes of the number `text` ("-1.5", "inf", "true") rounded to nearest. False when the
// text is not a number of this type or is out of its range.
bool ParseElement(DType dtype, std::string_view text, std::string* out);

bool HasDecimalForm(DType dtype);

// A double that reads back to the same bits; "1.0", "1e-05f" (a float32's shortest form), "inf",
// "nan", "nan(0x7ff8000000000001)".
std::string DoubleToText(double value);

}  // namespace ge::text
