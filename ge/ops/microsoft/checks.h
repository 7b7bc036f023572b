// Shared by the inference rules of com.microsoft's operators: refusals of unsupported cases, and
// parameters of quantized tensors. Not a rule of its own. Any thread may call.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string_view>

#include "ge/ops/infer_shapes.h"
#include "ge/ops/work.h"

namespace ge {

inline constexpr DTypeSet kBytes = Bit(DType::kInt8) | Bit(DType::kUint8);

inline bool HasInput(const InferContext& context, size_t i) {
  return i < context.input_count() && context.has_input(i);
}

// UNSUPPORTED "com.microsoft.Attention: <what>".
inline Status NotComputed(const Node& n, std::string_view what) {
  return Status(Code::kUnsupported, fmt::format("{}: {}", FullName(n.domain, n.op), what));
}

// Refuses an input that changes the meaning, since no step here implements it.
inline Status RefuseInput(const InferContext& context, size_t i, const char* name) {
  if (!HasInput(context, i)) return {};
  return NotComputed(context.node(),
                     fmt::format("input {} ('{}') is given, which is not computed here; "
                                 "wanted the node without it",
                                 i, name));
}

inline Status RefuseOutput(const InferContext& context, size_t i, const char* name) {
  if (i >= context.output_count() || !context.has_output(i)) return {};
  return NotComputed(context.node(),
                     fmt::format("output {} ('{}') is wanted, which is not computed "
                                 "here; leave it out",
                                 i, name));
}

// Refuses an integer attribute with another value than its default.
inline Status RefuseAttr(const Node& n, const char* name, int64_t only) {
  const int64_t found = AttrInt(n, name);
  if (found == only) return {};
  return NotComputed(n, fmt::format("attribute '{}' is {}, which is not computed here; wanted {}",
                                    name, found, only));
}

inline Status WantFiniteAttr(const Node& n, const char* name) {
  const double v = AttrFloat(n, name);
  if (std::isfinite(v)) return {};
  return Bad(n, fmt::format("attribute '{}' is {}, wanted a finite number", name, v));
}

inline Status WantNotNegative(const Node& n, const char* name) {
  const double v = AttrFloat(n, name);
  if (std::isfinite(v) && v >= 0) return {};
  return Bad(
      n, fmt::format("attribute '{}' is {}, wanted a finite number that is not negative", name, v));
}

inline Status WantFlag(const Node& n, const char* name) {
  const int64_t v = AttrInt(n, name);
  if (v == 0 || v == 1) return {};
  return Bad(n, fmt::format("attribute '{}' is {}, wanted 0 or 1", name, v));
}

// The rank must be one of two.
inline Status WantRankOf(InferContext& context, size_t i, const char* name, size_t one,
                         size_t other) {
  const Type& t = context.input_type(i);
  if (!t.ranked || t.rank() == one || t.rank() == other) return {};
  const std::string wanted =
      one == other ? fmt::format("rank {}", one) : fmt::format("rank {} or {}", one, other);
  return Bad(context.node(), fmt::format("input '{}' has shape {}, wanted {}", name,
                                         Show(context.dims(), t.dims), wanted));
}

// An optional vector of `size` elements.
inline Status WantVector(InferContext& context, size_t i, const char* name, Dim size) {
  return HasInput(context, i) ? WantShape(context, i, name, {{size}}) : Status();
}

// A scale or zero point for a whole tensor; absent passes.
inline Status WantOne(InferContext& context, size_t i, const char* name) {
  if (!HasInput(context, i)) return {};
  const Type& t = context.input_type(i);
  const bool fits =
      !t.ranked || t.rank() == 0 || (t.rank() == 1 && (!t.dims[0].known() || t.dims[0].value == 1));
  if (fits) return {};
  return Bad(context.node(),
             fmt::format("input '{}' has shape {}, wanted one element, for the whole "
                         "tensor",
                         name, Show(context.dims(), t.dims)));
}

// One element, or one for each of `size` columns; absent passes.
inline Status WantOneOrColumns(InferContext& context, size_t i, const char* name, Dim size) {
  if (!HasInput(context, i)) return {};
  const Type& t = context.input_type(i);
  bool fits = !t.ranked || t.rank() == 0;
  if (!fits && t.rank() == 1) {
    fits = !t.dims[0].known() || t.dims[0].value == 1 || !size.known() || t.dims[0] == size;
  }
  if (fits) return {};
  return Bad(context.node(),
             fmt::format("input '{}' has shape {}, wanted one element or {}, one a "
                         "column",
                         name, Show(context.dims(), t.dims), context.dims().ToString(size)));
}

// The shape of input `i` under another dtype as output `o`.
inline void SetAs(InferContext& context, size_t o, size_t i, DType dtype) {
  Type t = context.input_type(i);
  t.dtype = dtype;
  context.SetOutput(o, std::move(t));
}

// A record of com.microsoft; its first opset is its only one.
inline OpDef MicrosoftRecord(const char* name, Status (*infer)(InferContext&),
                             std::vector<ValueId> (*decompose)(Transaction&, FunctionId,
                                                               const Node&)) {
  OpDef op{"com.microsoft", name, 1, {}, {}, {}, infer, PerOutput<10>};
  op.decompose = decompose;
  return op;
}

}  // namespace ge
