// Dims of one name that inputs show at two sizes. ONNX means one size by one name, but exporters
// give unlike free axes one name. TellApart makes the model that was meant: each axis of the
// entries' inputs has a dim of its own. Pure functions of their arguments.
#pragma once

#include <set>
#include <span>
#include <vector>

#include "ge/ir/graph.h"
#include "ge/run/tensor_view.h"

namespace ge {

// Symbols that stand for an axis of two inputs, or for two axes of one, at different sizes.
std::set<SymbolId> DimsOfTwoSizes(const Graph& graph, const Entry& entry,
                                  std::span<const TensorView> inputs);

// Gives each axis of every entry's inputs that is one of `symbols` a fresh symbol, and drops
// declared shapes of computed values that name one. `graph` is as loaded, not inferred.
void TellApart(Graph* graph, const std::set<SymbolId>& symbols);

// "'N'" or "'N', 'M'".
std::string DimNames(const Graph& graph, const std::set<SymbolId>& symbols);

}  // namespace ge
