#include "plugins/cpu/native/reduce/layer_normalization.h"

#include "plugins/cpu/kit/builder.h"
#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/price.h"
#include "plugins/cpu/kit/thresholds.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/price.h"

namespace ge_engines::cpu::native {

namespace {

class LayerNormRows final : public Loop {
 public:
  LayerNormRows(const Simd& simd, int64_t rows, int64_t n, const LayerNormSpec& spec, bool gamma,
                bool beta)
      : simd_(simd), rows_(rows), n_(n), spec_(spec), gamma_(gamma), beta_(beta) {}

  void Run(float* const* p) const override {
    const float* gamma = gamma_ ? p[2] : nullptr;
    const float* beta = beta_ ? p[3] : nullptr;
    ForRange(rows_ * n_ > kParallel, rows_, [&](int64_t r) {
      const float* const x = p[1] + r * n_;
      float* const y = p[0] + r * n_;
      if (spec_.centered) {
        simd_.layer_norm(x, gamma, beta, spec_.eps, y, n_);
      } else {
        simd_.rms_norm(x, gamma, spec_.eps, y, n_);
      }
    });
  }

 private:
  const Simd& simd_;
  int64_t rows_, n_;
  const LayerNormSpec spec_;
  bool gamma_, beta_;
};

}  // namespace

std::unique_ptr<Loop> LayerNormLoop(const Simd& simd, int64_t rows, int64_t n,
                                    const LayerNormSpec& spec, bool gamma, bool beta) {
  return std::make_unique<LayerNormRows>(simd, rows, n, spec, gamma, beta);
}

namespace {

class LayerNormKind final : public KindOf<LayerNormSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    const double centered = SpecOf(unit).centered ? 1 : 0.7;  // else a sum less
    return LoopPrice(unit, parser, machine, ByIsa(machine, 0.28, 0.29, 0.56) * centered);
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const LayerNormSpec& spec = SpecOf(u);
    const Rep x = b->GetDense(u.in[0]);
    const int64_t n = u.dims.back();
    const BufferRef gamma = u.in[1] != 0 ? b->GetDense(u.in[1]).place : x.place;
    const BufferRef beta = u.in[2] != 0 ? b->GetDense(u.in[2]).place : x.place;
    const Rep y = b->NewResult(u.out[0], Layout::Dense(u.dims));
    b->AddStep((spec.centered ? "layer norm " : "RMS norm ") + b->Sizes(u.dims),
               LayerNormLoop(b->simd(), Product(u.dims) / n, n, spec, u.in[1] != 0, u.in[2] != 0),
               {y.place, x.place, gamma, beta});
    b->AddRep(u.out[0], y);
  }
};

const LayerNormKind kLayerNormKind;
}  // namespace

GE_NATIVE_KINDS(layer_normalization, &kLayerNormKind)

}  // namespace ge_engines::cpu::native
