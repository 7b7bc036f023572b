// Axes in another order: a view of 4-byte elements, else a copy.
#include "plugins/units/movement/transpose.h"

#include <cstdint>

#include "plugins/cpu/kit/builder.h"
#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/movement/box_move.h"
#include "plugins/cpu/native/price.h"

namespace ge_engines::cpu::native {

namespace {

void EmitMove(NativeBuilder* b, const Unit& u, const TransposeSpec& spec) {
  const Dims strides = StridesOf(b->parser().dims(u.in[0]));
  Dims from;
  for (const int64_t axis : spec.perm) from.push_back(strides[static_cast<size_t>(axis)]);
  b->AddPlain(
      u, "transpose",
      MoveLoop(b->simd(), {{1, 0, 0, u.dims, from, StridesOf(u.dims)}}, b->parser().size(u.out[0])),
      {b->GetDense(u.in[0]).place});
}

class TransposeKind final : public KindOf<TransposeSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    const Dims& perm = SpecOf(unit).perm;
    const bool apart = !perm.empty() && perm.back() + 1 != static_cast<int64_t>(perm.size());
    if (parser.size(unit.out[0]) == 4) return ViewPrice(unit, parser, machine, apart);
    return LoopPrice(unit, parser, machine, apart ? 0.25 : 0);
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const TransposeSpec& spec = SpecOf(u);
    if (b->parser().size(u.out[0]) != 4) return EmitMove(b, u, spec);
    const uint32_t v = u.in[0];
    const Rep main = b->Main(v);
    Layout l = Layout::Dense(u.dims);
    if (main.layout.cblock > 0) {
      // Straight into the order of the result.
      Layout order = Layout::Dense(b->parser().dims(v));
      for (size_t i = 0; i < spec.perm.size(); ++i) {
        order.stride[spec.perm[i]] = l.stride[static_cast<int>(i)];
      }
      const Rep x = b->Get(v, order);
      b->AddRep(u.out[0], {l, x.place});
      return;
    }
    for (size_t i = 0; i < spec.perm.size(); ++i) {
      l.stride[static_cast<int>(i)] = main.layout.stride[spec.perm[i]];
    }
    b->AddRep(u.out[0], {l, main.place});
  }
};

const TransposeKind kTransposeKind;
}  // namespace

GE_NATIVE_KINDS(transpose, &kTransposeKind)

}  // namespace ge_engines::cpu::native
