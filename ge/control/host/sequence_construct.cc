#include <fmt/format.h>

#include "ge/control/host_op.h"
#include "ge/ops/op.h"

namespace ge {
namespace {

Status RunSequenceConstruct(HostCall& c) {
  std::vector<FlowValue> elements;
  for (const FlowValue* v : c.inputs) elements.push_back(*v);
  const DType dtype = elements.empty() ? DType::kUndefined : elements[0].dtype;
  return c.pool->NewSequence(dtype, std::move(elements), &c.outputs[0]);
}

}  // namespace

GE_HOST_OP(sequence_construct) = {"", "SequenceConstruct", RunSequenceConstruct};

}  // namespace ge
