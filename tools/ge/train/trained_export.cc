#include "tools/ge/train/trained_export.h"

#include <fmt/format.h>

#include "frontend/onnx/export.h"
#include "ge/base/replace_file.h"
#include "tools/ge/train/inference_form.h"

namespace ge::tool {

Result<std::unique_ptr<TrainedExport>> TrainedExport::Open(const std::string& model,
                                                           const std::string& entry,
                                                           const std::string& to) {
  GE_RETURN_IF_ERROR(CheckReplaceable(to));
  auto made = std::make_unique<TrainedExport>();
  GE_ASSIGN_OR_RETURN(made->loaded_, LoadModelFile(model, Format::kAuto));
  Graph& g = made->loaded_.graph;
  const Entry* of = entry.empty() ? &g.entries.front() : g.FindEntry(entry);
  if (of == nullptr) {
    return Status(Code::kInvalidArgument, fmt::format("the model has no entry '{}'", entry));
  }
  made->entry_ = of->name;
  made->to_ = to;
  GE_RETURN_IF_ERROR(ToInferenceForm({}, &g, of->fn));
  GE_RETURN_IF_ERROR(ExportOnnx(g, made->entry_).status());
  return made;
}

Status TrainedExport::Write(const std::vector<Tensor>& states) {
  Graph& g = loaded_.graph;
  StatesByName by_name;
  for (const Tensor& t : states) by_name[t.name] = &t;
  const FunctionId fn = g.FindEntry(entry_)->fn;
  GE_RETURN_IF_ERROR(ToInferenceForm(by_name, &g, fn));
  for (const Value& v : g.fn(fn).values) {
    // What eval reads is what is given away: averages where there are some.
    const Tensor* state = v.constant ? StateOf(by_name, v.name) : nullptr;
    if (state != nullptr) PutState(*state, &g.consts[v.constant]);
  }
  GE_ASSIGN_OR_RETURN(const std::string onnx, ExportOnnx(g, entry_));
  return ReplaceFile(to_, onnx, false);
}

}  // namespace ge::tool
