#include "ge/compile/compiled/check_buffers.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "ge/run/output_memory.h"
#include "ge/run/tensor_view.h"

namespace ge {
namespace {

Status CheckSize(const char* what, const Compiled::Port& port, const TensorView& t, bool exact) {
  bool fits = exact ? t.bytes == port.bytes : t.bytes >= port.bytes;
  if (!fits) {
    return Status(Code::kInvalidArgument,
                  fmt::format("{} '{}' has {} bytes, its shape needs {}{}", what, port.name,
                              t.bytes, exact ? "" : "at least ", port.bytes));
  }
  if (port.bytes > 0 && !t.data) {
    return Status(
        Code::kInvalidArgument,
        fmt::format("{} '{}' has no data; give a buffer of {} bytes", what, port.name, port.bytes));
  }
  return {};
}

}  // namespace

Result<const Entry*> EntryOf(const Graph& graph, std::string_view name) {
  if (name.empty() && !graph.entries.empty()) return &graph.entries[0];
  if (const Entry* entry = graph.FindEntry(name)) return entry;
  std::string names;
  for (const Entry& e : graph.entries) names += (names.empty() ? "" : ", ") + e.name;
  return Status(Code::kInvalidArgument, fmt::format("there is no entry '{}'; the model has: {}",
                                                    name, names.empty() ? "none" : names));
}

Status CheckInputs(const Graph& graph, const Entry& entry, std::span<const TensorView> inputs) {
  const Function& f = graph.fn(entry.fn);
  if (inputs.size() != f.params.size()) {
    return Status(Code::kInvalidArgument, fmt::format("entry '{}' takes {} inputs, {} were given",
                                                      entry.name, f.params.size(), inputs.size()));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value& param = f.value(f.params[i]);
    if (inputs[i].dtype != param.type.dtype) {
      return Status(Code::kInvalidArgument,
                    fmt::format("input '{}' is {}, the model wants {}; convert it", param.name,
                                DTypeName(inputs[i].dtype), DTypeName(param.type.dtype)));
    }
  }
  return {};
}

Status CheckBuffers(const Compiled& compiled, std::span<const TensorView> inputs,
                    std::span<const TensorView> outputs) {
  if (outputs.size() != compiled.outputs.size()) {
    return Status(Code::kInvalidArgument,
                  fmt::format("entry '{}' has {} outputs, {} were given", compiled.plan.entry,
                              compiled.outputs.size(), outputs.size()));
  }
  thread_local std::vector<Extent> extents;
  extents.clear();
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Compiled::Port& port = compiled.inputs[i];
    if (inputs[i].dtype != port.dtype) {
      return Status(Code::kInvalidArgument,
                    fmt::format("input '{}' is {}, the model wants {}; convert it", port.name,
                                DTypeName(inputs[i].dtype), DTypeName(port.dtype)));
    }
    GE_RETURN_IF_ERROR(CheckSize("input", port, inputs[i], true));
    extents.push_back({inputs[i].data, inputs[i].bytes, port.name, false});
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].data) continue;
    const Compiled::Port& port = compiled.outputs[i];
    if (!outputs[i].owned) GE_RETURN_IF_ERROR(CheckSize("output", port, outputs[i], false));
    extents.push_back({outputs[i].data, std::min(outputs[i].bytes, port.bytes), port.name, true});
  }
  return CheckOverlap(extents);
}

Status CheckAllBuffers(const Compiled& compiled, std::span<const TensorView> inputs,
                       std::span<const TensorView> outputs) {
  if (inputs.size() != compiled.inputs.size()) {
    return Status(Code::kInvalidArgument, fmt::format("the plan takes {} inputs, {} were given",
                                                      compiled.inputs.size(), inputs.size()));
  }
  GE_RETURN_IF_ERROR(CheckBuffers(compiled, inputs, outputs));
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].data || compiled.outputs[i].bytes == 0) continue;
    return Status(Code::kInvalidArgument,
                  fmt::format("output '{}' has no data; give a buffer of {} bytes",
                              compiled.outputs[i].name, compiled.outputs[i].bytes));
  }
  return {};
}

}  // namespace ge
