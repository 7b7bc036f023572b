// Gradients of convolutions by images: direct convolutions by flipped filters.
#include "plugins/units/conv/conv_grad.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "plugins/cpu/kit/builder.h"
#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/im2col_tiles.h"
#include "plugins/cpu/kit/price.h"
#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/conv/direct.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/units/conv/conv.h"

namespace ge_engines::cpu::native {

namespace {

// [in][out][taps] as [out][in][taps], each filter from its last tap to its first.
std::unique_ptr<Loop> FlipFilters(int64_t in, int64_t out, int64_t taps) {
  return LoopOf([=](float* const* p) {
    for (int64_t i = 0; i < in; ++i) {
      for (int64_t o = 0; o < out; ++o) {
        const float* from = p[1] + (i * out + o) * taps;
        std::reverse_copy(from, from + taps, p[0] + (o * in + i) * taps);
      }
    }
  });
}

// The gradient of a convolution's image as a convolution of dY, by the flipped filters; nullopt
// where windows step over elements.
std::optional<ConvSpec> FlippedConv(const ConvGradSpec& g) {
  const ConvSpec& c = g.conv;
  if (g.of_weights || c.groups != 1) return std::nullopt;
  ConvSpec t = c;
  t.src = c.dst;
  t.dst = c.src;
  std::swap(t.weights[0], t.weights[1]);
  for (size_t k = 0; k < c.stride.size(); ++k) {
    const int64_t reach = (c.weights[2 + k] - 1) * c.dilation[k];
    t.pad_l[k] = reach - c.pad_l[k];
    t.pad_r[k] = reach - c.pad_r[k];
    if (c.stride[k] != 1 || t.pad_l[k] < 0) return std::nullopt;
  }
  return t;
}

class ConvGradKind final : public KindOf<ConvGradSpec> {
 public:
  bool Takes(const Unit& u, const Parser&, const Machine& m, Why* why) const override {
    const std::optional<ConvSpec> flipped = FlippedConv(SpecOf(u));
    if (!flipped) return why->Say(GE_WHY_ATTRIBUTE, "only of groups of 1 and strides of 1");
    if (!IsDirect(*flipped, m)) return why->Say(GE_WHY_SHAPE, "its windows are gathered");
    return BuffersFit(4 * DirectPlan(*flipped, m).workspace_floats(), m.threads, why);
  }
  // That of the convolution, which has no posts, and of the flipped filters.
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    const ConvGradSpec& spec = SpecOf(unit);
    Price out = DirectPrice(unit, *FlippedConv(spec), parser, machine);
    out.work_ns +=
        kLoopNs + static_cast<double>(Product(spec.conv.weights)) * 0.7 / machine.compute;
    return out;
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const ConvGradSpec& g = SpecOf(u);
    const std::optional<ConvSpec> c = FlippedConv(g);
    if (!c) throw std::runtime_error("native has no such gradient of a convolution");
    const DirectPlan plan(*c, b->machine());
    const uint64_t floats = plan.workspace_floats() * static_cast<uint64_t>(b->machine().threads);
    b->NeedWorkspace(floats * sizeof(float));
    const BufferRef dy = b->GetDense(u.in[0]).place, w = b->GetDense(u.in[1]).place;
    const auto bytes = static_cast<uint64_t>(Product(c->weights)) * sizeof(float);
    const BufferRef flipped = b->NewInternal(0, bytes);
    const int64_t taps = Product(c->weights) / (c->weights[0] * c->weights[1]);
    b->AddStep("turn " + b->Sizes(c->weights), FlipFilters(c->weights[1], c->weights[0], taps),
               {flipped, w});
    const BufferRef none =
        b->ConstantFloats(std::vector<float>(static_cast<size_t>(c->weights[0]), 0.0f));
    const Rep y = b->NewResult(u.out[0], b->Plain(u.out[0]));
    b->AddStep("direct grad " + b->Sizes(u.dims), DirectLoop(b->simd(), plan, {}),
               {y.place, dy, flipped, none, b->Workspace()});
    b->AddRep(u.out[0], y);
  }
};

const ConvGradKind kConvGradKind;
}  // namespace

GE_NATIVE_KINDS(conv_grad, &kConvGradKind)

}  // namespace ge_engines::cpu::native
