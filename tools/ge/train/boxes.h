// Boxes: which part of a state of all ranks a rank has. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ge/base/status.h"

namespace ge::tool {

struct Box {  // by dim
  std::vector<int64_t> first, size;
  static Box Whole(const std::vector<int64_t>& dims);
  int64_t count() const;  // elements
  bool operator==(const Box&) const = default;
};

struct StateBox {
  std::vector<int64_t> dims;  // of all ranks' together
  Box box;
  bool first = true;  // of the ranks that have this box this is the first
  bool whole() const { return box == Box::Whole(dims); }
};
using StateBoxes = std::map<std::string, StateBox>;

// [[first, size], ...]
nlohmann::json BoxJson(const Box& box);
// Nothing where it is none of `dims`.
std::optional<Box> BoxOf(const nlohmann::json& j, const std::vector<int64_t>& dims);
// Sizes from 0 on; nothing else is taken.
std::optional<std::vector<int64_t>> DimsOf(const nlohmann::json& j);

// Of the metadata `parallel`, which the pass of that name leaves.
Result<StateBoxes> BoxesOfStates(const std::string& metadata);

// Copies the elements that both boxes have, each of so many bytes, from a dense tensor of the box
// `have` into one of the box `want`; nothing where `to` is null. How many they are.
int64_t CopyShared(const Box& have, const std::byte* from, const Box& want, std::byte* to,
                   uint64_t bytes);

}  // namespace ge::tool
