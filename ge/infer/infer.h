// INFER: dtypes and shapes of every value, to a fixed point, by the rules in ge/ops.
#pragma once

#include <map>

#include "ge/base/status.h"
#include "ge/ir/graph.h"

namespace ge {

// Runs over all functions. Declared types (from the file) are merged with inferred ones; a
// contradiction is INVALID_GRAPH naming both, but in one branch of an If: a run may take the other,
// whose types then count, and is refused when it does take it. Needs canonical opsets.
Status Infer(Graph* graph);
// The same for a graph that was inferred before and of which parameters have other sizes now: of
// operators, attributes and dtypes it is known that they fit.
Status InferAgain(Graph* graph);

// BIND: gives the entry's parameters static shapes (one per parameter, dims of unranked or
// symbolic params), substitutes the symbols they determine everywhere in the entry's function,
// drops previously inferred types of computed values and infers again. `sizes` are symbols that no
// input tells.
// INVALID_ARGUMENT naming input, found and wanted shape.
Status Bind(Graph* graph, const std::string& entry,
            const std::vector<std::vector<int64_t>>& input_shapes,
            const std::map<SymbolId, int64_t>& sizes = {});

// The same where some sizes stay open: those that are kOpenSize keep what the model says of them,
// and what follows from them stays symbolic. INVALID_ARGUMENT as above, and where the model does
// not say how many axes such an input has.
inline constexpr int64_t kOpenSize = -1;
Status BindInPart(Graph* graph, const std::string& entry,
                  const std::vector<std::vector<int64_t>>& input_shapes);

// BIND in the graph itself, for one of which a bind to other sizes is wanted next: computed values
// get the types of these shapes, whatever sizes they had, and nothing is substituted. For a graph
// that was inferred, whose types alone name symbols, without effects. The caller gives parameters
// the types back that they were declared with before it binds again. Errors as of Bind; types are
// then of no use.
Status BindInPlace(Graph* graph, const Entry& entry,
                   const std::vector<std::vector<int64_t>>& input_shapes);

// One node without bodies, by the types of its inputs; those of its outputs are merged.
Status InferNode(Graph* graph, FunctionId fn, size_t node);

}  // namespace ge
