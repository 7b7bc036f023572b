#include <utility>

#include "ge/control/host_op.h"

namespace ge {

extern const HostOp ge_host_unique;

namespace {

// ONNX's own operator, unsorted and without the places of first occurrence.
Status RunUniqueMs(HostCall& c) {
  Node node = c.node;
  node.domain.clear();
  node.attrs = {{"sorted", int64_t{0}}};
  const auto output = [&](size_t i) {
    return i < c.node.outputs.size() ? c.node.outputs[i] : ValueId{0};
  };
  node.outputs = {output(0), 0, output(1), output(2)};
  HostCall call{c.graph, node, c.inputs, c.pool, std::vector<FlowValue>(node.outputs.size())};
  GE_RETURN_IF_ERROR(ge_host_unique.run(call));
  const size_t places[] = {0, 2, 3};
  for (size_t i = 0; i < c.outputs.size() && i < 3; ++i) {
    c.outputs[i] = std::move(call.outputs[places[i]]);
  }
  return {};
}

}  // namespace

GE_HOST_OP(microsoft_unique) = {"com.microsoft", "Unique", RunUniqueMs};

}  // namespace ge
