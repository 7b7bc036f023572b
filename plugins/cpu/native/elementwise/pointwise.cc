// Pointwise functions of float32: the builder of kit/ emits them for every engine.
#include "plugins/units/elementwise/pointwise.h"

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/price.h"

namespace ge_engines::cpu::native {

namespace {

class PointwiseKind final : public KindOf<PointwiseSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    return LoopPrice(unit, parser, machine, 0);
  }
  void Emit(const Unit& u, NativeBuilder* b) const override { b->EmitPointwise(u); }
};

const PointwiseKind kPointwiseKind;
}  // namespace

GE_NATIVE_KINDS(pointwise, &kPointwiseKind)

}  // namespace ge_engines::cpu::native
