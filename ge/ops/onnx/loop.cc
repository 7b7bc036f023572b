#include <fmt/format.h>

#include <algorithm>

#include "ge/ops/control.h"
#include "ge/ops/known_ints.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

// How often it runs, where a number and a condition that is handed on say so; -1 = not known.
int64_t KnownTrips(InferContext& c, const Function& body) {
  const auto number = [&](size_t i) {
    const auto known = c.has_input(i) ? Numbers(c, i) : std::nullopt;
    return known && known->size() == 1 ? std::max<int64_t>(known->front(), 0) : int64_t{-1};
  };
  if (!c.has_input(0) || (c.has_input(1) && number(1) < 1)) return -1;
  ValueId more = body.results[0];
  for (auto n = body.nodes.rbegin(); n != body.nodes.rend(); ++n) {
    if (n->op == "Identity" && n->domain.empty() && n->outputs[0] == more) more = n->inputs[0];
  }
  return more == body.params[1] ? number(0) : -1;
}

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
  const int64_t trips = KnownTrips(c, *body);
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
    const Dim length = trips >= 0 ? KnownDim(trips) : c.FreshDim("trips", true);
    GE_RETURN_IF_ERROR(SetStacked(c, i, result, 0, length));
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
