// If nodes with a known condition: replaces them by the branch taken. For passes and for cutting a
// function into pieces. Any thread may call; see Transaction for edits.
#pragma once

#include <optional>

#include "ge/ops/edit.h"

namespace ge {

bool IsBranch(const Node& node);  // If
// The content of a boolean value, from its constant or from INFER.
std::optional<bool> KnownTruth(const Graph& graph, const Value& value);
std::optional<bool> KnownCondition(const Graph& graph, FunctionId fn, const Node& branch);
// Puts the nodes of a branch in place of the If; adds the functions it named to `left`. False where
// the If stays.
bool TakeBranch(Transaction& transaction, FunctionId fn, const Node& branch, bool condition,
                std::vector<FunctionId>* left);

}  // namespace ge
