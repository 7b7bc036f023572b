#include "ge/ops/onnx/cast.h"

namespace ge {
namespace {

constexpr DTypeSet kOwnCastTypes = kCastTypes | kFloat6s;

Status InferCast(InferContext& c) {
  const int64_t to = AttrInt(c.node(), "to");
  const auto dtype = static_cast<DType>(to);
  if (to < 1 || to >= kDTypeCount || !(kOwnCastTypes & Bit(dtype))) {
    return Bad(c.node(), fmt::format("attribute 'to' is {}, wanted the number of a real, integer, "
                                     "bool or string dtype (1 to {})",
                                     to, kDTypeCount - 1));
  }
  return InferCastTo(c, dtype);
}

}  // namespace

// Conversion of every element; saturate concerns float8 alone, round_mode float8e8m0.
GE_OP(cast) = {"",
               "Cast",
               28,
               {{"input", kOwnCastTypes, "T1"}},
               {{"output", kOwnCastTypes, "T2"}},
               {{"to", AttrKind::kInt, true},
                {"saturate", AttrKind::kInt, 1},
                {"round_mode", AttrKind::kString, "up"}},
               InferCast};

}  // namespace ge
