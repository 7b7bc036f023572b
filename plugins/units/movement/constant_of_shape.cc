#include "plugins/units/movement/constant_of_shape.h"

#include <cstring>

#include "plugins/units/parser.h"

namespace ge_engines {

namespace {

bool ParseFill(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  auto& element = u->spec.emplace<FillSpec>().element;
  const int32_t t = g.dtype(n.out[0]);
  const auto bytes = static_cast<uint64_t>(g.size(n.out[0]));
  const ge_attr* a = gp::FindAttr(n, "value", GE_ATTR_TENSOR);
  const bool fits =
      a == nullptr ? t == GE_F32 : a->tensor_type.dtype == t && a->tensor_bytes == bytes;
  if (!fits || bytes > element.size()) {
    return why->Say(GE_WHY_DTYPE, "the value is not one element of at most 8 bytes");
  }
  if (a != nullptr) std::memcpy(element.data(), a->tensor, bytes);
  return true;
}

constexpr Operator kConstantOfShapeOperators[] = {
    {"ConstantOfShape", ParseFill, Types::kAny, 0},
};
}  // namespace

const UnitKind FillSpec::kKind = {.name = "constant_of_shape",
                                  .operators = kConstantOfShapeOperators};

}  // namespace ge_engines
