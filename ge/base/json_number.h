// WholeNumber: an unsigned number of a JSON file that this program may not have written.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <vector>

namespace ge {

// Throws what the JSON library throws where it is none; one too large is the greatest T. The
// library's own get<T>() converts any number, and that of a double outside T is undefined.
template <typename T>
T WholeNumber(const nlohmann::json& j) {
  static_assert(std::is_unsigned_v<T>);
  const auto number = j.get_ref<const nlohmann::json::number_unsigned_t&>();
  return static_cast<T>(std::min<uint64_t>(number, std::numeric_limits<T>::max()));
}

template <typename T>
std::vector<T> WholeNumbers(const nlohmann::json& list) {
  std::vector<T> out;
  for (const nlohmann::json& number : list) out.push_back(WholeNumber<T>(number));
  return out;
}

}  // namespace ge
