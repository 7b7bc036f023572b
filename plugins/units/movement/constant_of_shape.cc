#include "plugins/units/movement/constant_of_shape.h"

#include <cstring>

#include "plugins/units/half.h"
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

bool NumberOf(const FillSpec& fill, int32_t dtype, double* number) {
  constexpr int64_t kMost = int64_t{1} << 53;
  int32_t narrow = 0;
  int64_t whole = 0;
  switch (dtype) {
    case GE_F32:
    case GE_F16:
    case GE_BF16:
      *number = ElementAsFloat(fill.element.data(), dtype, 0);
      return true;
    case GE_I32:
      std::memcpy(&narrow, fill.element.data(), sizeof narrow);
      *number = narrow;
      return true;
    case GE_I64:
      std::memcpy(&whole, fill.element.data(), sizeof whole);
      *number = static_cast<double>(whole);
      return whole >= -kMost && whole <= kMost;
    default:
      return false;
  }
}

}  // namespace ge_engines
