#include "ge/ops/control.h"

#include <fmt/format.h>

#include <algorithm>

namespace ge {

Result<const Function*> CalleeOf(InferContext& c, std::string_view role) {
  if (const Function* fn = c.callee(role)) return fn;
  return Bad(c.node(), fmt::format("no function is given for '{}', wanted one", role));
}

Status CheckCallee(InferContext& c, const Function& fn, size_t params, size_t results) {
  if (fn.params.size() == params && fn.results.size() == results) return {};
  return Bad(c.node(), fmt::format("function '{}' has {} parameters and {} results, wanted {} and "
                                   "{}",
                                   fn.name, fn.params.size(), fn.results.size(), params, results));
}

Result<size_t> CaptureCount(InferContext& c, size_t fixed) {
  const int64_t captures = AttrInt(c.node(), kCapturesAttr);
  const size_t most = c.input_count() < fixed ? 0 : c.input_count() - fixed;
  if (c.input_count() < fixed || captures < 0 || captures > static_cast<int64_t>(most)) {
    return Bad(c.node(), fmt::format("attribute '{}' is {} with {} inputs, wanted {} inputs and 0 "
                                     "to {} captures",
                                     kCapturesAttr, captures, c.input_count(), fixed, most));
  }
  return static_cast<size_t>(captures);
}

Result<Type> Unify(InferContext& c, const Type& a, const Type& b, std::string_view what) {
  if (a.kind == TypeKind::kUnknown) return b;
  if (b.kind == TypeKind::kUnknown) return a;
  // A value where an optional one is wanted is an optional that holds it.
  if (a.kind != b.kind && a.kind == TypeKind::kOptional && !a.elems.empty()) {
    GE_ASSIGN_OR_RETURN(Type element, Unify(c, a.elems[0], b, what));
    Type t = a;
    t.elems[0] = std::move(element);
    return t;
  }
  if (a.kind != b.kind && b.kind == TypeKind::kOptional) return Unify(c, b, a, what);
  const bool same_dtype =
      a.dtype == b.dtype || a.dtype == DType::kUndefined || b.dtype == DType::kUndefined;
  if (a.kind != b.kind || !same_dtype || a.elems.size() != b.elems.size()) {
    return Bad(c.node(), fmt::format("{}: found {} and {}, wanted one type", what,
                                     TypeToString(a, c.dims()), TypeToString(b, c.dims())));
  }
  if (a.params != b.params) {
    return Bad(c.node(), fmt::format("{}: found functions of {} and of {} parameters, wanted one "
                                     "number",
                                     what, a.params, b.params));
  }
  Type t = a;
  t.sharding = {};
  for (const FunctionId fn : b.candidates) {
    const bool known = std::count(t.candidates.begin(), t.candidates.end(), fn) != 0;
    if (!known) t.candidates.push_back(fn);
  }
  if (t.dtype == DType::kUndefined) t.dtype = b.dtype;
  if (!a.ranked || !b.ranked || a.rank() != b.rank()) {
    t.ranked = false;
    t.dims.clear();
  }
  for (size_t i = 0; i < t.dims.size(); ++i) {
    if (a.dims[i] != b.dims[i]) t.dims[i] = c.FreshDim("unified", true);
  }
  for (size_t i = 0; i < t.elems.size(); ++i) {
    // Types nest at most as deep as the verifier allows.
    GE_ASSIGN_OR_RETURN(t.elems[i], Unify(c, a.elems[i], b.elems[i], what));
  }
  return t;
}

Status SetStacked(InferContext& c, size_t i, const Type& element, int64_t axis, Dim length) {
  if (!element.is_tensor()) {
    return Bad(c.node(), fmt::format("output {} stacks {}, wanted a tensor", i,
                                     TypeToString(element, c.dims())));
  }
  if (!element.ranked) {
    c.SetOutput(i, UnrankedTensor(element.dtype));
    return {};
  }
  const auto at = NormalizeAxis(axis, static_cast<int64_t>(element.rank()) + 1, "a stacking axis");
  if (!at.ok()) return Bad(c.node(), at.status().message());
  std::vector<Dim> dims = element.dims;
  dims.insert(dims.begin() + *at, length);
  return SetTensor(c, i, element.dtype, std::move(dims));
}

}  // namespace ge
