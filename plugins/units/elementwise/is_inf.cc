#include "plugins/units/elementwise/is_inf.h"

#include "plugins/units/parser.h"

namespace ge_engines {

namespace {

bool ParseIsInf(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  const int32_t t = g.dtype(n.in[0]);
  IsInfSpec spec;
  spec.nan = gp::View(n.op) == "IsNaN";
  if (!spec.nan) {
    spec.negative = gp::AttrInt(n, "detect_negative") != 0;
    spec.positive = gp::AttrInt(n, "detect_positive") != 0;
  }
  u->spec = spec;
  const bool taken = t == GE_F16 || t == GE_BF16 || t == GE_F32 || t == GE_F64;
  return taken || why->Say(GE_WHY_DTYPE, "only floats of 16, 32 and 64 bits");
}

constexpr Operator kIsInfOperators[] = {
    {"IsInf", ParseIsInf, Types::kAny},
    {"IsNaN", ParseIsInf, Types::kAny},
};
}  // namespace

const UnitKind IsInfSpec::kKind = {.name = "is_inf", .operators = kIsInfOperators};

}  // namespace ge_engines
