// Range: floats in double, integers modulo 2^n.
#include "plugins/units/movement/range.h"

#include <algorithm>
#include <type_traits>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/native/axis_cut.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/price.h"

namespace ge_engines::cpu::native {

namespace {

// Buffers: result, start, limit, delta.
template <class T>
class Steps final : public Loop {
 public:
  explicit Steps(int64_t n) : n_(n) {}
  void Run(float* const* p) const override {
    using W = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;
    auto* y = reinterpret_cast<T*>(p[0]);
    const W start = static_cast<W>(*reinterpret_cast<const T*>(p[1]));
    const W delta = static_cast<W>(*reinterpret_cast<const T*>(p[3]));
    ForRange(n_ > kParallel, CeilDiv(n_, kPiece), [&](int64_t piece) {
      const int64_t end = std::min(n_, (piece + 1) * kPiece);
      for (int64_t i = piece * kPiece; i < end; ++i) {
        y[i] = static_cast<T>(start + static_cast<W>(i) * delta);
      }
    });
  }

 private:
  static constexpr int64_t kPiece = 4096;  // elements of one job
  int64_t n_;
};

class RangeKind final : public KindOf<RangeSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    return WorkPrice(unit, parser, machine, {static_cast<double>(Product(unit.dims)) * 0.4});
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    auto loop = ForNumber<Loop>(b->parser().dtype(u.out[0]), [&](auto t) -> std::unique_ptr<Loop> {
      return std::make_unique<Steps<decltype(t)>>(Product(u.dims));
    });
    b->AddPlain(
        u, "range", std::move(loop),
        {b->GetDense(u.in[0]).place, b->GetDense(u.in[1]).place, b->GetDense(u.in[2]).place});
  }
};

const RangeKind kRangeKind;
}  // namespace

GE_NATIVE_KINDS(range, &kRangeKind)

}  // namespace ge_engines::cpu::native
