#include "plugins/units/elementwise/random.h"

#include "plugins/units/parser.h"

namespace ge_engines {

namespace {

bool ParseDraws(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  const int32_t t = g.dtype(n.out[0]);
  const bool normal = gp::View(n.op).substr(0, 12) == "RandomNormal";
  RandomSpec s;
  s.of = normal ? RandomSpec::Of::kNormal : RandomSpec::Of::kUniform;
  s.at = gp::AttrFloat(n, normal ? "mean" : "low");
  s.width = normal ? gp::AttrFloat(n, "scale") : gp::AttrFloat(n, "high") - s.at;
  s.key = KeyOf(n);
  u->in.clear();
  u->spec = s;
  return t == GE_F32 || t == GE_F64 || t == GE_F16 || t == GE_BF16 ||
         why->Say(GE_WHY_DTYPE, std::string("draws of ") + gp::DTypeName(t));
}

bool ParseBernoulli(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  const uint32_t bits = gp::ElementBits(g.dtype(n.out[0]));
  if (!g.IsReal(g.dtype(n.in[0])) || (bits != 8 && bits != 16 && bits != 32 && bits != 64)) {
    return why->Say(GE_WHY_DTYPE, "only float32, and results of 1, 2, 4 or 8 bytes");
  }
  RandomSpec s;
  s.of = RandomSpec::Of::kBernoulli;
  s.key = KeyOf(n);
  u->spec = s;
  return g.dims(n.in[0]) == u->dims || why->Say(GE_WHY_SHAPE, "dims differ");
}

constexpr Operator RandomRow(const char* op, decltype(Operator::parse) parse, bool no_inputs) {
  return {.op = op, .parse = parse, .types = Types::kAny, .data = 0, .no_inputs = no_inputs};
}
constexpr Operator kRandomOperators[] = {
    RandomRow("RandomNormal", ParseDraws, true),
    RandomRow("RandomNormalLike", ParseDraws, false),
    RandomRow("RandomUniform", ParseDraws, true),
    RandomRow("RandomUniformLike", ParseDraws, false),
    RandomRow("Bernoulli", ParseBernoulli, false),
};
}  // namespace

const UnitKind RandomSpec::kKind = {.name = "random", .operators = kRandomOperators};

}  // namespace ge_engines
