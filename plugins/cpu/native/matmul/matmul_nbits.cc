// MatMulNBits.
#include "plugins/units/matmul/matmul_nbits.h"

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/matmul/nbit_kernels.h"
#include "plugins/cpu/native/matmul/nbits.h"
#include "plugins/cpu/native/matmul/panel_step.h"
#include "plugins/cpu/native/matmul/panels.h"

namespace ge_engines::cpu::native {

namespace {

PanelPlan NBitsPlan(const Unit& u, const NBitsSpec& spec, const Machine& m) {
  const NBitKernels* by = spec.narrow && !m.exact ? NBitKernelsOf(m.isa, spec.form) : nullptr;
  return PanelPlan(SimdOf(m.isa), Product(u.dims) / spec.n, spec.n, spec.k, spec.form, by);
}

class MatMulNBitsKind final : public KindOf<NBitsSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    return PanelPrice(unit, NBitsPlan(unit, SpecOf(unit), machine), parser, machine);
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const NBitsSpec& spec = SpecOf(u);
    const PanelPlan plan = NBitsPlan(u, spec, b->machine());
    Ids values = {u.in[1], u.in[2]};
    if (u.in[3] != 0) values.push_back(u.in[3]);
    const BufferRef weights =
        b->Pack(values, NBitsKey(plan), plan.weight_floats() * sizeof(float),
                [plan](const void* const* from, void* to) { PackNBits(plan, from, to); });
    AddPanels(b, u, plan, b->GetDense(u.in[0]).place, weights);
  }
};

const MatMulNBitsKind kMatMulNBitsKind;
}  // namespace

GE_NATIVE_KINDS(matmul_nbits, &kMatMulNBitsKind)

}  // namespace ge_engines::cpu::native
