#include <fmt/format.h>

#include "ge/ops/control.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferPartial(InferContext& c) {
  GE_ASSIGN_OR_RETURN(const Function* fn, CalleeOf(c, "fn"));
  if (fn->params.size() < c.input_count()) {
    return Bad(c.node(), fmt::format("{} values are given to '{}', which takes {}", c.input_count(),
                                     fn->name, fn->params.size()));
  }
  Type t;
  t.kind = TypeKind::kFunc;
  for (size_t i = c.input_count(); i < fn->params.size(); ++i) {
    t.elems.push_back(fn->value(fn->params[i]).type);
  }
  t.params = static_cast<uint32_t>(t.elems.size());
  for (const ValueId v : fn->results) t.elems.push_back(fn->value(v).type);
  t.candidates = {fn->id};
  c.SetOutput(0, std::move(t));
  return {};
}

}  // namespace

// A function whose first parameters are given already; it wants the others when it is called.
GE_OP(partial) = {"ge",
                  "Partial",
                  1,
                  {{"captured", kAnyType, "", Arity::kVariadic, 0}},
                  {{"function", kAnyType}},
                  {},
                  InferPartial,
                  PerOutput<0>};

}  // namespace ge
