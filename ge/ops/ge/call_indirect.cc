#include <fmt/format.h>

#include "ge/ops/control.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferCallIndirect(InferContext& c) {
  const Type& f = c.input_type(0);
  if (f.kind == TypeKind::kUnknown) return {};
  if (f.kind != TypeKind::kFunc) {
    return Bad(c.node(),
               fmt::format("input 'function' is {}, wanted a function", TypeToString(f, c.dims())));
  }
  const size_t results = f.elems.size() - f.params;
  if (c.input_count() - 1 != f.params || c.output_count() != results) {
    return Bad(c.node(), fmt::format("it gives {} values and takes {}, wanted {} and {} for {}",
                                     c.input_count() - 1, c.output_count(), f.params, results,
                                     TypeToString(f, c.dims())));
  }
  for (size_t i = 0; i < results; ++i) {
    if (c.has_output(i)) c.SetOutput(i, f.elems[f.params + i]);
  }
  return {};
}

}  // namespace

// Calls the function that input 0 is at that moment.
GE_OP(call_indirect) = {"ge",
                        "CallIndirect",
                        1,
                        {{"function", kAnyType}, {"inputs", kAnyType, "", Arity::kVariadic, 0}},
                        {{"outputs", kAnyType, "", Arity::kVariadic}},
                        {},
                        InferCallIndirect,
                        PerOutput<0>};

}  // namespace ge
