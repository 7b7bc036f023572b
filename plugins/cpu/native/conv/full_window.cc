// Convolutions with one window over the whole picture: products of the batch's rows.
#include <cstdint>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/conv/algorithm.h"
#include "plugins/cpu/native/matmul/panel_step.h"
#include "plugins/units/conv/conv.h"

namespace ge_engines::cpu::native {

namespace {

bool IsFullWindow(const ConvSpec& c) {
  if (c.transposed || c.groups != 1) return false;
  for (size_t k = 0; k < c.stride.size(); ++k) {
    const int64_t taps = c.weights[k + 2];
    if (c.dst[k + 2] != 1 || c.src[k + 2] != taps || c.pad_l[k] != 0) return false;
    if (taps > 1 && c.dilation[k] != 1) return false;
  }
  return true;
}

Fold FoldOfWindow(const ConvSpec& c) {
  const int64_t out = c.dst[1];
  return {1, c.dst[0], out, Product(c.weights) / out};
}

class FullWindow final : public ConvAlgorithm {
 public:
  bool Takes(const ConvSpec& spec, bool constants, const Machine&) const override {
    return constants && IsFullWindow(spec);
  }
  bool Rounds(const Machine& m) const override { return m.rounded != nullptr; }
  Price PriceOf(const Unit& unit, const ConvSpec& spec, const Parser& parser,
                const Machine& machine) const override {
    return PanelPrice(unit, PanelPlanOf(FoldOfWindow(spec), machine), parser, machine);
  }
  void Emit(const Unit& unit, const ConvSpec& spec, NativeBuilder* builder) const override {
    EmitPanels(builder, unit, FoldOfWindow(spec), builder->GetDense(unit.in[0]).place, true);
  }
};

}  // namespace

const ConvAlgorithm& conv_full_window() {
  static const FullWindow kAlgorithm;
  return kAlgorithm;
}

}  // namespace ge_engines::cpu::native
