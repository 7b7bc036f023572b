#include "frontend/save.h"

#include <fmt/format.h>

#include "frontend/onnx/export.h"
#include "frontend/proto/proto.h"
#include "frontend/text/text.h"
#include "ge/base/replace_file.h"
#include "ge/ops/edit.h"
#include "ge/ops/op.h"

namespace ge {
namespace {

// The operator, where ONNX has none of it but its parts.
const OpDef* OwnWithParts(const Graph& graph, const Node& node) {
  const OpDef* op = node.effects.empty() && node.callees.empty() ? FindOp(graph, node) : nullptr;
  const bool own = op && op->decompose && (node.domain == "ge" || op->of_plugin);
  return own ? op : nullptr;
}

// False where this node's attributes or types leave it no parts.
bool TakeApart(Transaction* t, FunctionId fn, NodeId id) {
  const Node node = *t->NodeOf(fn, id);
  const std::vector<ValueId> made = OwnWithParts(t->graph(), node)->decompose(*t, fn, node);
  if (made.size() != node.outputs.size()) return false;
  for (size_t i = 0; i < made.size(); ++i) {
    const ValueId from = node.outputs[i];
    ValueId to = made[i];
    if (from == 0) continue;
    if (!t->CanReplace(fn, from, to)) {  // both have names that stay
      const Type type = t->graph().fn(fn).value(from).type;
      to = t->AddNode(fn, id, "", "Identity", {to}, {}, {type}, {&node})[0];
    }
    t->ReplaceUses(fn, from, to);
  }
  t->Erase(fn, id);
  return true;
}

// Operators of ours and of plugins become their parts, and these theirs, as far as they have any.
void TakeOwnApart(Graph* graph) {
  constexpr int kMostRounds = 8;  // a plugin's operator may become itself
  graph->opsets.emplace("", kCanonicalOpset);
  bool any = true;
  for (int round = 0; any && round < kMostRounds; ++round) {
    any = false;
    Transaction t(graph, "save");
    for (FunctionId fn = 1; fn < graph->functions.size(); ++fn) {
      std::vector<NodeId> own;
      for (const Node& n : graph->fn(fn).nodes) {
        if (OwnWithParts(*graph, n)) own.push_back(n.id);
      }
      for (const NodeId id : own) any |= TakeApart(&t, fn, id);
    }
  }
  Compact(graph);  // what a rule without an answer has left
}

Result<std::string> Onnx(Graph graph) {
  if (graph.entries.size() != 1) {
    std::string names;
    for (const Entry& e : graph.entries) names += (names.empty() ? "'" : ", '") + e.name + "'";
    return Status(Code::kInvalidArgument,
                  fmt::format("an ONNX file holds one entry, the graph has {}: {}; write each from "
                              "a graph of its own, or all as text or proto",
                              graph.entries.size(), names));
  }
  TakeOwnApart(&graph);
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
