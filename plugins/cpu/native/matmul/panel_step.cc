#include "plugins/cpu/native/matmul/panel_step.h"

#include <algorithm>
#include <vector>

#include "plugins/cpu/kit/price.h"

namespace ge_engines::cpu::native {

void EmitPanels(NativeBuilder* b, const Unit& u, const Fold& f, const BufferRef& x,
                bool transposed) {
  const PanelPlan plan(b->simd(), f.m, f.n, f.k, b->machine().rounded);
  AddPanels(b, u, plan, x,
            b->Pack({u.in[1]}, plan.PackKey(transposed), plan.weight_floats() * sizeof(float),
                    [plan, transposed](const void* const* from, void* to) {
                      plan.Pack(static_cast<const float*>(from[0]), transposed,
                                static_cast<float*>(to));
                    }));
}

void AddPanels(NativeBuilder* b, const Unit& u, const PanelPlan& plan, const BufferRef& x,
               const BufferRef& weights) {
  const Layout target = Layout::Dense(u.dims);
  const bool bias = !u.bias.empty();
  const uint64_t room =
      plan.rounded_floats() + plan.tile_floats() * static_cast<uint64_t>(b->machine().threads);
  std::vector<BufferRef> places = {x, weights, bias ? b->BiasOf(u, plan.n) : x};
  std::vector<TilePostOp> post_ops = b->PostOpsOfTiles(u, target, &places);
  const size_t taken = post_ops.size();
  const std::string label = plan.rounded != nullptr  ? "rounded panels "
                            : plan.narrow != nullptr ? "panels of codes by codes "
                            : plan.coded             ? "panels of codes "
                                                     : "panels ";
  if (room > 0) places.push_back(b->NewInternal(0, room * sizeof(float)));
  b->AddTiled(u, taken, target, label + b->Sizes({plan.m, plan.n, plan.k}),
              PanelLoop(b->simd(), plan, bias, std::move(post_ops)), std::move(places));
}

PanelPlan PanelPlanOf(const Fold& f, const Machine& m) {
  return PanelPlan(SimdOf(m.isa), f.m, f.n, f.k, m.rounded);
}

// A product with constant weights, or a convolution of one pixel; its posts are done on its tiles.
Price PanelPrice(const Unit& u, const PanelPlan& plan, const Parser& p, const Machine& m) {
  Price out;
  const double n = static_cast<double>(Product(u.dims));
  const double post_ops = PostOpsNs(u, m, n) / Workers(m, n);
  const double bytes = PostOpBytes(u, p) + BytesOf(p, u.out[0]);
  out.work_ns =
      kLoopNs + std::max(PanelNs(plan, m) + post_ops, StreamNs(m, bytes + BytesOf(p, u.in[0])));
  out.workspace = (plan.rounded_floats() + plan.tile_floats() * static_cast<uint64_t>(m.threads)) *
                  sizeof(float);
  const Dims weights = p.dims(u.in[1]);  // of a convolution of one pixel, or of a product
  out.packed = plan.coded ? plan.weight_floats() * sizeof(float)
                          : PackedBound(weights, Is<ConvSpec>(u) ? 0 : ProductChannels(weights));
  return out;
}

}  // namespace ge_engines::cpu::native
