#include "ge/control/tensor_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "ge/run/output_memory.h"

namespace ge {

FlowValue ValueOf(const TensorView& view) {
  FlowValue v;
  v.kind = FlowValue::Kind::kTensor;
  v.dtype = view.dtype;
  v.dims = view.dims;
  v.data = static_cast<const std::byte*>(view.data);
  v.bytes = view.bytes;
  return v;
}

Status CheckGiven(const Function& function, const std::string& entry,
                  std::span<const TensorView> inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Type& type = function.value(function.params[i]).type;
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

namespace {

// What may be a value of what is declared as `t`.
bool Fits(const FlowValue& v, const Type& t) {
  switch (t.kind) {
    case TypeKind::kTensor: {
      if (!v.is_tensor() || v.dtype != t.dtype) return false;
      if (!t.ranked) return true;
      if (v.dims.size() != t.dims.size()) return false;
      for (size_t i = 0; i < t.dims.size(); ++i) {
        if (t.dims[i].known() && t.dims[i].value != v.dims[i]) return false;
      }
      return true;
    }
    case TypeKind::kSequence:
      return v.kind == FlowValue::Kind::kSequence &&
             std::all_of(v.elements->begin(), v.elements->end(),
                         [&](const FlowValue& e) { return Fits(e, t.elems[0]); });
    case TypeKind::kOptional:
      return v.kind == FlowValue::Kind::kNone || Fits(v, t.elems[0]);
    case TypeKind::kMap:
      return v.kind == FlowValue::Kind::kMap && v.dtype == t.dtype &&
             (*v.elements)[1].dtype == t.elems[0].dtype;
    default:
      return false;
  }
}

}  // namespace

Status CheckValues(const Graph& graph, const Entry& entry, std::span<const FlowValue> values) {
  const Function& f = graph.fn(entry.fn);
  if (values.size() != f.params.size()) {
    return Status(Code::kInvalidArgument, fmt::format("entry '{}' takes {} inputs, {} were given",
                                                      entry.name, f.params.size(), values.size()));
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const Value& param = f.value(f.params[i]);
    if (Fits(values[i], param.type)) continue;
    return Status(Code::kInvalidArgument,
                  fmt::format("input '{}' is {}, the model wants {}", param.name,
                              Describe(values[i]), TypeToString(param.type, graph.dims)));
  }
  return {};
}

bool TensorsOf(const Function& function, std::span<const FlowValue> values,
               std::vector<TensorView>* views) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (!function.value(function.params[i]).type.is_tensor()) return false;
    views->push_back({values[i].dtype, values[i].dims.vector(), nullptr, 0});
  }
  return true;
}

Status OwnValue(FlowValue* value) {
  if (value->elements) {
    std::vector<FlowValue> elements = *value->elements;
    for (FlowValue& e : elements) GE_RETURN_IF_ERROR(OwnValue(&e));
    value->elements = std::make_shared<const std::vector<FlowValue>>(std::move(elements));
  }
  if (!value->is_tensor() || value->strings || value->owner) return {};
  const auto block = FlowBlock::Make(value->bytes);
  if (!block) {
    return Status(Code::kResourceExhausted, fmt::format("no memory for {} bytes", value->bytes));
  }
  if (value->bytes > 0) std::memcpy(block->data(), value->data, value->bytes);
  value->data = block->data();
  value->owner = block;
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

Status GiveOut(const Function& function, const std::vector<FlowValue>& results,
               const MappedFiles& files, std::span<const TensorView> inputs,
               std::span<TensorView> outputs) {
  OutputMemory memory;
  std::vector<Extent> extents;
  for (size_t i = 0; i < inputs.size(); ++i) {
    extents.push_back(
        {inputs[i].data, inputs[i].bytes, function.value(function.params[i]).name, false});
  }
  for (size_t i = 0; i < results.size(); ++i) {
    const FlowValue& v = results[i];
    const std::string& name = function.value(function.results[i]).name;
    if (!v.is_tensor() || v.dtype == DType::kString) {
      return Status(Code::kUnsupported,
                    fmt::format("output '{}' is {}; only tensors of numbers are handed out", name,
                                Describe(v)));
    }
    if (outputs[i].data != nullptr) {
      extents.push_back({outputs[i].data, std::min(outputs[i].bytes, v.bytes), name, true});
    }
    outputs[i].dtype = v.dtype;
    outputs[i].dims = v.dims.vector();
    GE_RETURN_IF_ERROR(memory.Reserve("output", name, v.bytes, &outputs[i]));
  }
  GE_RETURN_IF_ERROR(CheckOverlap(extents));
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].bytes > 0) std::memcpy(outputs[i].data, results[i].data, results[i].bytes);
  }
  GE_RETURN_IF_ERROR(files.Check());
  memory.Commit();
  return {};
}

}  // namespace ge
