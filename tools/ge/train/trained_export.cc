#include "tools/ge/train/trained_export.h"

#include <fmt/format.h>

#include <cstring>
#include <map>

#include "frontend/onnx/export.h"
#include "ge/base/replace_file.h"

namespace ge::tool {

Result<std::unique_ptr<TrainedExport>> TrainedExport::Open(const std::string& model,
                                                           const std::string& entry,
                                                           const std::string& to) {
  GE_RETURN_IF_ERROR(CheckReplaceable(to));
  auto made = std::make_unique<TrainedExport>();
  GE_ASSIGN_OR_RETURN(made->loaded_, LoadModelFile(model, Format::kAuto));
  const Graph& g = made->loaded_.graph;
  const Entry* of = entry.empty() ? &g.entries.front() : g.FindEntry(entry);
  if (of == nullptr) {
    return Status(Code::kInvalidArgument, fmt::format("the model has no entry '{}'", entry));
  }
  made->entry_ = of->name, made->to_ = to;
  GE_RETURN_IF_ERROR(ExportOnnx(g, made->entry_).status());
  return made;
}

Status TrainedExport::Write(const std::vector<Tensor>& states) {
  Graph& g = loaded_.graph;
  std::map<std::string, const Tensor*> by_name;
  for (const Tensor& t : states) by_name[t.name] = &t;
  for (const Value& v : g.fn(g.FindEntry(entry_)->fn).values) {
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
  GE_ASSIGN_OR_RETURN(const std::string onnx, ExportOnnx(g, entry_));
  return ReplaceFile(to_, onnx, false);
}

}  // namespace ge::tool
