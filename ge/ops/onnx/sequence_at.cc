#include <fmt/format.h>

#include "ge/ops/families/sequences.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferSequenceAt(InferContext& c) {
  GE_ASSIGN_OR_RETURN(Type element, ElementOfSequence(c, 0));
  c.SetOutput(0, std::move(element));
  return {};
}

}  // namespace

// The element at a position; negative ones count from the end.
GE_OP(sequence_at) = {"",
                      "SequenceAt",
                      11,
                      {{"input_sequence", kAnyType}, {"position", kIndex, "I"}},
                      {{"tensor", kAnyType}},
                      {},
                      InferSequenceAt,
                      PerOutput<0>};

}  // namespace ge
