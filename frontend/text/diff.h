// Structural comparison of two Graphs: equal up to the numbers of values and of expressions.
// It compares everything that both forms (.gt and proto) must carry; payloads by their bytes.
// It ignores values without a node, parameter or result naming them, and contents derived by
// INFER (Value::ints). An attribute equal to its default counts as absent. Any thread may
// call.
#pragma once

#include <string>

#include "ge/ir/graph.h"

namespace ge {

// Empty when equal, else the first difference in words: "function 'f': node 3: op: Conv, Relu".
std::string DiffGraphs(const Graph& left, const Graph& right);

}  // namespace ge
