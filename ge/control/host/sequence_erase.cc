#include <fmt/format.h>

#include "ge/control/host_op.h"
#include "ge/control/sequence.h"
#include "ge/ops/op.h"

namespace ge {
namespace {

Status RunSequenceErase(HostCall& c) {
  GE_ASSIGN_OR_RETURN(const auto* elements, ElementsOf(c));
  const size_t n = elements->size();
  if (n == 0) {
    return Status(Code::kInvalidArgument, "the sequence is empty, wanted an element to erase");
  }
  GE_ASSIGN_OR_RETURN(const size_t at, PositionOf(c, 1, n, n - 1, n - 1));
  std::vector<FlowValue> all = *elements;
  all.erase(all.begin() + static_cast<ptrdiff_t>(at));
  return c.pool->NewSequence(c.in(0).dtype, std::move(all), &c.outputs[0]);
}

}  // namespace

GE_HOST_OP(sequence_erase) = {"", "SequenceErase", RunSequenceErase};

}  // namespace ge
