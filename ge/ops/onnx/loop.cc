#include <fmt/format.h>

#include "ge/ops/control.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

// Body: (iteration, condition, carried..., captures...) -> (condition, carried..., scanned...).
Status InferLoop(InferContext& c) {
  GE_ASSIGN_OR_RETURN(const Function* body, CalleeOf(c, "body"));
  GE_ASSIGN_OR_RETURN(const size_t captures, CaptureCount(c, 2));
  const size_t carried = c.input_count() - 2 - captures;
  if (carried > c.output_count()) {
    return Bad(c.node(), fmt::format("{} carried values and {} outputs, wanted an output for each "
                                     "carried value",
                                     carried, c.output_count()));
  }
  GE_RETURN_IF_ERROR(CheckCallee(c, *body, c.input_count(), c.output_count() + 1));
  for (size_t i = 0; i < c.output_count(); ++i) {
    if (!c.has_output(i)) continue;
    const Type& result = body->value(body->results[i + 1]).type;
    if (i < carried) {
      GE_ASSIGN_OR_RETURN(Type t, Unify(c, c.input_type(2 + i), result,
                                        fmt::format("carried value {} before and after the body "
                                                    "'{}'",
                                                    i, body->name)));
      c.SetOutput(i, std::move(t));
      continue;
    }
    GE_RETURN_IF_ERROR(SetStacked(c, i, result, 0, c.FreshDim("trips", true)));
  }
  return {};
}

OpDef LoopRecord() {
  OpDef op{"", "Loop", 25, {}, {}, {}, InferLoop, PerOutput<0>};
  op.inputs = {{"M", Bit(DType::kInt64), "I", Arity::kOptional},
               {"cond", Bit(DType::kBool), "B", Arity::kOptional},
               {"v_initial", kAnyType, "", Arity::kVariadic, 0}};
  op.outputs = {{"v_final_and_scan_outputs", kAnyType, "", Arity::kVariadic}};
  op.attrs = {{kCapturesAttr, AttrKind::kInt, 0}};
  return op;
}

}  // namespace

// A function repeated while its condition holds, at most M times.
GE_OP(loop) = LoopRecord();

}  // namespace ge
