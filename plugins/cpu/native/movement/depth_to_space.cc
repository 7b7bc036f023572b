// Moves blocks of channels to pixels, and back.
#include "plugins/units/movement/depth_to_space.h"

#include "plugins/cpu/kit/builder.h"
#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/movement/box_move.h"
#include "plugins/cpu/native/price.h"

namespace ge_engines::cpu::native {

namespace {

class DepthToSpaceKind final : public KindOf<MoveSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    const double n = static_cast<double>(Product(unit.dims));
    return WorkPrice(unit, parser, machine, {n * kMovedApartNs / machine.compute});
  }
  // As the input lies, if that is an order of single channels.
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const MoveSpec& spec = SpecOf(u);
    const bool words = b->parser().size(u.in[0]) == 4;
    const Rep x = words ? b->Unblocked(u.in[0]) : b->GetDense(u.in[0]);
    MoveBox box;
    for (const MoveSpec::Axis& a : spec.axes) {
      box.size.push_back(a.size);
      box.dst.push_back(a.to);
      box.src.push_back(a.times * x.layout.stride[a.x]);
    }
    b->AddPlain(u, "move", MoveLoop(b->simd(), {box}, b->parser().size(u.out[0])), {x.place});
  }
};

const DepthToSpaceKind kDepthToSpaceKind;
}  // namespace

GE_NATIVE_KINDS(depth_to_space, &kDepthToSpaceKind)

}  // namespace ge_engines::cpu::native
