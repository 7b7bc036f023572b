#include <fmt/format.h>

#include "ge/ops/families/sequences.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferOptional(InferContext& c) {
  if (c.has_input(0)) {
    c.SetOutput(0, OptionalType(c.input_type(0)));
    return {};
  }
  const Attr* type = c.node().attr("type");
  const Type* element = type ? std::get_if<Type>(&type->value) : nullptr;
  if (element == nullptr) {
    return Bad(c.node(), "it has neither an input nor the attribute 'type'; give one of them");
  }
  c.SetOutput(0, OptionalType(*element));
  return {};
}

}  // namespace

// A value, or nothing of a stated type.
GE_OP(optional) = {"",
                   "Optional",
                   28,
                   {{"input", kAnyType, "", Arity::kOptional}},
                   {{"output", kAnyType}},
                   {{"type", AttrKind::kType}},
                   InferOptional,
                   PerOutput<0>};

}  // namespace ge
