// ExportOnnx: Graph -> bytes of an ONNX model for other tools. The inverse of ImportOnnx
// for graphs of standard operators: bodies get their captured names back, calls of
// functions are inlined. The opset is the original model's, or the oldest later one at
// which every operator has its present form. Any thread may call; the graph is only
// read.
#pragma once

#include <string>
#include <string_view>

#include "ge/base/status.h"
#include "ge/ir/graph.h"

namespace ge {

// The model of one entry. UNSUPPORTED, naming the node or the value, for anything without an ONNX
// form: states, effects, operators of the ge domain, recursive functions (with the circle).
// LIMIT_EXCEEDED beyond 2 GiB, since a protobuf reader takes no more.
Result<std::string> ExportOnnx(const Graph& graph, std::string_view entry);

}  // namespace ge
