// Structural comparison of two Graphs: equal up to the numbers of values and of expressions.
// It compares what both forms (.gt and proto) must carry; payloads by their bytes. Values that no
// node, parameter or result names are ignored, and so is what INFER derives (Value::ints). An
// attribute that equals its default is as good as absent.
// Any thread may call.
#pragma once

#include <string>

#include "ge/ir/graph.h"

namespace ge {

// Empty when equal, else the first difference in words: "function 'f': node 3: op: Conv, Relu".
std::string DiffGraphs(const Graph& left, const Graph& right);

}  // namespace ge
