#include "plugins/units/reduce/cum_sum.h"

#include "plugins/units/parser.h"

namespace ge_engines {

namespace {

bool ParseCumSum(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  auto& s = u->spec.emplace<CumSumSpec>();
  Dims axis;
  if (n.n_in != 2 || n.in[1] == 0 || !g.Integers(n.in[1], &axis) || axis.size() != 1) {
    return why->Say(GE_WHY_DYNAMIC, "the axis is not constant");
  }
  if (!g.IsRealOrWhole(g.dtype(n.in[0])) || g.dtype(n.out[0]) != g.dtype(n.in[0])) {
    return why->Say(GE_WHY_DTYPE, "only float32, int32 and int64");
  }
  s.exclusive = gp::AttrInt(n, "exclusive") != 0;
  s.reverse = gp::AttrInt(n, "reverse") != 0;
  return AxisOf(n, u->dims.size(), axis[0], &s.axis, why);
}

constexpr Operator kCumSumOperators[] = {
    {"CumSum", ParseCumSum, Types::kNumber},
};
}  // namespace

const UnitKind CumSumSpec::kKind = {.name = "cum_sum", .operators = kCumSumOperators};

}  // namespace ge_engines
