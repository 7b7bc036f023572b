// If nodes whose condition is known, and the branch that they take in their place. For passes and
// for whoever cuts a function into pieces. Any thread may call; see Transaction for edits.
#pragma once

#include <optional>

#include "ge/ops/edit.h"

namespace ge {

bool IsBranch(const Node& node);  // If
// What a value holds, by a constant or by what INFER knows.
std::optional<bool> KnownTruth(const Graph& graph, const Value& value);
std::optional<bool> KnownCondition(const Graph& graph, FunctionId fn, const Node& branch);
// Puts the nodes of a branch in place of the If; functions that it named are added to `left`. False
// where the If stays.
bool TakeBranch(Transaction& transaction, FunctionId fn, const Node& branch, bool condition,
                std::vector<FunctionId>* left);

}  // namespace ge
