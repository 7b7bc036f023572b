// Repeats a tensor along axes of one element.
#include "plugins/units/movement/expand.h"

#include "plugins/cpu/kit/builder.h"
#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/loops.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/movement/box_move.h"
#include "plugins/cpu/native/price.h"

namespace ge_engines::cpu::native {

namespace {

void EmitMove(NativeBuilder* b, const Unit& u, const ExpandSpec&) {
  const Dims x = b->parser().dims(u.in[0]), strides = StridesOf(x);
  Dims from(u.dims.size(), 0);
  const size_t lead = u.dims.size() - x.size();
  for (size_t k = 0; k < x.size(); ++k) from[k + lead] = x[k] == 1 ? 0 : strides[k];
  b->AddPlain(
      u, "expand",
      MoveLoop(b->simd(), {{1, 0, 0, u.dims, from, StridesOf(u.dims)}}, b->parser().size(u.out[0])),
      {b->GetDense(u.in[0]).place});
}

class ExpandKind final : public KindOf<ExpandSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    return LoopPrice(unit, parser, machine, 0);
  }
  // Repeats by a source that does not move along the axes of one element.
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const ExpandSpec& spec = SpecOf(u);
    if (b->parser().size(u.out[0]) != 4) return EmitMove(b, u, spec);
    const Rep x = b->Unblocked(u.in[0]);
    const Layout target = Layout::Dense(u.dims);
    Layout from = target;
    const int lead = target.rank - x.layout.rank;
    for (int i = 0; i < target.rank; ++i) {
      from.stride[i] = i < lead || x.layout.dim[i - lead] == 1 ? 0 : x.layout.stride[i - lead];
    }
    const Rep y = b->NewResult(u.out[0], target);
    const Dims zero(u.dims.size(), 0);
    b->AddStep("expand " + b->Sizes(u.dims),
               CopyLoop(b->simd(), target, {{from, target, zero, zero, u.dims}}),
               {y.place, x.place});
    b->AddRep(u.out[0], y);
  }
};

const ExpandKind kExpandKind;
}  // namespace

GE_NATIVE_KINDS(expand, &kExpandKind)

}  // namespace ge_engines::cpu::native
