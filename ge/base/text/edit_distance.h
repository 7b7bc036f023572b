// How many letters two names differ by, for "did you mean". A function; any thread may call.
#pragma once

#include <cstddef>
#include <string_view>

namespace ge {

// Letters to change, add or take out (Levenshtein), ignoring case; only the first 64 letters of a
// name count.
size_t EditDistance(std::string_view left, std::string_view right);

}  // namespace ge
