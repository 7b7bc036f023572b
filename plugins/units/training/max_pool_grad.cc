#include "plugins/units/training/max_pool_grad.h"

#include "plugins/units/parser.h"
#include "plugins/units/window.h"

namespace ge_engines {

namespace {

bool ParseMaxPoolGrad(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  const Dims dy = g.dims(n.in[0]);
  if (u->dims.size() < 3 || dy.size() != u->dims.size()) {
    return why->Say(GE_WHY_SHAPE, "rank " + std::to_string(u->dims.size()) + ", wanted 3 or more");
  }
  PoolGradSpec spec;
  spec.x = u->dims;
  spec.dy = dy;
  const auto kernel = gp::AttrInts(n, "kernel_shape");
  if (kernel.size() + 2 != dy.size()) return why->Say(GE_WHY_ATTRIBUTE, "no kernel_shape");
  spec.kernel.assign(kernel.begin(), kernel.end());
  Dims pad_r;
  if (!WindowOf(n, spec.x, dy, spec.kernel, &spec.stride, &spec.dilation, &spec.pad_l, &pad_r,
                why)) {
    return false;
  }
  u->in.push_back(n.in[1]);
  u->spec = std::move(spec);
  return true;
}

constexpr Operator kMaxPoolGradOperators[] = {
    {"ge.MaxPoolGrad", ParseMaxPoolGrad, Types::kFloat, 0},
};
}  // namespace

const UnitKind PoolGradSpec::kKind = {.name = "max_pool_grad", .operators = kMaxPoolGradOperators};

}  // namespace ge_engines
