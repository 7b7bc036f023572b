#include <fmt/format.h>

#include "ge/ops/families/sequences.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferSequenceInsert(InferContext& c) {
  GE_ASSIGN_OR_RETURN(Type element, ElementOfSequence(c, 0));
  GE_ASSIGN_OR_RETURN(element, CommonElement(c, element, c.input_type(1)));
  c.SetOutput(0, SequenceType(std::move(element)));
  return {};
}

}  // namespace

// The sequence with one more element before a position, or at its end.
GE_OP(sequence_insert) = {"",
                          "SequenceInsert",
                          11,
                          {{"input_sequence", kAnyType},
                           {"tensor", kAnyDType},
                           {"position", kIndex, "I", Arity::kOptional}},
                          {{"output_sequence", kAnyType}},
                          {},
                          InferSequenceInsert,
                          PerOutput<0>};

}  // namespace ge
