// The rules of VERIFY, grouped by subject; Verify calls each of them. Private to ge/verify. All of
// them only read, and none recurses over the graph.
#pragma once

#include <string>
#include <utility>

#include "ge/base/status.h"
#include "ge/ir/graph.h"
#include "ge/verify/verify.h"

namespace ge::verify {

Status Bad(std::string message);    // INVALID_GRAPH
Status Limit(std::string message);  // LIMIT_EXCEEDED

// The same failure of this node. A label takes memory: only failing nodes get one.
inline Status At(const Node& node, Status status) {
  return status.ok() ? std::move(status) : std::move(status).AtNode(NodeLabel(node));
}

// The place of a type decides the kinds it may have.
enum class TypeSite { kBoundary, kDerived, kInside };

// Well-formed type: dtype numbers, dims, rank, container arity, nesting, Func, Pack, Zero.
// `what` names the bearer ("value 'x' of function 'main'").
Status CheckType(const Graph& graph, const Type& type, TypeSite site, const VerifyLimits& limits,
                 const std::string& what);
// Payload against type, for constants 1..; states with their initial values; symbols.
Status CheckConstants(const Graph& graph, const VerifyLimits& limits);
Status CheckStates(const Graph& graph, const VerifyLimits& limits);
Status CheckSymbols(const Graph& graph);
// One function alone: values, single assignment, order, attributes, effects, `after` edges.
Status CheckFunction(const Graph& graph, const Function& function, bool is_entry,
                     const VerifyLimits& limits);
// Between functions: callee ids, signatures, recursion, depth.
Status CheckCalls(const Graph& graph, const VerifyLimits& limits);
// Functions that ge.Gradient names: they write no state and do not hold the node. Callee ids are
// good.
Status CheckGradients(const Graph& graph);

}  // namespace ge::verify
