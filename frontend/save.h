// SAVE: a Graph -> a file of a format that LOAD reads. Any thread may call; the graph is only read.
#pragma once

#include <string>

#include "frontend/load.h"
#include "ge/base/status.h"
#include "ge/ir/graph.h"

namespace ge {

// kText, kProto or kOnnx; the file is replaced whole. The graph is verified and typed. ONNX holds
// one entry: INVALID_ARGUMENT with their names where the graph has more. Operators of domain ge and
// of plugins become their parts there; what has none ExportOnnx refuses by its name.
Status SaveModel(const Graph& graph, const std::string& path, Format format);

}  // namespace ge
