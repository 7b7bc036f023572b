#include "plugins/units/movement/trilu.h"

#include "plugins/units/parser.h"

namespace ge_engines {

namespace {

bool ParseTriangle(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  auto& s = u->spec.emplace<TriangleSpec>();
  s.upper = gp::AttrInt(n, "upper", 1) != 0;
  if (n.n_in > 1 && n.in[1] != 0) {
    Dims k;
    if (!g.Integers(n.in[1], &k) || k.size() != 1) {
      return why->Say(GE_WHY_DYNAMIC, "the diagonal is not constant");
    }
    s.diagonal = k[0];
  }
  return (u->dims.size() >= 2 && g.dims(n.in[0]) == u->dims) ||
         why->Say(GE_WHY_SHAPE, "no matrices");
}

constexpr Operator kTriluOperators[] = {
    {"Trilu", ParseTriangle, Types::kWord},
};
}  // namespace

const UnitKind TriangleSpec::kKind = {.name = "trilu", .operators = kTriluOperators};

}  // namespace ge_engines
