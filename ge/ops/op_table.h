// OpTable: the operators of plugins for a graph, beside the built-in ones of op.h. Immutable once a
// graph names it (Graph::ops); any thread may read it.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ge/ops/op.h"

namespace ge {

class OpTable {
 public:
  // A copy of `text` with the table's lifetime, for the names of a record.
  const char* Keep(std::string_view text) { return texts_.emplace_back(text).c_str(); }
  // `plugin` is the path for refusals. INVALID_ARGUMENT where the operator is built in, or another
  // plugin brought it.
  Status Add(OpDef op, const std::string& plugin);
  const OpDef* Find(std::string_view domain, std::string_view name) const;  // null: not here
  const std::deque<OpDef>& all() const { return ops_; }

 private:
  std::deque<std::string> texts_;  // deques: addresses stay
  std::deque<OpDef> ops_;
  std::map<std::pair<std::string_view, std::string_view>, std::pair<const OpDef*, std::string>> at_;
};

}  // namespace ge
