#include "plugins/units/training/batch_normalization_grad.h"

#include "plugins/units/parser.h"

namespace ge_engines {

namespace {

bool ParseBatchNormGrad(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  if (n.n_out != 3 || n.out[1] == 0 || n.out[2] == 0) {
    return why->Say(GE_WHY_SHAPE, "an omitted output");
  }
  if (u->dims.size() < 2) return why->Say(GE_WHY_SHAPE, "no channels");
  u->spec = BatchNormGradSpec{static_cast<float>(gp::AttrFloat(n, "epsilon"))};
  u->in.assign(n.in, n.in + n.n_in);
  u->out.assign(n.out, n.out + n.n_out);
  return true;
}

constexpr Operator kBatchNormalizationGradOperators[] = {
    {"ge.BatchNormalizationGrad", ParseBatchNormGrad, Types::kFloat, 0},
};
}  // namespace

const UnitKind BatchNormGradSpec::kKind = {.name = "batch_normalization_grad",
                                           .operators = kBatchNormalizationGradOperators,
                                           .follows = true};

}  // namespace ge_engines
