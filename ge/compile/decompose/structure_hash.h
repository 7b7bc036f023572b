// StructureHash: tells functions and nodes of different structure apart. A collision costs only
// time: a cover that does not fit is not taken. Values; one thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "ge/base/word_hash.h"
#include "ge/ir/graph.h"

namespace ge {

class StructureHash : public WordHash {
 public:
  using WordHash::Add;
  void Add(std::string_view text) {
    Add(text.size());
    for (const char c : text) Add(static_cast<unsigned char>(c));
  }
  void AddAttr(const Attr& attr);
  // Adds whether it is constant, its element type and its dims, each dim as at most `most`.
  void AddType(const Value& value, int64_t most);

 private:
  void AddBits(double x);
};

// Equal for nodes of a function with the same operator, attributes, types and constants.
uint64_t KeyOfNode(const Function& function, const Node& n);

}  // namespace ge
