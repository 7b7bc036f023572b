#include "plugins/cpu/native/elementwise/integer_arithmetic.h"

#include <algorithm>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/native/broadcast.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/price.h"
#include "plugins/units/elementwise/integer_arithmetic.h"

namespace ge_engines::cpu::native {

namespace {

template <class T>
class Integers final : public Kernel {
 public:
  Integers(Fn fn, Broadcast nest) : fn_(fn), broadcast_(std::move(nest)) {}

  ge_rc Do(const Call& call) const override {
    using U = std::make_unsigned_t<T>;
    const auto* z = reinterpret_cast<const T*>(call.p[2]);
    switch (fn_) {
      case Fn::kAdd:
        return All(call, [](T a, T b) { return static_cast<T>(static_cast<U>(a) + U(b)); });
      case Fn::kSub:
        return All(call, [](T a, T b) { return static_cast<T>(static_cast<U>(a) - U(b)); });
      case Fn::kMul:
        return All(call, [](T a, T b) { return static_cast<T>(static_cast<U>(a) * U(b)); });
      case Fn::kMax:
        return All(call, [](T a, T b) { return std::max(a, b); });
      case Fn::kMin:
        return All(call, [](T a, T b) { return std::min(a, b); });
      default:
        break;
    }
    int64_t divisors = 1;
    for (size_t k = 0; k < broadcast_.dim.size(); ++k)
      divisors += (broadcast_.dim[k] - 1) * broadcast_.z[k];
    if (std::find(z, z + divisors, T{0}) != z + divisors) {
      return ge::plugin::Fail(call.err, GE_INVALID_ARGUMENT, call.node,
                              "an integer is divided by zero");
    }
    // The least number has no positive counterpart; like + - *, division wraps.
    return All(call, [](T a, T b) { return b == T(-1) ? static_cast<T>(U(0) - U(a)) : T(a / b); });
  }

 private:
  template <class F>
  ge_rc All(const Call& call, F f) const {
    auto* y = reinterpret_cast<T*>(call.p[0]);
    const auto* x = reinterpret_cast<const T*>(call.p[1]);
    const auto* z = reinterpret_cast<const T*>(call.p[2]);
    broadcast_.ForEach([&](int64_t o, int64_t ox, int64_t oz) {
      ForRun(x + ox, z + oz, y + o, broadcast_.dim.back(), broadcast_.x.back(), broadcast_.z.back(),
             f);
    });
    return GE_OK;
  }

  Fn fn_;
  Broadcast broadcast_;
};

}  // namespace

std::unique_ptr<Kernel> IntegerArithmeticKernel(int32_t dtype, Fn fn, const Dims& result,
                                                const Dims& x, const Dims& dims) {
  Broadcast nest(result, x, dims);
  if (dtype == GE_I32) return std::make_unique<Integers<int32_t>>(fn, std::move(nest));
  return std::make_unique<Integers<int64_t>>(fn, std::move(nest));
}

namespace {

class IntegerArithmeticKind final : public KindOf<IntegerSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    const double n = static_cast<double>(Product(unit.dims));
    return WorkPrice(unit, parser, machine, {n * 0.3});
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const IntegerSpec& spec = SpecOf(u);
    b->AddPlain(u, "integers",
                IntegerArithmeticKernel(b->parser().dtype(u.in[0]), spec.fn, u.dims,
                                        b->parser().dims(u.in[0]), b->parser().dims(u.in[1])),
                {b->GetDense(u.in[0]).place, b->GetDense(u.in[1]).place});
  }
};

const IntegerArithmeticKind kIntegerArithmeticKind;
}  // namespace

GE_NATIVE_KINDS(integer_arithmetic, &kIntegerArithmeticKind)

}  // namespace ge_engines::cpu::native
