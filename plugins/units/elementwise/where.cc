#include "plugins/units/elementwise/where.h"

#include "plugins/units/parser.h"

namespace ge_engines {

namespace {

bool ParseWhere(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  u->spec = WhereSpec();
  if (n.n_in != 3 || n.in[1] == 0 || n.in[2] == 0) {
    return why->Say(GE_WHY_SHAPE, "needs three inputs");
  }
  const int32_t t = g.dtype(n.out[0]);
  const uint32_t bits = gp::ElementBits(t);
  if (g.dtype(n.in[0]) != GE_BOOL) return why->Say(GE_WHY_DTYPE, "the condition is not bool");
  if (bits != 8 && bits != 16 && bits != 32 && bits != 64) {
    return why->Say(GE_WHY_DTYPE, std::string("chooses among ") + gp::DTypeName(t) +
                                      ", only elements of 1, 2, 4 or 8 bytes");
  }
  for (uint32_t k = 0; k < 3; ++k) {
    if (k > 0 && g.dtype(n.in[k]) != t) {
      return why->Say(GE_WHY_DTYPE, "the operands differ in dtype");
    }
    if (!Broadcasts(g.dims(n.in[k]), u->dims)) {
      return why->Say(GE_WHY_SHAPE, "dims do not broadcast");
    }
  }
  u->in = {n.in[0], n.in[1], n.in[2]};
  return true;
}

constexpr Operator kWhereOperators[] = {
    {"Where", ParseWhere, Types::kAny, 0},
};
}  // namespace

const UnitKind WhereSpec::kKind = {.name = "where", .operators = kWhereOperators};

}  // namespace ge_engines
