// ExportOnnx: Graph -> bytes of an ONNX model that other tools open. The inverse of ImportOnnx for
// graphs of standard operators: bodies get their captured names back, calls of functions are
// written out at the place of the call. Written at the opset of the model that it came from, or the
// oldest later one at which every operator has its present form. Any thread may call; the graph is
// only read.
#pragma once

#include <string>
#include <string_view>

#include "ge/base/status.h"
#include "ge/ir/graph.h"

namespace ge {

// The model of one entry. UNSUPPORTED, naming the node or the value, for what ONNX has no form for:
// states, effects, operators of the ge domain, functions that call themselves (with the circle).
// LIMIT_EXCEEDED beyond 2 GiB, which a protobuf reader would not take.
Result<std::string> ExportOnnx(const Graph& graph, std::string_view entry);

}  // namespace ge
