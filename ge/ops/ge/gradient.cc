#include <fmt/format.h>

#include <set>

#include "ge/ops/control.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

bool IsFloat(const Type& t) { return t.is_tensor() && (Bit(t.dtype) & kFloats) != 0; }

// Nothing is known of a result of a function that calls itself, yet.
bool IsOpen(const Type& t) { return t.kind == TypeKind::kUnknown || t.dtype == DType::kUndefined; }

std::string Label(const Function& fn, ValueId v, const char* what, size_t i) {
  const std::string& name = fn.value(v).name;
  return name.empty() ? fmt::format("{} {}", what, i) : fmt::format("{} {} '{}'", what, i, name);
}

Status CheckCounts(InferContext& c, const Function& fn, size_t wrt) {
  const size_t params = fn.params.size(), results = fn.results.size();
  if (!fn.attr_params.empty()) {
    return Bad(c.node(),
               fmt::format("function '{}' has attribute parameter '{}', which nobody gives here; "
                           "wanted a function without",
                           fn.name, fn.attr_params[0]));
  }
  if (c.input_count() < params || c.input_count() > params + results) {
    return Bad(c.node(), fmt::format("it has {} inputs, wanted {} for the parameters of '{}', then "
                                     "none, or a cotangent for each of {} results",
                                     c.input_count(), params, fn.name, results));
  }
  if (results == 0 || c.output_count() != results + wrt) {
    return Bad(c.node(), fmt::format("it has {} outputs, wanted {} for the results of '{}', at "
                                     "least one, and {} for gradients",
                                     c.output_count(), results, fn.name, wrt));
  }
  for (size_t i = 0; i < params; ++i) {
    if (c.has_input(i)) continue;
    return Bad(c.node(), fmt::format("{} of '{}' is given no value, wanted one",
                                     Label(fn, fn.params[i], "parameter", i), fn.name));
  }
  return {};
}

Status CheckWrt(InferContext& c, const Function& fn, const std::vector<int64_t>& wrt) {
  const auto params = static_cast<int64_t>(fn.params.size());
  std::set<int64_t> seen;
  if (wrt.empty()) return Bad(c.node(), "attribute 'wrt' names no parameter, wanted at least one");
  for (const int64_t i : wrt) {
    if (i < 0 || i >= params) {
      return Bad(c.node(), fmt::format("attribute 'wrt' names parameter {}, wanted 0 to {} of '{}'",
                                       i, params - 1, fn.name));
    }
    if (!seen.insert(i).second) {
      return Bad(c.node(), fmt::format("attribute 'wrt' names parameter {} twice, wanted once", i));
    }
    const auto at = static_cast<size_t>(i);
    const Type& type = c.input_type(at);
    if (IsOpen(type) || IsFloat(type)) continue;
    return Bad(c.node(), fmt::format("{} of '{}' is {} and has no gradient, wanted floats; leave "
                                     "it out of 'wrt'",
                                     Label(fn, fn.params[at], "parameter", at), fn.name,
                                     TypeToString(type, c.dims())));
  }
  return {};
}

bool Fits(const Type& a, const Type& b) {
  if (a.dtype != b.dtype || !a.ranked || !b.ranked) return a.dtype == b.dtype;
  if (a.rank() != b.rank()) return false;
  for (size_t i = 0; i < a.dims.size(); ++i) {
    if (a.dims[i].known() && b.dims[i].known() && a.dims[i] != b.dims[i]) return false;
  }
  return true;
}

Status CheckCotangent(InferContext& c, const Function& fn, size_t i) {
  const Type& result = fn.value(fn.results[i]).type;
  const Type& given = c.input_type(fn.params.size() + i);
  if (IsOpen(result) || IsOpen(given)) return {};
  const std::string which = Label(fn, fn.results[i], "result", i);
  if (!IsFloat(result)) {
    return Bad(c.node(), fmt::format("{} of '{}' is {} and takes no cotangent, wanted floats; "
                                     "leave this input out",
                                     which, fn.name, TypeToString(result, c.dims())));
  }
  if (given.is_tensor() && Fits(given, result)) return {};
  return Bad(c.node(),
             fmt::format("the cotangent of {} of '{}' is {}, wanted {} as the result", which,
                         fn.name, TypeToString(given, c.dims()), TypeToString(result, c.dims())));
}

// Without cotangents the gradient is that of the first result, which is one number.
Status CheckFirst(InferContext& c, const Function& fn) {
  const Type& first = fn.value(fn.results[0]).type;
  if (IsOpen(first)) return {};
  const std::string which = Label(fn, fn.results[0], "result", 0);
  if (!IsFloat(first)) {
    return Bad(c.node(), fmt::format("{} of '{}' is {} and has no gradient, wanted floats", which,
                                     fn.name, TypeToString(first, c.dims())));
  }
  if (ElementCount(first) == 1) return {};
  return Bad(c.node(),
             fmt::format("{} of '{}' is {}, wanted one element; give a cotangent behind the "
                         "parameters, ones of its shape for the gradient of its sum",
                         which, fn.name, TypeToString(first, c.dims())));
}

Status InferGradient(InferContext& c) {
  GE_ASSIGN_OR_RETURN(const Function* fn, CalleeOf(c, "fn"));
  const std::vector<int64_t>& wrt = AttrInts(c.node(), "wrt");
  GE_RETURN_IF_ERROR(CheckCounts(c, *fn, wrt.size()));
  GE_RETURN_IF_ERROR(CheckWrt(c, *fn, wrt));
  const size_t params = fn->params.size(), results = fn->results.size();
  bool given = false;
  for (size_t i = 0; i < results; ++i) {
    if (!c.has_input(params + i)) continue;
    given = true;
    GE_RETURN_IF_ERROR(CheckCotangent(c, *fn, i));
  }
  if (!given) GE_RETURN_IF_ERROR(CheckFirst(c, *fn));
  for (size_t i = 0; i < results; ++i) {
    if (c.has_output(i)) c.SetOutput(i, fn->value(fn->results[i]).type);
  }
  for (size_t k = 0; k < wrt.size(); ++k) {
    if (c.has_output(results + k)) {
      c.SetOutput(results + k, Type(c.input_type(static_cast<size_t>(wrt[k]))));
    }
  }
  return {};
}

}  // namespace

// Calls a function and answers its results, then gradients for the parameters that `wrt` names, of
// their types; zeros where a parameter has no influence. Behind the function's inputs stand
// cotangents by result, an absent one zero; without any, the gradient is that of the first result.
// Nothing computes it: the pass expand-gradients of the plugin grad puts ordinary nodes in its
// place. (jax.vjp, torch.autograd.grad.)
GE_OP(gradient) = {"ge",
                   "Gradient",
                   1,
                   {{"inputs", kAnyType, "", Arity::kVariadic, 0}},
                   {{"outputs", kAnyType, "", Arity::kVariadic}},
                   {{"wrt", AttrKind::kInts, true}},
                   InferGradient,
                   PerOutput<0>};

}  // namespace ge
