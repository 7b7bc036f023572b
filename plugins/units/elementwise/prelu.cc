#include "plugins/units/elementwise/prelu.h"

#include "plugins/units/parser.h"

namespace ge_engines {

namespace {

bool ParsePRelu(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  u->spec = PReluSpec();
  if (n.n_in != 2 || n.in[1] == 0) return why->Say(GE_WHY_SHAPE, "needs two inputs");
  const Dims slope = g.dims(n.in[1]);
  bool fits = slope.size() <= u->dims.size();
  for (size_t k = 0; fits && k < slope.size(); ++k) {
    fits = slope[k] == 1 || slope[k] == u->dims[k + u->dims.size() - slope.size()];
  }
  if (!fits || g.dims(n.in[0]) != u->dims) return why->Say(GE_WHY_SHAPE, "dims do not broadcast");
  u->in.push_back(n.in[1]);
  return true;
}

constexpr Operator kPreluOperators[] = {
    {"PRelu", ParsePRelu, Types::kFloat, 0},
};
}  // namespace

const UnitKind PReluSpec::kKind = {.name = "prelu", .operators = kPreluOperators};

}  // namespace ge_engines
