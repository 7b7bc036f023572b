// Defaults of attributes: the records (ge/ops/op.h) alone say what they are. Every node of an
// operator that has a record carries all of them from the moment its graph is loaded, so that
// engines, passes and rules read attributes and know no defaults. What people read and what is
// stored leaves them out again. Any thread may call.
#pragma once

#include "ge/ops/op.h"

namespace ge {

// Each adds what is missing behind the node's own attributes, in the record's order. Nothing is
// added to nodes of operators that have no record.
void FillDefaults(Node* node);                      // of a built-in operator
void FillDefaults(const Graph& graph, Node* node);  // a node of that graph, or to be
void FillDefaults(Graph* graph);

// Does the attribute say what its absence would say? Floats are compared by their bits: 0 and -0
// are two values.
bool IsDefault(const Node& node, const Attr& attr);
// The node's attributes without those, in its order.
std::vector<const Attr*> StatedAttrs(const Node& node);

}  // namespace ge
