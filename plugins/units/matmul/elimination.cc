#include "plugins/units/matmul/elimination.h"

#include "plugins/units/parser.h"

namespace ge_engines {

namespace {

bool ParseElimination(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  const int32_t t = g.dtype(n.in[0]);
  if ((t != GE_F32 && t != GE_F64) || g.dtype(n.out[0]) != t) {
    return why->Say(GE_WHY_DTYPE, "only float32 and float64");
  }
  const Dims x = g.dims(n.in[0]);
  if (x.size() < 2 || x[x.size() - 1] != x[x.size() - 2]) {
    return why->Say(GE_WHY_SHAPE, "no square matrices");
  }
  EliminationSpec s;
  s.inverse = gp::View(n.op) == "Inverse";
  s.n = x.back();
  s.count = Product(x) / (s.n * s.n);
  if (Product(u->dims) != (s.inverse ? Product(x) : s.count)) {
    return why->Say(GE_WHY_SHAPE, "the output does not fit the input");
  }
  u->spec = s;
  return true;
}

constexpr Operator kEliminationOperators[] = {
    {"Det", ParseElimination, Types::kAny, 0},
    {"com.microsoft.Inverse", ParseElimination, Types::kAny, 0},
};
}  // namespace

const UnitKind EliminationSpec::kKind = {.name = "elimination", .operators = kEliminationOperators};

}  // namespace ge_engines
