#include "plugins/units/reduce/instance_normalization.h"

#include "plugins/units/parser.h"

namespace ge_engines {

namespace {

bool ParseInstanceNorm(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  u->spec = InstanceNormSpec{static_cast<float>(gp::AttrFloat(n, "epsilon"))};
  for (uint32_t k = 1; k < 3; ++k) {
    if (k >= n.n_in || n.in[k] == 0 || u->dims.size() < 3 || g.dims(n.in[k]) != Dims{u->dims[1]}) {
      return why->Say(GE_WHY_SHAPE, "scale or bias is not one a channel");
    }
    u->in.push_back(n.in[k]);
  }
  return true;
}

constexpr Operator kInstanceNormalizationOperators[] = {
    {"InstanceNormalization", ParseInstanceNorm, Types::kFloat, 0},
};
}  // namespace

const UnitKind InstanceNormSpec::kKind = {.name = "instance_normalization",
                                          .operators = kInstanceNormalizationOperators};

}  // namespace ge_engines
