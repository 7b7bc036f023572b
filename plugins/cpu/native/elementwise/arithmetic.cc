#include "plugins/cpu/native/elementwise/arithmetic.h"

#include <algorithm>
#include <type_traits>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/native/broadcast.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/price.h"
#include "plugins/units/elementwise/arithmetic.h"

namespace ge_engines::cpu::native {

namespace {

// What integers of 8 and 16 bits are computed in: signed overflow is no part of the language.
template <class T>
using Modular = std::conditional_t<(sizeof(T) < 4), uint32_t, std::make_unsigned_t<T>>;

template <class T>
T Larger(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return a != a ? a : b != b ? b : a < b ? b : a;
  return std::max(a, b);
}
template <class T>
T Smaller(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return a != a ? a : b != b ? b : b < a ? b : a;
  return std::min(a, b);
}

// call(f) for the function of two T, but for a division of integers.
template <class T, class Call>
void WithFunction(Fn fn, Call call) {
  if constexpr (std::is_floating_point_v<T>) {
    if (fn == Fn::kAdd) return call([](T a, T b) { return a + b; });
    if (fn == Fn::kSub) return call([](T a, T b) { return a - b; });
    if (fn == Fn::kMul) return call([](T a, T b) { return a * b; });
    if (fn == Fn::kDiv) return call([](T a, T b) { return a / b; });
  } else {
    using U = Modular<T>;
    if (fn == Fn::kAdd) return call([](T a, T b) { return static_cast<T>(U(a) + U(b)); });
    if (fn == Fn::kSub) return call([](T a, T b) { return static_cast<T>(U(a) - U(b)); });
    if (fn == Fn::kMul) return call([](T a, T b) { return static_cast<T>(U(a) * U(b)); });
  }
  if (fn == Fn::kMax) return call(Larger<T>);
  if (fn == Fn::kMin) return call(Smaller<T>);
}

template <class T>
class Arithmetic final : public Kernel {
 public:
  Arithmetic(Fn fn, Broadcast broadcast) : fn_(fn), broadcast_(std::move(broadcast)) {}

  ge_rc Do(const Call& call) const override {
    if constexpr (std::is_integral_v<T>) {
      if (fn_ == Fn::kDiv) return Divide(call);
    }
    WithFunction<T>(fn_, [&](auto f) { All(call, f); });
    return GE_OK;
  }

 private:
  ge_rc Divide(const Call& call) const {
    const auto* z = reinterpret_cast<const T*>(call.p[2]);
    int64_t divisors = 1;
    for (size_t k = 0; k < broadcast_.dim.size(); ++k)
      divisors += (broadcast_.dim[k] - 1) * broadcast_.z[k];
    if (std::find(z, z + divisors, T{0}) != z + divisors) {
      return ge::plugin::Fail(call.err, GE_INVALID_ARGUMENT, call.node,
                              "an integer is divided by zero");
    }
    // The least number has no positive counterpart; like + - *, division wraps.
    All(call, [](T a, T b) {
      if constexpr (std::is_signed_v<T>) {
        if (b == T(-1)) return static_cast<T>(Modular<T>(0) - Modular<T>(a));
      }
      return static_cast<T>(a / b);
    });
    return GE_OK;
  }

  template <class F>
  void All(const Call& call, F f) const {
    auto* y = reinterpret_cast<T*>(call.p[0]);
    const auto* x = reinterpret_cast<const T*>(call.p[1]);
    const auto* z = reinterpret_cast<const T*>(call.p[2]);
    broadcast_.ForEach([&](int64_t o, int64_t ox, int64_t oz) {
      ForRun(x + ox, z + oz, y + o, broadcast_.dim.back(), broadcast_.x.back(), broadcast_.z.back(),
             f);
    });
  }

  Fn fn_;
  Broadcast broadcast_;
};

// float16 by pieces that stay in the first cache, in float32.
class HalfArithmetic final : public Kernel {
 public:
  HalfArithmetic(const Simd& simd, Fn fn, Broadcast broadcast)
      : simd_(simd), fn_(fn), broadcast_(std::move(broadcast)) {}

  ge_rc Do(const Call& call) const override {
    auto* y = reinterpret_cast<uint16_t*>(call.p[0]);
    const auto* x = reinterpret_cast<const uint16_t*>(call.p[1]);
    const auto* z = reinterpret_cast<const uint16_t*>(call.p[2]);
    broadcast_.ForEach([&](int64_t o, int64_t ox, int64_t oz) {
      const int64_t n = broadcast_.dim.back(), sx = broadcast_.x.back(), sz = broadcast_.z.back();
      for (int64_t i = 0; i < n; i += kPiece) {
        Piece(x + ox + i * sx, z + oz + i * sz, y + o + i, std::min(kPiece, n - i), sx, sz);
      }
    });
    return GE_OK;
  }

 private:
  static constexpr int64_t kPiece = 512;

  void Piece(const uint16_t* x, const uint16_t* z, uint16_t* y, int64_t n, int64_t sx,
             int64_t sz) const {
    float a[kPiece], b[kPiece];
    Widen(x, n, sx, a);
    Widen(z, n, sz, b);
    WithFunction<float>(fn_, [&](auto f) {
      ForRun(static_cast<const float*>(a), static_cast<const float*>(b), a, n, sx == 0 ? 0 : 1,
             sz == 0 ? 0 : 1, f);
    });
    simd_.narrow_half(a, y, n);
  }

  void Widen(const uint16_t* from, int64_t n, int64_t step, float* to) const {
    if (step <= 1) return simd_.widen_half(from, to, step == 0 ? 1 : n);
    for (int64_t i = 0; i < n; ++i) simd_.widen_half(from + i * step, to + i, 1);
  }

  const Simd& simd_;
  Fn fn_;
  Broadcast broadcast_;
};

}  // namespace

std::unique_ptr<Kernel> ArithmeticKernel(const Simd& simd, int32_t dtype, Fn fn, const Dims& result,
                                         const Dims& x, const Dims& dims) {
  Broadcast broadcast(result, x, dims);
  switch (dtype) {
    case GE_I8:
      return std::make_unique<Arithmetic<int8_t>>(fn, std::move(broadcast));
    case GE_U8:
      return std::make_unique<Arithmetic<uint8_t>>(fn, std::move(broadcast));
    case GE_I16:
      return std::make_unique<Arithmetic<int16_t>>(fn, std::move(broadcast));
    case GE_U16:
      return std::make_unique<Arithmetic<uint16_t>>(fn, std::move(broadcast));
    case GE_I32:
      return std::make_unique<Arithmetic<int32_t>>(fn, std::move(broadcast));
    case GE_U32:
      return std::make_unique<Arithmetic<uint32_t>>(fn, std::move(broadcast));
    case GE_U64:
      return std::make_unique<Arithmetic<uint64_t>>(fn, std::move(broadcast));
    case GE_F64:
      return std::make_unique<Arithmetic<double>>(fn, std::move(broadcast));
    case GE_F16:
      return std::make_unique<HalfArithmetic>(simd, fn, std::move(broadcast));
    default:
      return std::make_unique<Arithmetic<int64_t>>(fn, std::move(broadcast));
  }
}

namespace {

class ArithmeticKind final : public KindOf<ArithmeticSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    const double n = static_cast<double>(Product(unit.dims));
    return WorkPrice(unit, parser, machine, {n * 0.3});
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const int32_t dtype = b->parser().dtype(u.in[0]);
    b->AddPlain(u, "arithmetic",
                ArithmeticKernel(b->simd(), dtype, SpecOf(u).fn, u.dims, b->parser().dims(u.in[0]),
                                 b->parser().dims(u.in[1])),
                {b->GetDense(u.in[0]).place, b->GetDense(u.in[1]).place});
  }
};

const ArithmeticKind kArithmeticKind;
}  // namespace

GE_NATIVE_KINDS(arithmetic, &kArithmeticKind)

}  // namespace ge_engines::cpu::native
