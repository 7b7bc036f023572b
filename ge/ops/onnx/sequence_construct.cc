#include <fmt/format.h>

#include "ge/ops/families/sequences.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferSequenceConstruct(InferContext& c) {
  Type element = c.input_type(0);
  for (size_t i = 1; i < c.input_count(); ++i) {
    GE_ASSIGN_OR_RETURN(element, CommonElement(c, element, c.input_type(i)));
  }
  c.SetOutput(0, SequenceType(std::move(element)));
  return {};
}

}  // namespace

// A sequence of the inputs.
GE_OP(sequence_construct) = {"",
                             "SequenceConstruct",
                             11,
                             {{"inputs", kAnyDType, "T", Arity::kVariadic}},
                             {{"output_sequence", kAnyType}},
                             {},
                             InferSequenceConstruct,
                             PerOutput<0>};

}  // namespace ge
