// Finds units of several nodes: a convolution or product with its bias, activation and residual, a
// chain of pointwise nodes, a product with Transposes of its matrices, an engine's own groups
// (Operator::group). What passes/recognise makes
// one operator of is not looked for again. A value inside a unit has no reader outside it. The same
// nodes give the same units at query and at compile. Pure; any thread.
#pragma once

#include <vector>

#include "plugins/units/parser.h"

namespace ge_engines {

class Matcher {
 public:
  // allowed: nodes, ascending; others are never absorbed. All work and memory go with their number,
  // not with that of the graph: a segment of two nodes may be one of many thousands.
  Matcher(const Parser& parser, std::vector<uint32_t> allowed)
      : p_(parser), allowed_(std::move(allowed)), taken_(allowed_.size(), false) {}

  // Units that cover every allowed node that parses, in an order in which they can run.
  std::vector<Unit> Cover();
  // Nodes of each unit up to the operand that another node computes: where such a chain may end
  // when the operand's addition is better done elsewhere. Parallel to Cover's result; maybe empty.
  const std::vector<Ids>& prefixes() const { return prefixes_; }

  const Parser& parser() const { return p_; }
  // The only node that reads `value`, or UINT32_MAX when there are others or `value` leaves.
  uint32_t OnlyUser(uint32_t value) const;
  // Whether the node is one of that operator which may be taken and is in no unit yet.
  bool IsFree(uint32_t node, const char* op) const;

 private:
  // The engine's group that ends in allowed_[i], if none of its nodes is taken.
  bool Group(size_t i, Unit* unit) const;
  void Extend(Unit* unit);
  bool Step(Unit* unit);
  bool Append(Unit* unit, uint32_t node);
  bool Diamond(Unit* unit, uint32_t first, uint32_t second);
  void CastOf(Unit* unit);
  bool Bias(Unit* unit, const PostOp& post) const;
  bool Users(uint32_t given, Ids* out) const;
  // Place among the allowed nodes; their number for another node.
  size_t At(uint32_t node) const;
  bool Free(uint32_t node) const {
    const size_t at = At(node);
    return at < allowed_.size() && !taken_[at];
  }
  const Parser& p_;
  std::vector<uint32_t> allowed_;  // ascending
  std::vector<bool> taken_;        // parallel to it
  std::vector<Ids> prefixes_;
  Ids prefix_;
};

}  // namespace ge_engines
