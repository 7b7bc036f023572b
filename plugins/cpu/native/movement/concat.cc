// Concatenates tensors along an axis.
#include "plugins/units/movement/concat.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "plugins/cpu/kit/builder.h"
#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/loops.h"
#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/movement/box_move.h"
#include "plugins/cpu/native/price.h"

namespace ge_engines::cpu::native {

namespace {

void EmitMove(NativeBuilder* b, const Unit& u, const ConcatSpec& spec) {
  const Dims to = StridesOf(u.dims);
  const auto axis = static_cast<size_t>(spec.axis);
  std::vector<MoveBox> boxes;
  std::vector<BufferRef> reads;
  int64_t at = 0;
  for (uint32_t v : u.in) {
    const Dims d = b->parser().dims(v);
    reads.push_back(b->GetDense(v).place);
    boxes.push_back({static_cast<int>(reads.size()), 0, at * to[axis], d, StridesOf(d), to});
    at += d[axis];
  }
  b->AddPlain(u, "concat", MoveLoop(b->simd(), boxes, b->parser().size(u.out[0])),
              std::move(reads));
}

class ConcatKind final : public KindOf<ConcatSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    return LoopPrice(unit, parser, machine, 0);
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const ConcatSpec& spec = SpecOf(u);
    if (b->parser().size(u.out[0]) != 4) return EmitMove(b, u, spec);
    Layout target = Layout::Dense(u.dims);
    for (uint32_t v : u.in) {
      if (!b->parser().constant(v) && target.dense())
        target = Layout::Like(u.dims, b->Main(v).layout);
    }
    std::vector<BoxCopy> boxes;
    std::vector<BufferRef> places(1);
    Dims at(u.dims.size(), 0);
    for (uint32_t v : u.in) {
      const Rep x = target.cblock > 0 ? b->Get(v, Layout::Like(b->parser().dims(v), target))
                                      : b->Unblocked(v);
      boxes.push_back({x.layout, target, Dims(u.dims.size(), 0), at, x.layout.dims()});
      places.push_back(x.place);
      at[static_cast<size_t>(spec.axis)] += x.layout.dim[spec.axis];
    }
    const Rep y = b->NewResult(u.out[0], target);
    places[0] = y.place;
    b->AddStep("concat " + b->Sizes(u.dims), CopyLoop(b->simd(), target, boxes), std::move(places));
    b->AddRep(u.out[0], y);
  }
};

const ConcatKind kConcatKind;
}  // namespace

GE_NATIVE_KINDS(concat, &kConcatKind)

}  // namespace ge_engines::cpu::native
