// Defaults of attributes; the records (ge/ops/op.h) alone define them. From the moment its graph
// is loaded, a node with a record carries all of them, so engines, passes and rules read
// attributes and know no defaults. Printed and stored forms leave them out again. Any thread may
// call.
#pragma once

#include "ge/ops/op.h"

namespace ge {

// Each appends the missing attributes to the node's own, in the record's order. Adds nothing to
// nodes of operators without a record.
void FillDefaults(Node* node);                      // of a built-in operator
void FillDefaults(const Graph& graph, Node* node);  // a node of that graph, or to be
void FillDefaults(Graph* graph);

// Whether the attribute equals its default. Floats are compared by their bits: 0 and -0 are two
// values.
bool IsDefault(const Node& node, const Attr& attr);
// The node's attributes without defaults, in its order.
std::vector<const Attr*> StatedAttrs(const Node& node);

}  // namespace ge
