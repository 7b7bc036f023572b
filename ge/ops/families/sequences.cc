#include "ge/ops/families/sequences.h"

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

Result<Type> ElementOfSequence(InferContext& context, size_t i) {
  const Type* t = &context.input_type(i);
  if (t->kind == TypeKind::kUnknown) return Type();
  if (t->kind != TypeKind::kSequence || t->elems.empty()) {
    return Bad(context.node(), fmt::format("input {} is {}, wanted a sequence", i,
                                           TypeToString(*t, context.dims())));
  }
  return t->elems[0];
}

Result<Type> CommonElement(InferContext& context, const Type& left, const Type& right) {
  return Unify(context, left, right, "elements of the sequence");
}

}  // namespace ge
