// Softmax and LogSoftmax of float64.
#include "plugins/units/reduce/double_softmax.h"

#include <algorithm>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/price.h"
#include "plugins/cpu/kit/thresholds.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/price.h"

namespace ge_engines::cpu::native {

namespace {

// Buffers: result, x: n numbers `inner` apart, `outer` times.
class DoubleSoftmaxes final : public Loop {
 public:
  DoubleSoftmaxes(const Simd& simd, bool log, int64_t outer, int64_t n, int64_t inner)
      : simd_(simd), log_(log), outer_(outer), n_(n), inner_(inner) {}

  void Run(float* const* p) const override {
    auto* y = reinterpret_cast<double*>(p[0]);
    const auto* x = reinterpret_cast<const double*>(p[1]);
    const bool parallel = outer_ * n_ * inner_ * int64_t{sizeof(double)} > kParallelBytes;
    if (inner_ == 1) {
      ForRange(parallel, outer_,
               [&](int64_t r) { simd_.softmax_double(log_, x + r * n_, y + r * n_, n_); });
      return;
    }
    const int64_t strips = CeilDiv(inner_, kSoftmaxColumns);
    ForRange(parallel, outer_ * strips, [&](int64_t t) {
      const int64_t first = t % strips * kSoftmaxColumns, at = t / strips * n_ * inner_ + first;
      simd_.softmax_double_columns(log_, x + at, y + at, n_, inner_,
                                   std::min(kSoftmaxColumns, inner_ - first));
    });
  }

 private:
  const Simd& simd_;
  bool log_;
  int64_t outer_, n_, inner_;
};

class DoubleSoftmaxKind final : public KindOf<DoubleSoftmaxSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    const bool last = SpecOf(unit).axis + 1 == static_cast<int>(unit.dims.size());
    return LoopPrice(unit, parser, machine,
                     last ? ByIsa(machine, 0.45, 1, 3) : ByIsa(machine, 1.1, 2.5, 5.5));
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const DoubleSoftmaxSpec& spec = SpecOf(u);
    const auto axis = u.dims.begin() + spec.axis;
    b->AddPlain(
        u, spec.log ? "log softmax of float64" : "softmax of float64",
        std::make_unique<DoubleSoftmaxes>(b->simd(), spec.log, Product(Dims(u.dims.begin(), axis)),
                                          *axis, Product(Dims(axis + 1, u.dims.end()))),
        {b->GetDense(u.in[0]).place});
  }
};

const DoubleSoftmaxKind kDoubleSoftmaxKind;
}  // namespace

GE_NATIVE_KINDS(double_softmax, &kDoubleSoftmaxKind)

}  // namespace ge_engines::cpu::native
