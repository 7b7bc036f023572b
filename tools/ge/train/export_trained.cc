#include <fmt/format.h>

#include <cstring>
#include <map>

#include "frontend/load.h"
#include "frontend/onnx/export.h"
#include "ge/base/replace_file.h"
#include "tools/ge/train/trainer.h"

namespace ge::tool {
namespace {

Result<std::string> OnnxOf(const std::string& model, const std::string& entry,
                           const std::vector<Tensor>& states) {
  GE_ASSIGN_OR_RETURN(LoadedModel loaded, LoadModelFile(model, Format::kAuto));
  Graph& g = loaded.graph;
  std::map<std::string, const Tensor*> by_name;
  for (const Tensor& t : states) by_name[t.name] = &t;
  const Entry* of = entry.empty() ? &g.entries.front() : g.FindEntry(entry);
  if (of == nullptr) {
    return Status(Code::kInvalidArgument, fmt::format("the model has no entry '{}'", entry));
  }
  for (const Value& v : g.fn(of->fn).values) {
    if (!v.constant) continue;
    // What eval reads is what is given away: averages where there are some.
    auto found = by_name.find(v.name + ".ema");
    if (found == by_name.end()) found = by_name.find(v.name);
    if (found == by_name.end()) continue;
    Const& c = g.consts[v.constant];
    const TensorView& view = found->second->view;
    auto bytes = std::make_shared<std::vector<std::byte>>(view.bytes);
    std::memcpy(bytes->data(), view.data, view.bytes);
    c.data = bytes->data(), c.bytes = view.bytes, c.owner = bytes, c.mapped = false;
    c.splat.clear(), c.expanded = nullptr;
    c.external = {};
  }
  return ExportOnnx(g, of->name);
}

}  // namespace

Status ExportTrained(const std::string& model, const std::string& entry,
                     const std::vector<Tensor>& states, const std::string& to) {
  GE_ASSIGN_OR_RETURN(const std::string onnx, OnnxOf(model, entry, states));
  return ReplaceFile(to, onnx, false);
}

Status CheckExport(const std::string& model, const std::string& entry, const std::string& to) {
  GE_RETURN_IF_ERROR(CheckReplaceable(to));
  return OnnxOf(model, entry, {}).status();
}

}  // namespace ge::tool
