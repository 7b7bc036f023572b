// Runs a node of a plugin's operator whose kernel sizes its own outputs. Thread-safe.
#pragma once

#include <span>
#include <vector>

#include "ge/control/value.h"
#include "ge/ir/graph.h"
#include "ge/ops/op.h"

namespace ge {

// `types` of the outputs. They lie in blocks of the pool. UNSUPPORTED where an input is no tensor
// of numbers, RESOURCE_EXHAUSTED or LIMIT_EXCEEDED where there is no room, else the kernel's own
// status.
Status RunDataSized(const OpDef& op, const Graph& graph, const Node& node,
                    std::span<const Type> types, std::span<const FlowValue* const> in,
                    FlowPool* pool, std::vector<FlowValue>* out);

}  // namespace ge
