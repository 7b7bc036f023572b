#include <fmt/format.h>

#include "ge/ops/elementwise.h"

namespace ge {
namespace {

constexpr DTypeSet kTypesCast = kAnyDType & ~kComplexes;

Status InferCast(InferContext& c) {
  const int64_t to = AttrInt(c.node(), "to", 0);
  const auto dtype = static_cast<DType>(to);
  if (to < 1 || to >= kDTypeCount || !IsKnown(dtype) || !(kTypesCast & Bit(dtype))) {
    return Bad(c.node(), fmt::format("attribute 'to' is {}, wanted the number of a real, integer, "
                                     "bool or string dtype (1 to {})",
                                     to, kDTypeCount - 1));
  }
  const std::string_view mode = AttrString(c.node(), "round_mode", "up");
  if (mode != "up" && mode != "down" && mode != "nearest") {
    return Bad(c.node(), fmt::format("attribute 'round_mode' is '{:.64}', wanted up, down or "
                                     "nearest",
                                     mode));
  }
  const DType from = c.input_type(0).dtype;
  Type t = c.input_type(0);
  t.dtype = dtype;
  c.SetOutput(0, std::move(t));
  if (!IsInteger(dtype) && dtype != DType::kBool) return {};
  auto content = Content(c, 0);
  if (!content || (!IsInteger(from) && from != DType::kBool)) return {};
  for (Dim& d : *content) {
    if (dtype != DType::kBool) break;
    if (!d.known()) return {};
    d = KnownDim(d.value != 0);
  }
  SetContent(c, 0, dtype, std::move(*content));
  return {};
}

}  // namespace

// Conversion of every element; saturate and round_mode concern float8 alone.
GE_OP(cast) = {
    "",
    "Cast",
    25,
    {{"input", kTypesCast, "T1"}},
    {{"output", kTypesCast, "T2"}},
    {{"to", AttrKind::kInt, true}, {"saturate", AttrKind::kInt}, {"round_mode", AttrKind::kString}},
    InferCast};

}  // namespace ge
