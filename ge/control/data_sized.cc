#include "ge/control/data_sized.h"

#include <fmt/format.h>

#include "ge/ops/kernel_call.h"

namespace ge {
namespace {

Result<std::vector<KernelTensor>> TensorsOf(const OpDef& op, std::span<const FlowValue* const> in) {
  std::vector<KernelTensor> out(in.size());
  for (size_t i = 0; i < in.size(); ++i) {
    if (in[i] == nullptr || in[i]->kind == FlowValue::Kind::kNone) continue;
    if (!in[i]->is_tensor() || in[i]->dtype == DType::kString) {
      return Status(Code::kUnsupported,
                    fmt::format("input {} of {} is no tensor of numbers; kernels of plugins take "
                                "those alone",
                                i, FullName(op)));
    }
    out[i] = {in[i]->dtype, in[i]->dims.vector(), const_cast<std::byte*>(in[i]->data),
              in[i]->bytes};
  }
  return out;
}

}  // namespace

Status RunDataSized(const OpDef& op, const Graph& graph, const Node& node,
                    std::span<const Type> types, std::span<const FlowValue* const> in,
                    FlowPool* pool, std::vector<FlowValue>* out) {
  GE_ASSIGN_OR_RETURN(const std::vector<KernelTensor> tensors, TensorsOf(op, in));
  KernelCall call{graph, node, tensors, std::vector<KernelTensor>(node.outputs.size()), {}};
  for (size_t i = 0; i < call.out.size(); ++i) call.out[i].dtype = types[i].dtype;
  call.allocate = [&](size_t i) {
    KernelTensor& t = call.out[i];
    GE_RETURN_IF_ERROR(pool->NewTensor(t.dtype, FlowDims(t.dims), &(*out)[i], &t.data));
    t.bytes = (*out)[i].bytes;
    return Status();
  };
  return op.kernel(call);
}

}  // namespace ge
