// Nearest: for refusals, what a word that nobody knows was meant for. A function; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ge::data {

// "; did you mean 'width'?", or "" where no name is near: by letters to change, add or take out,
// without case, or where one begins with the other.
std::string Nearest(std::string_view word, const std::vector<std::string>& names);

}  // namespace ge::data
