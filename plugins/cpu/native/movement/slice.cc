// Boxes of a tensor: views of 4-byte elements, else copies.
#include "plugins/units/movement/slice.h"

#include <algorithm>
#include <cstdint>

#include "plugins/cpu/kit/builder.h"
#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/loops.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/movement/box_move.h"
#include "plugins/cpu/native/price.h"

namespace ge_engines::cpu::native {

namespace {

bool GoesBack(const SliceSpec& s) {
  return std::any_of(s.boxes.begin(), s.boxes.end(), [](const Box& b) {
    return std::any_of(b.step.begin(), b.step.end(), [](int64_t step) { return step < 0; });
  });
}

void EmitMove(NativeBuilder* b, const Unit& u, const SliceSpec& spec) {
  const Dims strides = StridesOf(b->parser().dims(u.in[0]));
  for (size_t k = 0; k < u.out.size(); ++k) {
    const Dims d = b->parser().dims(u.out[k]);
    MoveBox box{1, 0, 0, d, strides, StridesOf(d)};
    for (size_t i = 0; i < d.size(); ++i) {
      box.from += strides[i] * spec.boxes[k].start[i];
      box.src[i] *= spec.boxes[k].step[i];
    }
    const Rep y = b->NewResult(u.out[k], b->Plain(u.out[k]));
    b->AddStep("slice " + b->Sizes(d), MoveLoop(b->simd(), {box}, b->parser().size(u.out[0])),
               {y.place, b->GetDense(u.in[0]).place});
    b->AddRep(u.out[k], y);
  }
}

class SliceKind final : public KindOf<SliceSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    const SliceSpec& spec = SpecOf(unit);
    if (parser.size(unit.out[0]) == 4 && !GoesBack(spec))
      return ViewPrice(unit, parser, machine, false);
    return LoopPrice(unit, parser, machine, 0,
                     spec.boxes[0].step.back() != 1 ? Product(unit.dims) : 0);
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const SliceSpec& spec = SpecOf(u);
    if (b->parser().size(u.out[0]) != 4 || GoesBack(spec)) return EmitMove(b, u, spec);
    const Rep x = b->Main(u.in[0]);
    for (size_t k = 0; k < u.out.size(); ++k) {
      const Box& box = spec.boxes[k];
      const Dims d = b->parser().dims(u.out[k]);
      const bool strided =
          std::any_of(box.step.begin(), box.step.end(), [](int64_t s) { return s != 1; });
      if (x.layout.cblock > 0 && !strided) {
        const Layout target = Layout::Blocked(d, x.layout.cblock);
        const Rep y = b->NewResult(u.out[k], target);
        b->AddStep(
            "slice " + b->Sizes(d),
            CopyLoop(b->simd(), target, {{x.layout, target, box.start, Dims(d.size(), 0), d}}),
            {y.place, x.place});
        b->AddRep(u.out[k], y);
        continue;
      }
      const Rep plain = b->Unblocked(u.in[0]);
      Layout l = Layout::Dense(d);
      uint64_t offset = plain.place.offset;
      for (int i = 0; i < l.rank; ++i) {
        const auto at = static_cast<size_t>(i);
        l.stride[i] = plain.layout.stride[i] * box.step[at];
        offset += static_cast<uint64_t>(plain.layout.stride[i] * box.start[at]) * sizeof(float);
      }
      b->AddRep(u.out[k], {l, {plain.place.storage, offset}});
    }
  }
};

const SliceKind kSliceKind;
}  // namespace

GE_NATIVE_KINDS(slice, &kSliceKind)

}  // namespace ge_engines::cpu::native
