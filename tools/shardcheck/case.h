// ShardCase: one line of tools/shardcheck/cases/*, a node and the ways in which its rule splits it
// over two shares. The README there describes a line.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ge/engine/view.h"
#include "passes/parallel/rules.h"
#include "tools/adcheck/case.h"

namespace ge::shardcheck {

struct ShardCase {
  adcheck::Case node;
  std::string name;               // of the operator, with its domain
  std::vector<std::string> ways;  // stated, as TextOf gives them
};

// Every case of a folder; DATA_CORRUPT names file and line.
Result<std::vector<ShardCase>> ReadShardCases(const std::string& folder);

// "0,- -> 0", "1,0 -> +"
std::string TextOf(const parallel::Way& way);

// A case as rules see it. One thread.
class CaseView {
 public:
  static Result<std::unique_ptr<CaseView>> Make(const ShardCase& c);
  const ge_graph* graph() const { return view_->get(); }
  const ge_node& node() const { return *GE_NODE(graph(), 0); }
  std::vector<int64_t> InDims(size_t i) const;
  std::vector<int64_t> OutDims(size_t i) const;
  // All ways over so many shares, of terms too.
  std::vector<parallel::Way> Ways(int64_t shares, const parallel::Change& change = nullptr) const;
  // The rule's text for this node; empty where it has none.
  std::string RuleText() const;
  bool known() const { return parallel::SplitOf(graph(), node(), 2).known; }
  bool of_shape() const { return parallel::SplitOf(graph(), node(), 2).of_shape; }

 private:
  Graph graph_;
  std::unique_ptr<GraphView> view_;
};

}  // namespace ge::shardcheck
