// Matcher finds units of several nodes: a convolution or product with bias, activation and
// residual, a chain of pointwise nodes, a product with Transposes of its matrices, an engine's own
// groups (Operator::group). It does not search for operators that passes/recognise makes. Only the
// unit itself reads its inner values. The same nodes give the same units at query and at compile.
// Pure; any thread.
#pragma once

#include <vector>

#include "plugins/units/parser.h"

namespace ge_engines {

class Matcher {
 public:
  // allowed: nodes, ascending; the matcher absorbs no others. Work and memory grow with their
  // number, not with the graph's: a segment of two nodes may be one of many thousands.
  Matcher(const Parser& parser, std::vector<uint32_t> allowed)
      : p_(parser), allowed_(std::move(allowed)), taken_(allowed_.size(), false) {}

  // Units for all allowed nodes with a parse rule, in an order of execution.
  std::vector<Unit> Cover();
  // Nodes of each unit before the first operand from another node: such a chain may end there if
  // adding the operand is cheaper elsewhere. Parallel to Cover's result; maybe empty.
  const std::vector<Ids>& prefixes() const { return prefixes_; }

  const Parser& parser() const { return p_; }
  // The only node that reads `value`; UINT32_MAX if others read it or it is an output.
  uint32_t OnlyUser(uint32_t value) const;
  // Whether the node is an allowed `op` and in no unit yet.
  bool IsFree(uint32_t node, const char* op) const;

 private:
  // Sets *unit to the engine's group that ends in allowed_[i], if all its nodes are free.
  bool Group(size_t i, Unit* unit) const;
  void Extend(Unit* unit);
  bool Step(Unit* unit);
  bool Append(Unit* unit, uint32_t node);
  bool Diamond(Unit* unit, uint32_t first, uint32_t second);
  void CastOf(Unit* unit);
  bool Bias(Unit* unit, const PostOp& post) const;
  bool Users(uint32_t given, Ids* out) const;
  // Index among the allowed nodes; their number for any other node.
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
