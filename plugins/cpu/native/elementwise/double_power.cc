// Pow of float64.
#include "plugins/units/elementwise/double_power.h"

#include <cmath>
#include <utility>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/native/broadcast.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/price.h"

namespace ge_engines::cpu::native {

namespace {

constexpr double kPowerNs = 17;  // of the C library, an element

class DoublePowers final : public Loop {
 public:
  explicit DoublePowers(Broadcast broadcast) : broadcast_(std::move(broadcast)) {}

  void Run(float* const* p) const override {
    auto* y = reinterpret_cast<double*>(p[0]);
    const auto* x = reinterpret_cast<const double*>(p[1]);
    const auto* e = reinterpret_cast<const double*>(p[2]);
    constexpr int64_t kPiece = 64, kAlone = 1024;  // numbers of a piece, and that one thread takes
    const bool parallel = broadcast_.rows * broadcast_.dim.back() > kAlone;
    broadcast_.ForPieces(parallel, kPiece, [&](int64_t o, int64_t n, int64_t ox, int64_t oe) {
      ForRun(x + ox, e + oe, y + o, n, broadcast_.x.back(), broadcast_.z.back(),
             [](double base, double power) { return std::pow(base, power); });
    });
  }

 private:
  Broadcast broadcast_;
};

class DoublePowerKind final : public KindOf<DoublePowerSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    const auto n = static_cast<double>(Product(unit.dims));
    return WorkPrice(unit, parser, machine, {n * kPowerNs / machine.compute});
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    b->AddPlain(u, "pow of float64",
                std::make_unique<DoublePowers>(
                    Broadcast(u.dims, b->parser().dims(u.in[0]), b->parser().dims(u.in[1]))),
                {b->GetDense(u.in[0]).place, b->GetDense(u.in[1]).place});
  }
};

const DoublePowerKind kDoublePowerKind;
}  // namespace

GE_NATIVE_KINDS(double_power, &kDoublePowerKind)

}  // namespace ge_engines::cpu::native
