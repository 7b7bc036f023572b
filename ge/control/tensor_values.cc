#include "ge/control/tensor_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "ge/run/output_memory.h"

namespace ge {

FlowValue ValueOf(const TensorView& t) {
  FlowValue v;
  v.kind = FlowValue::Kind::kTensor, v.dtype = t.dtype, v.dims = t.dims;
  v.data = static_cast<const std::byte*>(t.data), v.bytes = t.bytes;
  return v;
}

Status CheckGiven(const Function& f, const std::string& entry, std::span<const TensorView> inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Type& type = f.value(f.params[i]).type;
    const auto bytes = ByteCount(TensorType(inputs[i].dtype, inputs[i].dims));
    if (!type.is_tensor() || !bytes || static_cast<uint64_t>(*bytes) != inputs[i].bytes ||
        (*bytes > 0 && inputs[i].data == nullptr)) {
      return Status(Code::kInvalidArgument,
                    fmt::format("input {} of entry '{}' has {} bytes, wanted {} and a buffer", i,
                                entry, inputs[i].bytes, bytes.value_or(0)));
    }
  }
  return {};
}

void AppendStates(const Graph& graph, std::span<const StateId> states,
                  std::span<const void* const> from, std::vector<FlowValue>* args) {
  for (size_t i = 0; i < states.size(); ++i) {
    const Type& type = graph.states[states[i]].type;
    args->push_back(ValueOf({type.dtype, type.static_dims(), const_cast<void*>(from[i]),
                             static_cast<uint64_t>(ByteCount(type).value_or(0))}));
  }
}

Status TakeStates(const Graph& graph, std::span<const StateId> states, std::span<void* const> to,
                  std::vector<FlowValue>* results) {
  const size_t own = results->size() - states.size();
  for (size_t i = 0; i < states.size(); ++i) {
    const State& state = graph.states[states[i]];
    const FlowValue& v = (*results)[own + i];
    const auto bytes = ByteCount(state.type);
    if (!v.is_tensor() || v.dtype != state.type.dtype ||
        v.dims.vector() != state.type.static_dims() || !bytes ||
        v.bytes != static_cast<uint64_t>(*bytes)) {
      return Status(
          Code::kInvalidArgument,
          fmt::format("state '{}' would become {}; it keeps its type", state.name, Describe(v)));
    }
    if (v.bytes > 0) std::memcpy(to[i], v.data, v.bytes);
  }
  results->resize(own);
  return {};
}

Status GiveOut(const Function& f, const std::vector<FlowValue>& results,
               std::span<const TensorView> inputs, std::span<TensorView> outputs) {
  OutputMemory memory;
  std::vector<Extent> extents;
  for (size_t i = 0; i < inputs.size(); ++i) {
    extents.push_back({inputs[i].data, inputs[i].bytes, f.value(f.params[i]).name, false});
  }
  for (size_t i = 0; i < results.size(); ++i) {
    const FlowValue& v = results[i];
    const std::string& name = f.value(f.results[i]).name;
    if (!v.is_tensor() || v.dtype == DType::kString) {
      return Status(Code::kUnsupported,
                    fmt::format("output '{}' is {}; only tensors of numbers are handed out", name,
                                Describe(v)));
    }
    if (outputs[i].data != nullptr) {
      extents.push_back({outputs[i].data, std::min(outputs[i].bytes, v.bytes), name, true});
    }
    outputs[i].dtype = v.dtype, outputs[i].dims = v.dims.vector();
    GE_RETURN_IF_ERROR(memory.Reserve("output", name, v.bytes, &outputs[i]));
  }
  GE_RETURN_IF_ERROR(CheckOverlap(extents));
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].bytes > 0) std::memcpy(outputs[i].data, results[i].data, results[i].bytes);
  }
  memory.Commit();
  return {};
}

}  // namespace ge
