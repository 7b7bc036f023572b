// A list in one text whose items may hold its separators between quotes: wrt='a,b',steps=3. A quote
// is ' or "; between a pair of them every byte but the same quote stands for itself.
#pragma once

#include <string_view>
#include <vector>

#include "ge/base/status.h"

namespace ge {

// The items between `separator`s outside of quotes, quotes and all; "" has none, and an empty last
// one is left out. INVALID_ARGUMENT: a quote without its end.
Result<std::vector<std::string_view>> SplitQuoted(std::string_view list, char separator);

// Without the quotes around it, where the whole text stands between a pair of them.
std::string_view Unquoted(std::string_view text);

}  // namespace ge
