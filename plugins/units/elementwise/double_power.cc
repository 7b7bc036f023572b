#include "plugins/units/elementwise/double_power.h"

#include "plugins/units/elementwise/double_pointwise.h"
#include "plugins/units/parser.h"

namespace ge_engines {

namespace {

// Powers of one constant that are a function of one instruction or two.
bool ParseDoublePower(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  if (n.n_in != 2 || n.in[1] == 0) return why->Say(GE_WHY_SHAPE, "needs two inputs");
  double e = 0;
  if (g.Double(n.in[1], &e) && g.dims(n.in[0]) == u->dims) {
    const Fn fn = e == 2    ? Fn::kSquare
                  : e == 3  ? Fn::kCube
                  : e == -1 ? Fn::kReciprocal
                            : Fn::kLinear;
    if (fn != Fn::kLinear || e == 1) {
      u->spec = DoublePointwiseSpec{fn, 1, -0.0};
      return true;
    }
  }
  if (!Broadcasts(g.dims(n.in[0]), u->dims) || !Broadcasts(g.dims(n.in[1]), u->dims)) {
    return why->Say(GE_WHY_SHAPE, "dims do not broadcast");
  }
  u->spec = DoublePowerSpec();
  u->in.push_back(n.in[1]);
  return true;
}

constexpr Operator kDoublePowerOperators[] = {
    {"Pow", ParseDoublePower, Types::kDouble, 0},
};
}  // namespace

const UnitKind DoublePowerSpec::kKind = {.name = "double_power",
                                         .operators = kDoublePowerOperators};

}  // namespace ge_engines
