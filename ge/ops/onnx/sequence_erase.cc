#include <fmt/format.h>

#include "ge/ops/families/sequences.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferSequenceErase(InferContext& c) {
  GE_ASSIGN_OR_RETURN(Type element, ElementOfSequence(c, 0));
  c.SetOutput(0, SequenceType(std::move(element)));
  return {};
}

}  // namespace

// The sequence without the element at a position, or without its last.
GE_OP(sequence_erase) = {
    "",
    "SequenceErase",
    11,
    {{"input_sequence", kAnyType}, {"position", kIndex, "I", Arity::kOptional}},
    {{"output_sequence", kAnyType}},
    {},
    InferSequenceErase,
    PerOutput<0>};

}  // namespace ge
