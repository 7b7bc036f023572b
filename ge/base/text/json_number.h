// Reads fields of a foreign JSON file by their exact kind: the conversions and loops of the JSON
// library accept many kinds for each other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <vector>

namespace ge {

// Throws as the JSON library does where it is no number; one too large gives the greatest T. The
// library's own get<T>() converts any number, undefined for a double outside T.
template <typename T>
T WholeNumber(const nlohmann::json& json) {
  static_assert(std::is_unsigned_v<T>);
  const auto number = json.get_ref<const nlohmann::json::number_unsigned_t&>();
  return static_cast<T>(std::min<uint64_t>(number, std::numeric_limits<T>::max()));
}

// The elements of a list or an object; throws as the JSON library throws where the field is none.
inline const nlohmann::json::array_t& ListOf(const nlohmann::json& json) {
  return json.get_ref<const nlohmann::json::array_t&>();
}
inline const nlohmann::json::object_t& FieldsOf(const nlohmann::json& json) {
  return json.get_ref<const nlohmann::json::object_t&>();
}

template <typename T>
std::vector<T> WholeNumbers(const nlohmann::json& list) {
  std::vector<T> out;
  for (const nlohmann::json& number : ListOf(list)) out.push_back(WholeNumber<T>(number));
  return out;
}

}  // namespace ge
