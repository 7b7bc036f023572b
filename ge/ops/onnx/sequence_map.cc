#include <fmt/format.h>

#include "ge/ops/control.h"
#include "ge/ops/families/sequences.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferSequenceMap(InferContext& c) {
  GE_ASSIGN_OR_RETURN(const Function* body, CalleeOf(c, "body"));
  GE_RETURN_IF_ERROR(CheckCallee(c, *body, c.input_count(), c.output_count()));
  for (size_t i = 0; i < c.output_count(); ++i) {
    if (c.has_output(i)) c.SetOutput(i, SequenceType(body->value(body->results[i]).type));
  }
  return {};
}

}  // namespace

// A function of every element; inputs that are tensors are the same for all.
GE_OP(sequence_map) = {
    "",
    "SequenceMap",
    17,
    {{"input_sequence", kAnyType}, {"additional_inputs", kAnyType, "", Arity::kVariadic, 0}},
    {{"out_sequence", kAnyType, "", Arity::kVariadic}},
    {{kCapturesAttr, AttrKind::kInt, 0}},
    InferSequenceMap,
    PerOutput<0>};

}  // namespace ge
