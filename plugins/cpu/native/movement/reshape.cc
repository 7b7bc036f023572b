// The same elements in the same order: a view, or a copy at the border of a segment.
#include "plugins/units/movement/reshape.h"

#include <cstdint>
#include <vector>

#include "plugins/cpu/kit/builder.h"
#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/price.h"

namespace ge_engines::cpu::native {

namespace {

class ReshapeKind final : public KindOf<ViewSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    return ViewPrice(unit, parser, machine, false);
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const uint32_t v = u.in[0];
    if (b->parser().dims(v) == u.dims && !b->parser().constant(v)) {
      for (const Rep& r : std::vector<Rep>(b->RepsOf(v))) b->AddRep(u.out[0], r);
      return;
    }
    // Axes of one element come and go in any plain layout.
    const Rep x = b->Unblocked(v);
    Layout l = b->Plain(u.out[0]);
    int from = 0;
    bool match = true;
    for (int i = 0; i < l.rank && match; ++i) {
      if (l.dim[i] == 1) continue;
      while (from < x.layout.rank && x.layout.dim[from] == 1) ++from;
      match = from < x.layout.rank && x.layout.dim[from] == l.dim[i];
      if (match) l.stride[i] = x.layout.stride[from++];
    }
    if (match) {
      b->AddRep(u.out[0], {l, x.place});
      return;
    }
    b->AddRep(u.out[0], {b->Plain(u.out[0]), b->GetDense(v).place});
  }
};

const ReshapeKind kReshapeKind;
}  // namespace

GE_NATIVE_KINDS(reshape, &kReshapeKind)

}  // namespace ge_engines::cpu::native
