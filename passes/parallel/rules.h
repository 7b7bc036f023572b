// Rules: how operators split over the ranks along one axis of a mesh. rules.def is the table; what
// its lines cannot say is code of rules/. Pure; any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ge/ge_plugin.h"
#include "passes/parallel/factors.h"

namespace ge::parallel {

// Where every size is known. Dims of an absent value: none.
std::vector<int64_t> DimsOf(const ge_graph* graph, uint32_t value);

// Which inputs of an operator may be terms of a sum, its output being then a term of the result.
enum class Terms {
  kNone,
  kAll,    // all inputs
  kFirst,  // the first; the others are whole
  kOne,    // one of them; the others are whole
  // In a line alone: kFirst for floating numbers, kNone for others.
  kQuotient,
};

// "acme.Scale 'name'", for people.
std::string NodeText(const ge_node& node);

struct Split {
  bool known = false;  // there is a rule for the operator
  // The output follows from shapes alone: every rank makes the whole without reading the input.
  bool of_shape = false;
  Terms terms = Terms::kNone;
  std::vector<Way> ways;  // by factor
};
// Of a node of a picture where all sizes are known, over so many shares.
Split SplitOf(const ge_graph* graph, const ge_node& node, int64_t shares);
// Of the nodes of one step: that, or what plugins say of operators of their own, too (stated.h).
using Rules = std::function<Split(const ge_node& node, int64_t shares)>;
// The ways in which it makes a term of its result from terms.
std::vector<Way> WaysOfTerms(const ge_node& node, Terms terms);

// For ge-shardcheck: the rules, as Op and domain.Op, and SplitOf by a text that is changed.
std::vector<std::string> RuleNames();
using Change = std::function<std::string(std::string text)>;
Split SplitOf(const ge_graph* graph, const ge_node& node, int64_t shares, const Change& change);

}  // namespace ge::parallel
