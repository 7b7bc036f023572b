#include "ge/ops/control.h"

#include <fmt/format.h>

#include <algorithm>

namespace ge {

Result<const Function*> CalleeOf(InferContext& context, std::string_view role) {
  if (const Function* fn = context.callee(role)) return fn;
  return Bad(context.node(), fmt::format("no function is given for '{}', wanted one", role));
}

Status CheckCallee(InferContext& context, const Function& fn, size_t params, size_t results) {
  if (fn.params.size() == params && fn.results.size() == results) return {};
  return Bad(context.node(),
             fmt::format("function '{}' has {} parameters and {} results, wanted {} and "
                         "{}",
                         fn.name, fn.params.size(), fn.results.size(), params, results));
}

Result<size_t> CaptureCount(InferContext& context, size_t fixed) {
  const int64_t captures = AttrInt(context.node(), kCapturesAttr);
  const size_t most = context.input_count() < fixed ? 0 : context.input_count() - fixed;
  if (context.input_count() < fixed || captures < 0 || captures > static_cast<int64_t>(most)) {
    return Bad(context.node(),
               fmt::format("attribute '{}' is {} with {} inputs, wanted {} inputs and 0 "
                           "to {} captures",
                           kCapturesAttr, captures, context.input_count(), fixed, most));
  }
  return static_cast<size_t>(captures);
}

Result<Type> Unify(InferContext& context, const Type& left, const Type& right,
                   std::string_view what) {
  if (left.kind == TypeKind::kUnknown) return right;
  if (right.kind == TypeKind::kUnknown) return left;
  // A value where an optional one is wanted is an optional that holds it.
  if (left.kind != right.kind && left.kind == TypeKind::kOptional && !left.elems.empty()) {
    GE_ASSIGN_OR_RETURN(Type element, Unify(context, left.elems[0], right, what));
    Type t = left;
    t.elems[0] = std::move(element);
    return t;
  }
  if (left.kind != right.kind && right.kind == TypeKind::kOptional)
    return Unify(context, right, left, what);
  const bool same_dtype = left.dtype == right.dtype || left.dtype == DType::kUndefined ||
                          right.dtype == DType::kUndefined;
  if (left.kind != right.kind || !same_dtype || left.elems.size() != right.elems.size()) {
    return Bad(context.node(), fmt::format("{}: found {} and {}, wanted one type", what,
                                           TypeToString(left, context.dims()),
                                           TypeToString(right, context.dims())));
  }
  if (left.params != right.params) {
    return Bad(context.node(),
               fmt::format("{}: found functions of {} and of {} parameters, wanted one "
                           "number",
                           what, left.params, right.params));
  }
  Type t = left;
  for (const FunctionId fn : right.candidates) {
    const bool known = std::count(t.candidates.begin(), t.candidates.end(), fn) != 0;
    if (!known) t.candidates.push_back(fn);
  }
  if (t.dtype == DType::kUndefined) t.dtype = right.dtype;
  if (!left.ranked || !right.ranked || left.rank() != right.rank()) {
    t.ranked = false;
    t.dims.clear();
  }
  for (size_t i = 0; i < t.dims.size(); ++i) {
    if (left.dims[i] != right.dims[i]) t.dims[i] = context.FreshDim("unified", true);
  }
  for (size_t i = 0; i < t.elems.size(); ++i) {
    // Types nest at most as deep as the verifier allows.
    GE_ASSIGN_OR_RETURN(t.elems[i], Unify(context, left.elems[i], right.elems[i], what));
  }
  return t;
}

Status SetStacked(InferContext& context, size_t i, const Type& element, int64_t axis, Dim length) {
  if (!element.is_tensor()) {
    return Bad(context.node(), fmt::format("output {} stacks {}, wanted a tensor", i,
                                           TypeToString(element, context.dims())));
  }
  if (!element.ranked) {
    context.SetOutput(i, UnrankedTensor(element.dtype));
    return {};
  }
  const auto at = NormalizeAxis(axis, static_cast<int64_t>(element.rank()) + 1, "a stacking axis");
  if (!at.ok()) return Bad(context.node(), at.status().message());
  std::vector<Dim> dims = element.dims;
  dims.insert(dims.begin() + *at, length);
  return SetTensor(context, i, element.dtype, std::move(dims));
}

}  // namespace ge
