#include "frontend/save.h"

#include <fmt/format.h>

#include "frontend/onnx/export.h"
#include "frontend/proto/proto.h"
#include "frontend/text/text.h"
#include "ge/base/replace_file.h"

namespace ge {
namespace {

Result<std::string> Onnx(const Graph& graph) {
  if (graph.entries.size() != 1) {
    std::string names;
    for (const Entry& e : graph.entries) names += (names.empty() ? "'" : ", '") + e.name + "'";
    return Status(Code::kInvalidArgument,
                  fmt::format("an ONNX file holds one entry, the graph has {}: {}; write each from "
                              "a graph of its own, or all as text or proto",
                              graph.entries.size(), names));
  }
  return ExportOnnx(graph, graph.entries[0].name);
}

Result<std::string> BytesOf(const Graph& graph, Format format) {
  if (format == Format::kText) return PrintText(graph);
  return format == Format::kProto ? WriteProto(graph) : Onnx(graph);
}

}  // namespace

Status SaveModel(const Graph& graph, const std::string& path, Format format) {
  GE_ASSIGN_OR_RETURN(const std::string bytes, BytesOf(graph, format));
  return ReplaceFile(path, bytes, true);
}

}  // namespace ge
