// Products of 8-bit integers.
#include "plugins/units/quantized/integer_matmul.h"

#include <algorithm>
#include <cstdint>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/price.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/price.h"
#include "plugins/cpu/native/quantized/dot4.h"
#include "plugins/cpu/native/quantized/integer_product.h"
#include "plugins/cpu/native/quantized/step.h"
#include "plugins/units/quantized/inputs.h"

namespace ge_engines::cpu::native {

namespace {

double IntegerProductNs(const Unit& u, const Parser& p, const Machine& m) {
  if (UsesDot4(u, p, m)) {
    const auto& s = *As<IntegerProductSpec>(u);
    const Dims b = p.dims(u.in[QuantIn::kW]);
    const int64_t n = b[s.transposed ? 0 : 1], k = b[s.transposed ? 1 : 0];
    return Dot4Ns(u, Dot4Plan(Product(u.dims) / n, n, k, s.transposed, m.threads, {}), p, m);
  }
  const double weights = BytesOf(p, u.in[QuantIn::kW]);
  const double rows = static_cast<double>(Product(u.dims) / u.dims.back());
  return std::max(rows * weights / IntegerRate(m), weights / (14 * m.stream[2])) +
         static_cast<double>(Product(u.dims)) * 0.3;
}

class IntegerMatMulKind final : public KindOf<IntegerProductSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    return WorkPrice(unit, parser, machine, {IntegerProductNs(unit, parser, machine)});
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const IntegerProductSpec& spec = SpecOf(u);
    const Dims weights = b->parser().dims(u.in[QuantIn::kW]);
    const int64_t n = weights[spec.transposed ? 0 : 1], k = weights[spec.transposed ? 1 : 0];
    if (UsesDot4(u, b->parser(), b->machine())) {
      const Dot4Plan plan(Product(u.dims) / n, n, k, spec.transposed, b->machine().threads,
                          ResultOf(u, b->parser(), spec.range));
      return EmitDot4(b, u, plan, b->Plain(u.in[QuantIn::kX]), b->Plain(u.out[0]));
    }
    IntegerProductPlan plan(b->simd(), Product(u.dims) / n, n, k,
                            ResultOf(u, b->parser(), spec.range));
    plan.transposed = spec.transposed;
    AddQuantized(b, u, "integer product", b->GetDense(u.in[QuantIn::kX]).place, b->Plain(u.out[0]),
                 PackQuantized(b, u, plan), plan.scratch_bytes(),
                 IntegerProductLoop(b->simd(), plan));
  }
};

const IntegerMatMulKind kIntegerMatMulKind;
}  // namespace

GE_NATIVE_KINDS(integer_matmul, &kIntegerMatMulKind)

}  // namespace ge_engines::cpu::native
