#include <fmt/format.h>

#include "ge/ops/families/sequences.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferOptionalGetElement(InferContext& c) {
  const Type& t = c.input_type(0);
  c.SetOutput(0, t.kind == TypeKind::kOptional && !t.elems.empty() ? Type(t.elems[0]) : Type(t));
  return {};
}

}  // namespace

// What an optional holds; a value that is none is taken as it is.
GE_OP(optional_get_element) = {
    "", "OptionalGetElement",    28,          {{"input", kAnyType}}, {{"output", kAnyType}},
    {}, InferOptionalGetElement, PerOutput<0>};

}  // namespace ge
