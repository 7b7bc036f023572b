#include "plugins/units/reduce/layer_normalization.h"

#include "plugins/units/parser.h"

namespace ge_engines {

namespace {

bool ParseLayerNorm(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  const int64_t rank = static_cast<int64_t>(u->dims.size());
  const int64_t axis = gp::AttrInt(n, "axis");
  if (axis != -1 && axis != rank - 1) return why->Say(GE_WHY_ATTRIBUTE, "only the last axis");
  if (rank == 0) return why->Say(GE_WHY_SHAPE, "a scalar");
  if (n.n_out > 1 && (n.out[1] != 0 || (n.n_out > 2 && n.out[2] != 0))) {
    return why->Say(GE_WHY_ATTRIBUTE, "Mean and InvStdDev are not computed");
  }
  const bool centered = !gp::IsOp(n, "RMSNormalization");
  u->spec = LayerNormSpec{static_cast<float>(gp::AttrFloat(n, "epsilon")), centered};
  for (uint32_t k = 1; k < 3; ++k) {
    const uint32_t v = k < n.n_in ? n.in[k] : 0;
    if (v != 0 && g.dims(v) != Dims{u->dims.back()}) {
      return why->Say(GE_WHY_SHAPE, "scale or bias is not as long as the last axis");
    }
    u->in.push_back(v);
  }
  return true;
}

constexpr Operator kLayerNormalizationOperators[] = {
    {"LayerNormalization", ParseLayerNorm, Types::kFloat, 0},
    {"RMSNormalization", ParseLayerNorm, Types::kFloat, 0},
};
}  // namespace

const UnitKind LayerNormSpec::kKind = {.name = "layer_normalization",
                                       .operators = kLayerNormalizationOperators};

}  // namespace ge_engines
