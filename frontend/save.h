// SAVE: a Graph -> a file of a format that LOAD reads. Any thread may call; the graph is only read.
#pragma once

#include <string>

#include "frontend/load.h"
#include "ge/base/status.h"
#include "ge/ir/graph.h"

namespace ge {

// kText, kProto or kOnnx; the file is replaced whole. ONNX holds one entry: INVALID_ARGUMENT with
// their names where the graph has more, and what ExportOnnx refuses.
Status SaveModel(const Graph& graph, const std::string& path, Format format);

}  // namespace ge
