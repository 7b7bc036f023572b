#include "ge/ops/sequences.h"

#include <fmt/format.h>

#include "ge/ops/control.h"

namespace ge {
namespace {

Type Wrapped(TypeKind kind, Type element) {
  Type t;
  t.kind = kind;
  t.elems = {std::move(element)};
  return t;
}

}  // namespace

Type SequenceType(Type element) { return Wrapped(TypeKind::kSequence, std::move(element)); }
Type OptionalType(Type element) { return Wrapped(TypeKind::kOptional, std::move(element)); }

Result<Type> ElementOfSequence(InferContext& c, size_t i) {
  const Type* t = &c.input_type(i);
  if (t->kind == TypeKind::kUnknown) return Type();
  if (t->kind != TypeKind::kSequence || t->elems.empty()) {
    return Bad(c.node(),
               fmt::format("input {} is {}, wanted a sequence", i, TypeToString(*t, c.dims())));
  }
  return t->elems[0];
}

Result<Type> CommonElement(InferContext& c, const Type& a, const Type& b) {
  return Unify(c, a, b, "elements of the sequence");
}

}  // namespace ge
