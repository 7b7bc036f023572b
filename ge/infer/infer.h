// INFER: dtypes and shapes of every value, to a fixed point, by the rules in ge/ops.
#pragma once

#include <map>

#include "ge/base/status.h"
#include "ge/ir/graph.h"

namespace ge {

// Runs over all functions. Declared types (from the file) are merged with inferred ones; a
// contradiction is INVALID_GRAPH naming both. In a branch of an If it is none: a run may take the
// other, whose types then count; taking this one is refused. Needs canonical opsets.
Status Infer(Graph* graph);
// The same for a graph inferred before, with other sizes of some parameters: operators, attributes
// and dtypes are known to fit.
Status InferAgain(Graph* graph);

// BIND: gives the entry's parameters static shapes (one per parameter, dims of unranked or
// symbolic params), substitutes the symbols they determine everywhere in the entry's function,
// drops previously inferred types of computed values and infers again. `sizes` are symbols that no
// input tells.
// INVALID_ARGUMENT naming input, found and wanted shape.
Status Bind(Graph* graph, const std::string& entry,
            const std::vector<std::vector<int64_t>>& input_shapes,
            const std::map<SymbolId, int64_t>& sizes = {});

// The same with some sizes left open: a size of kOpenSize stays as the model declares it, and sizes
// derived from it stay symbolic. INVALID_ARGUMENT as above, and where the model does not give the
// rank of such an input.
inline constexpr int64_t kOpenSize = -1;
Status BindInPart(Graph* graph, const std::string& entry,
                  const std::vector<std::vector<int64_t>>& input_shapes);

// BIND in the graph itself, when a bind to other sizes is wanted next: computed values get
// the types of these shapes, for any former sizes, and nothing is substituted. For an
// inferred graph without effects, with symbols in types alone. Before it binds again, the
// caller gives parameters their declared types back. Errors as of Bind; types are then of no
// use.
Status BindInPlace(Graph* graph, const Entry& entry,
                   const std::vector<std::vector<int64_t>>& input_shapes);

// Infers one node without bodies from the types of its inputs; merges the types of its outputs.
Status InferNode(Graph* graph, FunctionId fn, size_t node);

}  // namespace ge
