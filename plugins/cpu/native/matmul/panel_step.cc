#include "plugins/cpu/native/matmul/panel_step.h"

#include <algorithm>
#include <vector>

#include "plugins/cpu/kit/price.h"

namespace ge_engines::cpu::native {

void EmitPanels(NativeBuilder* builder, const Unit& unit, const Fold& fold, const BufferRef& x,
                bool transposed) {
  const PanelPlan plan(builder->simd(), fold.m, fold.n, fold.k, builder->machine().rounded);
  AddPanels(
      builder, unit, plan, x,
      builder->Pack({unit.in[1]}, plan.PackKey(transposed), plan.weight_floats() * sizeof(float),
                    [plan, transposed](const void* const* from, void* to) {
                      plan.Pack(static_cast<const float*>(from[0]), transposed,
                                static_cast<float*>(to));
                    }));
}

void AddPanels(NativeBuilder* builder, const Unit& unit, const PanelPlan& plan, const BufferRef& x,
               const BufferRef& weights) {
  const Layout target = Layout::Dense(unit.dims);
  const bool bias = !unit.bias.empty();
  const uint64_t room = plan.rounded_floats() +
                        plan.tile_floats() * static_cast<uint64_t>(builder->machine().threads);
  std::vector<BufferRef> places = {x, weights, bias ? builder->BiasOf(unit, plan.n) : x};
  std::vector<TilePostOp> post_ops = builder->PostOpsOfTiles(unit, target, &places);
  const size_t taken = post_ops.size();
  const std::string label = plan.rounded != nullptr  ? "rounded panels "
                            : plan.narrow != nullptr ? "nbit panels by int8 "
                            : plan.coded             ? "nbit panels "
                                                     : "panels ";
  if (room > 0) places.push_back(builder->NewInternal(0, room * sizeof(float)));
  builder->AddTiled(unit, taken, target, label + builder->Sizes({plan.m, plan.n, plan.k}),
                    PanelLoop(builder->simd(), plan, bias, std::move(post_ops)), std::move(places));
}

PanelPlan PanelPlanOf(const Fold& fold, const Machine& machine) {
  return PanelPlan(SimdOf(machine.isa), fold.m, fold.n, fold.k, machine.rounded);
}

// A product with constant weights, or a convolution of one pixel; its posts are done on its tiles.
Price PanelPrice(const Unit& unit, const PanelPlan& plan, const Parser& parser,
                 const Machine& machine) {
  Price out;
  const double n = static_cast<double>(Product(unit.dims));
  const double post_ops = PostOpsNs(unit, machine, n) / Workers(machine, n);
  const double bytes = PostOpBytes(unit, parser) + BytesOf(parser, unit.out[0]);
  out.work_ns = kLoopNs + std::max(PanelNs(plan, machine) + post_ops,
                                   StreamNs(machine, bytes + BytesOf(parser, unit.in[0])));
  out.workspace =
      (plan.rounded_floats() + plan.tile_floats() * static_cast<uint64_t>(machine.threads)) *
      sizeof(float);
  const Dims weights = parser.dims(unit.in[1]);  // of a convolution of one pixel, or of a product
  out.packed = plan.coded ? plan.weight_floats() * sizeof(float)
                          : PackedBound(weights, Is<ConvSpec>(unit) ? 0 : ProductChannels(weights));
  return out;
}

}  // namespace ge_engines::cpu::native
