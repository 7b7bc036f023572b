#include "plugins/units/reduce/arg_max.h"

#include "plugins/units/parser.h"

namespace ge_engines {

namespace {

bool ParseArg(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  auto& s = u->spec.emplace<ArgSpec>();
  if (!IsNumber(g.dtype(n.in[0])) || g.dtype(n.out[0]) != GE_I64) {
    return why->Say(GE_WHY_DTYPE, "only float32, int32 and int64");
  }
  s.least = gp::View(n.op) == "ArgMin";
  s.last = gp::AttrInt(n, "select_last_index") != 0;
  const Dims x = g.dims(n.in[0]);
  if (!AxisOf(n, x.size(), gp::AttrInt(n, "axis"), &s.axis, why)) return false;
  return Product(u->dims) * x[static_cast<size_t>(s.axis)] == Product(x) ||
         why->Say(GE_WHY_SHAPE, "the output has not the dims of the input less its axis");
}

constexpr Operator kArgMaxOperators[] = {
    {"ArgMax", ParseArg, Types::kNumber},
    {"ArgMin", ParseArg, Types::kNumber},
};
}  // namespace

const UnitKind ArgSpec::kKind = {.name = "arg_max", .operators = kArgMaxOperators};

}  // namespace ge_engines
