#include <fmt/format.h>

#include "ge/control/host_op.h"
#include "ge/control/sequence.h"
#include "ge/ops/op.h"

namespace ge {
namespace {

Status RunSequenceInsert(HostCall& c) {
  GE_ASSIGN_OR_RETURN(const auto* elements, ElementsOf(c));
  const size_t n = elements->size();
  GE_ASSIGN_OR_RETURN(const size_t at, PositionOf(c, 2, n, n, n));
  GE_RETURN_IF_ERROR(c.pool->Room((n + 1) * sizeof(FlowValue)));
  std::vector<FlowValue> all;
  all.reserve(n + 1);
  all = *elements;
  all.insert(all.begin() + static_cast<ptrdiff_t>(at), c.in(1));
  return c.pool->NewSequence(c.in(1).dtype, std::move(all), &c.outputs[0]);
}

}  // namespace

GE_HOST_OP(sequence_insert) = {"", "SequenceInsert", RunSequenceInsert};

}  // namespace ge
