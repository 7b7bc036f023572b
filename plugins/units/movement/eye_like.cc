#include "plugins/units/movement/eye_like.h"

#include "plugins/units/parser.h"

namespace ge_engines {

namespace {

bool ParseEye(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  if (u->dims.size() != 2) return why->Say(GE_WHY_SHAPE, "no matrix");
  const int32_t t = g.dtype(n.out[0]);
  const bool number = t == GE_F32 || t == GE_F64 || t == GE_F16 || t == GE_BF16 || t == GE_BOOL ||
                      t == GE_I8 || t == GE_U8 || t == GE_I16 || t == GE_U16 || t == GE_I32 ||
                      t == GE_U32 || t == GE_I64 || t == GE_U64;
  if (!number) return why->Say(GE_WHY_DTYPE, std::string("a matrix of ") + gp::DTypeName(t));
  u->spec = EyeSpec{gp::AttrInt(n, "k")};
  return true;
}

constexpr Operator kEyeLikeOperators[] = {
    {"EyeLike", ParseEye, Types::kAny, 0},
};
}  // namespace

const UnitKind EyeSpec::kKind = {.name = "eye_like", .operators = kEyeLikeOperators};

}  // namespace ge_engines
