// ShapeNeeds: the origins of the sizes of a function's values. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "ge/ge_plugin_pass.h"

namespace ge::grad {

struct Needs {
  std::set<size_t> params;  // their sizes or, of whole numbers, their contents
  bool data = false;        // computed data may change them
};

class ShapeNeeds {
 public:
  // params: values of the function's parameters.
  ShapeNeeds(const ge_graph* graph, const std::vector<uint32_t>& params);
  const Needs& Of(uint32_t value) const { return sizes_[value]; }

 private:
  void Through(const ge_node& n);

  const ge_graph* g_;
  std::vector<Needs> sizes_, content_;  // by value; content_ of whole numbers
};

}  // namespace ge::grad
