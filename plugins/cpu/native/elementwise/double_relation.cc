// Comparisons of float64.
#include "plugins/units/elementwise/double_relation.h"

#include <algorithm>
#include <utility>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/price.h"
#include "plugins/cpu/kit/thresholds.h"
#include "plugins/cpu/native/broadcast.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/price.h"

namespace ge_engines::cpu::native {

namespace {

// The comparison, and the one with its operands turned around.
std::pair<Compare, Compare> CompareOf(Relation op) {
  switch (op) {
    case Relation::kLess:
      return {Compare::kLess, Compare::kGreater};
    case Relation::kGreater:
      return {Compare::kGreater, Compare::kLess};
    case Relation::kLessOrEqual:
      return {Compare::kLessOrEqual, Compare::kGreaterOrEqual};
    case Relation::kGreaterOrEqual:
      return {Compare::kGreaterOrEqual, Compare::kLessOrEqual};
    default:
      return {Compare::kEqual, Compare::kEqual};
  }
}

// Buffers: result (bytes 0 or 1), x, z.
class DoubleRelations final : public Loop {
 public:
  DoubleRelations(const Simd& simd, Relation op, Broadcast broadcast)
      : simd_(simd), compare_(CompareOf(op)), broadcast_(std::move(broadcast)) {}

  void Run(float* const* p) const override {
    auto* y = reinterpret_cast<uint8_t*>(p[0]);
    const auto* x = reinterpret_cast<const double*>(p[1]);
    const auto* z = reinterpret_cast<const double*>(p[2]);
    const int64_t sx = broadcast_.x.back(), sz = broadcast_.z.back();
    const bool parallel = broadcast_.rows * broadcast_.dim.back() > kParallel;
    broadcast_.ForPieces(parallel, kTile, [&](int64_t o, int64_t n, int64_t ox, int64_t oz) {
      if (sx == 0) {
        simd_.compare_doubles(compare_.second, z + oz, x + ox, 0, y + o, sz == 0 ? 1 : n);
        if (sz == 0) std::fill(y + o, y + o + n, y[o]);
      } else {
        simd_.compare_doubles(compare_.first, x + ox, z + oz, sz, y + o, n);
      }
    });
  }

 private:
  const Simd& simd_;
  std::pair<Compare, Compare> compare_;
  Broadcast broadcast_;
};

class DoubleRelationKind final : public KindOf<DoubleRelationSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    const double n = static_cast<double>(Product(unit.dims));
    return WorkPrice(unit, parser, machine, {n * ByIsa(machine, 0.2, 0.3, 0.6) / machine.compute});
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    b->AddPlain(u, "comparison of float64",
                std::make_unique<DoubleRelations>(
                    b->simd(), SpecOf(u).op,
                    Broadcast(u.dims, b->parser().dims(u.in[0]), b->parser().dims(u.in[1]))),
                {b->GetDense(u.in[0]).place, b->GetDense(u.in[1]).place});
  }
};

const DoubleRelationKind kDoubleRelationKind;
}  // namespace

GE_NATIVE_KINDS(double_relation, &kDoubleRelationKind)

}  // namespace ge_engines::cpu::native
