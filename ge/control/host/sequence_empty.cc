#include <fmt/format.h>

#include "ge/control/host_op.h"
#include "ge/ops/op.h"

namespace ge {
namespace {

Status RunSequenceEmpty(HostCall& c) {
  c.outputs[0] = SequenceOf(static_cast<DType>(AttrInt(c.node, "dtype")), {});
  return {};
}

}  // namespace

GE_HOST_OP(sequence_empty) = {"", "SequenceEmpty", RunSequenceEmpty};

}  // namespace ge
