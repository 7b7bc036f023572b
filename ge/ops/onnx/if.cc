#include <fmt/format.h>

#include "ge/ops/control.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferIf(InferContext& c) {
  GE_ASSIGN_OR_RETURN(const Function* then_fn, CalleeOf(c, "then_branch"));
  GE_ASSIGN_OR_RETURN(const Function* else_fn, CalleeOf(c, "else_branch"));
  GE_RETURN_IF_ERROR(CheckCallee(c, *then_fn, c.input_count() - 1, c.output_count()));
  GE_RETURN_IF_ERROR(CheckCallee(c, *else_fn, c.input_count() - 1, c.output_count()));
  for (size_t i = 0; i < c.output_count(); ++i) {
    if (!c.has_output(i)) continue;
    GE_ASSIGN_OR_RETURN(Type t, Unify(c, then_fn->value(then_fn->results[i]).type,
                                      else_fn->value(else_fn->results[i]).type,
                                      fmt::format("result {} of the branches '{}' and '{}'", i,
                                                  then_fn->name, else_fn->name)));
    c.SetOutput(i, std::move(t));
  }
  return {};
}

}  // namespace

// One of two functions by a boolean. Values that the branches capture are trailing inputs.
GE_OP(if) = {"",
             "If",
             25,
             {{"cond", Bit(DType::kBool), "B"}, {"captures", kAnyType, "", Arity::kVariadic, 0}},
             {{"outputs", kAnyType, "", Arity::kVariadic}},
             {},
             InferIf,
             PerOutput<0>};

}  // namespace ge
