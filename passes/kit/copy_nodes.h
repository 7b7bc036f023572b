// CopyNodes: copies nodes of a picture into another function. Values not set stand for constants,
// which are copied when read. One thread.
#pragma once

#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "passes/kit/fn.h"

namespace ge::passes {

// Random numbers without a seed follow from the name or the position of the drawing node: a copy
// draws others. Answers the first such node that `n` is or runs, for people; "" = none.
std::string DrawsAnew(const ge_edit* edit, const ge_node& n);

class CopyNodes {
 public:
  // before: a node of `to`, 0 = at its end.
  CopyNodes(const ge_graph* from, Fn& to, uint32_t before = 0)
      : from_(from), to_(to), before_(before) {}
  void Set(uint32_t value, Val val) { at_[value] = val; }
  // Of the same function: the value itself, constants too.
  void Share(uint32_t value) { Set(value, to_.At(value)); }
  // Copies independent of other copies come behind this node of `to`.
  void After(uint32_t node) { after_ = node; }
  // Copies have the names of the nodes, or these with a number where another node of `to` has one.
  // names: of the nodes of `to`; new ones are added.
  void KeepNames(std::set<std::string>* names) { names_ = names; }
  Val Get(uint32_t value);
  void Put(const ge_node& n);

 private:
  std::string NewName(const ge_node& n);

  const ge_graph* from_;
  Fn& to_;
  const uint32_t before_;
  uint32_t after_ = 0;
  std::set<std::string>* names_ = nullptr;
  std::unordered_set<uint32_t> made_;
  std::unordered_map<uint32_t, uint32_t> nodes_;  // ids of copies by those of the nodes
  std::unordered_map<uint32_t, Val> at_;
};

}  // namespace ge::passes
