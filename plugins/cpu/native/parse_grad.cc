// Parsing of gradients.
#include "plugins/cpu/kit/parse.h"
#include "plugins/cpu/native/parse.h"

namespace ge_native {

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

}  // namespace ge_native
