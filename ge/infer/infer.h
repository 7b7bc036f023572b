// INFER: dtypes and shapes of every value, to a fixed point, by the rules in ge/ops.
#pragma once

#include "ge/base/status.h"
#include "ge/ir/graph.h"

namespace ge {

// Runs over all functions. Declared types (from the file) are merged with inferred ones; a
// contradiction is INVALID_GRAPH naming both. Needs canonical opsets.
Status Infer(Graph* graph);
// The same where shapes are those of one run: one branch of an If may contradict them, since the
// run may take the other. What it gives then has the types of the other branch.
Status InferBound(Graph* graph);

// BIND: gives the entry's parameters static shapes (one per parameter, dims of unranked or
// symbolic params), substitutes the symbols they determine everywhere in the entry's function,
// drops previously inferred types of computed values and infers again.
// INVALID_ARGUMENT naming input, found and wanted shape.
Status Bind(Graph* graph, const std::string& entry,
            const std::vector<std::vector<int64_t>>& input_shapes);

}  // namespace ge
