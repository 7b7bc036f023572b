#include "plugins/units/reduce/arg_max.h"

#include "plugins/units/parser.h"

namespace ge_engines {

namespace {

bool ParseArg(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  auto& s = u->spec.emplace<ArgSpec>();
  const int32_t t = g.dtype(n.in[0]);
  const bool whole = t == GE_I8 || t == GE_U8 || t == GE_I16 || t == GE_U16 || t == GE_I32 ||
                     t == GE_U32 || t == GE_I64 || t == GE_U64;
  if ((!whole && !g.IsReal(t)) || g.dtype(n.out[0]) != GE_I64) {
    return why->Say(GE_WHY_DTYPE, "only float32 and integers");
  }
  s.least = gp::View(n.op) == "ArgMin";
  s.last = gp::AttrInt(n, "select_last_index") != 0;
  const Dims x = g.dims(n.in[0]);
  if (!AxisOf(n, x.size(), gp::AttrInt(n, "axis"), &s.axis, why)) return false;
  return Product(u->dims) * x[static_cast<size_t>(s.axis)] == Product(x) ||
         why->Say(GE_WHY_SHAPE, "the output has not the dims of the input less its axis");
}

constexpr Operator kArgMaxOperators[] = {
    {"ArgMax", ParseArg, Types::kAny},
    {"ArgMin", ParseArg, Types::kAny},
};
}  // namespace

const UnitKind ArgSpec::kKind = {.name = "arg_max", .operators = kArgMaxOperators};

}  // namespace ge_engines
