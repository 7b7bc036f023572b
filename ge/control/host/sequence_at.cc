#include <fmt/format.h>

#include "ge/control/host_op.h"
#include "ge/control/sequence.h"
#include "ge/ops/op.h"

namespace ge {
namespace {

Status RunSequenceAt(HostCall& c) {
  GE_ASSIGN_OR_RETURN(const auto* elements, ElementsOf(c));
  const size_t n = elements->size();
  if (n == 0) {
    return Status(Code::kInvalidArgument, "the sequence is empty, wanted an element to take");
  }
  GE_ASSIGN_OR_RETURN(const size_t at, PositionOf(c, 1, n, n - 1, 0));
  c.outputs[0] = (*elements)[at];
  return {};
}

}  // namespace

GE_HOST_OP(sequence_at) = {"", "SequenceAt", RunSequenceAt};

}  // namespace ge
