// Parsing of gradients.
#include "plugins/cpu/kit/parse.h"
#include "plugins/cpu/native/parse.h"

namespace ge_engines::cpu::native {

bool ParseMaxPoolGrad(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  const Dims dy = g.dims(n.in[0]);
  if (u->dims.size() < 3 || dy.size() != u->dims.size()) {
    return why->Say(GE_WHY_SHAPE, "rank " + std::to_string(u->dims.size()) + ", wanted 3 or more");
  }
  PoolGradSpec spec;
  spec.x = u->dims, spec.dy = dy;
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

bool ParseConvGradInput(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  auto& spec = u->spec.emplace<ConvGradSpec>();
  u->in.push_back(n.in[1]);
  return ConvShapeOf(n, u->dims, g.dims(n.in[1]), g.dims(n.in[0]), &spec.conv, why);
}

bool ParseMoments(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  if (g.dims(n.in[0]).size() < 2) return why->Say(GE_WHY_SHAPE, "no channels");
  if (n.n_out != 2 || n.out[1] == 0) return why->Say(GE_WHY_SHAPE, "an omitted output");
  u->spec = MomentsSpec();
  u->out.push_back(n.out[1]);
  return true;
}

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

bool ParseAddRows(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  const bool floats = g.dtype(n.in[0]) == GE_F32 && g.dtype(n.in[2]) == GE_F32;
  const bool indices = g.dtype(n.in[1]) == GE_I64 || g.dtype(n.in[1]) == GE_I32;
  if (!floats || !indices) return why->Say(GE_WHY_DTYPE, "only float32");
  u->in.assign(n.in, n.in + 3);
  u->spec = AddRowsSpec();
  return true;
}

StepRule RuleOf(std::string_view op) {
  if (op == "AdamStep") return StepRule::kAdam;
  if (op == "RmsPropStep") return StepRule::kRmsProp;
  if (op == "AdagradStep") return StepRule::kAdagrad;
  if (op == "LionStep") return StepRule::kLion;
  if (op == "LarsStep") return StepRule::kLars;
  return op == "LambStep" ? StepRule::kLamb : StepRule::kMomentum;
}

bool ParseStep(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  StepSpec spec;
  spec.rule = RuleOf(gp::View(n.op));
  const uint32_t made = 1 + static_cast<uint32_t>(spec.slots());
  const auto scalars = static_cast<uint32_t>(spec.scalars());
  for (uint32_t k = 0; k < made; ++k) {
    if (k >= n.n_out || n.out[k] == 0) return why->Say(GE_WHY_SHAPE, "an omitted output");
  }
  for (uint32_t k = 0; k < made + 1 + scalars; ++k) {
    if (g.dtype(n.in[k]) != GE_F32) return why->Say(GE_WHY_DTYPE, "only float32");
  }
  spec.when = n.n_in > made + 1 + scalars && n.in[made + 1 + scalars] != 0;
  const bool heavy = spec.rule == StepRule::kMomentum || spec.rule == StepRule::kLars;
  spec.beta1 = gp::AttrFloat(n, heavy ? "momentum" : "beta1");
  spec.beta2 = gp::AttrFloat(n, spec.rule == StepRule::kRmsProp ? "alpha" : "beta2");
  spec.trust = gp::AttrFloat(n, "trust"), spec.eps = gp::AttrFloat(n, "epsilon");
  spec.decay = gp::AttrFloat(n, "weight_decay");
  spec.apart = gp::AttrInt(n, "decoupled") != 0, spec.ahead = gp::AttrInt(n, "nesterov") != 0;
  u->in.assign(n.in, n.in + made + 1 + scalars + (spec.when ? 1 : 0));
  u->out.assign(n.out, n.out + made);
  u->spec = spec;
  return true;
}

}  // namespace ge_engines::cpu::native
