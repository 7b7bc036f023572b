// Products of 8-bit integers.
#include "plugins/units/quantized/integer_matmul.h"

#include <algorithm>
#include <cstdint>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/price.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/price.h"
#include "plugins/cpu/native/quantized/computed_product.h"
#include "plugins/cpu/native/quantized/dot4.h"
#include "plugins/cpu/native/quantized/integer_product.h"
#include "plugins/cpu/native/quantized/step.h"
#include "plugins/units/quantized/inputs.h"

namespace ge_engines::cpu::native {

namespace {

// Of [..., m, k] by [..., k, n] or [k, n].
ComputedProductPlan ComputedPlan(const Unit& u, const Parser& p, const Machine& m) {
  const Dims a = p.dims(u.in[QuantIn::kX]), b = p.dims(u.in[QuantIn::kW]);
  const int64_t k = a.back(), n = b.back();
  const int64_t count = Product(Dims(b.begin(), b.end() - 2));
  const int64_t rows = k == 0 || count == 0 ? 0 : Product(a) / k / count;
  return {count,
          rows,
          n,
          k,
          IsSigned(p, u.in[QuantIn::kW]),
          m.threads,
          ResultOf(u, p, As<IntegerProductSpec>(u)->range)};
}

double ComputedProductNs(const Unit& u, const Parser& p, const Machine& m) {
  const ComputedProductPlan plan = ComputedPlan(u, p, m);
  const auto count = static_cast<double>(plan.count);
  const double packing = 0.15 * static_cast<double>(plan.k * plan.n) / m.compute;
  return count * packing + Dot4Ns(u, plan.product, p, m) * count;
}

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
  bool Takes(const Unit& u, const Parser&, const Machine& m, Why* why) const override {
    if (!SpecOf(u).computed || Dot4KernelsOf(m.isa) != nullptr) return true;
    return why->Say(GE_WHY_DYNAMIC, "weights are not constant, and the kernels for it need AVX2");
  }
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    const double ns = SpecOf(unit).computed ? ComputedProductNs(unit, parser, machine)
                                            : IntegerProductNs(unit, parser, machine);
    return WorkPrice(unit, parser, machine, {ns});
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const IntegerProductSpec& spec = SpecOf(u);
    if (spec.computed) return EmitComputed(u, b);
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

 private:
  static void EmitComputed(const Unit& u, NativeBuilder* b) {
    const ComputedProductPlan plan = ComputedPlan(u, b->parser(), b->machine());
    const uint32_t zero = u.in[QuantIn::kWZero];
    const BufferRef weights = b->GetDense(u.in[QuantIn::kW]).place;
    AddQuantized(b, u, "dot4 computed", b->GetDense(u.in[QuantIn::kX]).place, b->Plain(u.out[0]),
                 weights, plan.scratch_bytes(),
                 ComputedProductLoop(*Dot4KernelsOf(b->machine().isa), plan, zero != 0),
                 zero != 0 ? b->GetDense(zero).place : weights);
  }
};

const IntegerMatMulKind kIntegerMatMulKind;
}  // namespace

GE_NATIVE_KINDS(integer_matmul, &kIntegerMatMulKind)

}  // namespace ge_engines::cpu::native
