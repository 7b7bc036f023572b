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
