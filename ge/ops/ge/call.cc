#include "ge/ops/control.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

// Of a call that closes a circle only the types that the function declares are known.
Status InferCall(InferContext& c) {
  GE_ASSIGN_OR_RETURN(const Function* fn, CalleeOf(c, "fn"));
  GE_RETURN_IF_ERROR(CheckCallee(c, *fn, c.input_count(), c.output_count()));
  for (size_t i = 0; i < c.output_count(); ++i) {
    if (c.has_output(i)) c.SetOutput(i, fn->value(fn->results[i]).type);
  }
  return {};
}

}  // namespace

// A function by name, which may be the one that the node stands in.
GE_OP(call) = {"ge",
               "Call",
               1,
               {{"inputs", kAnyType, "", Arity::kVariadic, 0}},
               {{"outputs", kAnyType, "", Arity::kVariadic}},
               {},
               InferCall,
               PerOutput<0>};

}  // namespace ge
