#include "plugins/cpu/native/numbers.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "ge/ge_plugin.hpp"
#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/native/nest.h"

namespace ge_engines::cpu::native {
namespace {

// ---- casts -------------------------------------------------------------------------------------

// A float as an integer: truncated; NaN and what int64 cannot hold become its least value; int32
// keeps the low bits.
template <class To, class From>
To Convert(From v) {
  if constexpr (std::is_same_v<To, bool>) {
    return v != From{0};
  } else if constexpr (std::is_integral_v<To> && std::is_same_v<From, float>) {
    const bool fits = v >= -0x1p63f && v < 0x1p63f;
    const int64_t i = fits ? static_cast<int64_t>(v) : std::numeric_limits<int64_t>::min();
    return static_cast<To>(static_cast<uint64_t>(i));
  } else {
    return static_cast<To>(v);
  }
}

// A bool may be any byte that is not zero.
template <class T>
using Stored = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;

template <class From, class To>
class Cast final : public Loop {
 public:
  explicit Cast(int64_t n) : n_(n) {}
  void Run(float* const* p) const override {
    auto* y = reinterpret_cast<Stored<To>*>(p[0]);
    const auto* x = reinterpret_cast<const Stored<From>*>(p[1]);
    ForRange(n_ > kParallel, (n_ + kPiece - 1) / kPiece, [&](int64_t piece) {
      const int64_t end = std::min(n_, (piece + 1) * kPiece);
#pragma omp simd
      for (int64_t i = piece * kPiece; i < end; ++i) {
        if constexpr (std::is_same_v<From, bool>) {
          y[i] = static_cast<Stored<To>>(x[i] != 0);
        } else {
          y[i] = Convert<To>(x[i]);
        }
      }
    });
  }

 private:
  static constexpr int64_t kPiece = 4096;  // elements of one job
  int64_t n_;
};

// Between float32 and 16-bit floats, by a row kernel.
template <class From, class To>
class CastRows final : public Loop {
 public:
  using Row = void (*)(const From* x, To* y, int64_t n);
  CastRows(Row row, int64_t n) : row_(row), n_(n) {}
  void Run(float* const* p) const override {
    auto* y = reinterpret_cast<To*>(p[0]);
    const auto* x = reinterpret_cast<const From*>(p[1]);
    ForRange(n_ > kParallel, (n_ + kPiece - 1) / kPiece, [&](int64_t piece) {
      const int64_t at = piece * kPiece;
      row_(x + at, y + at, std::min(kPiece, n_ - at));
    });
  }

 private:
  static constexpr int64_t kPiece = 16384;  // elements of one job
  Row row_;
  int64_t n_;
};

std::unique_ptr<Loop> FromHalvesLoop(const Simd& simd, bool brain, int64_t n) {
  return std::make_unique<CastRows<uint16_t, float>>(brain ? simd.widen_brain : simd.widen_half, n);
}
std::unique_ptr<Loop> ToHalvesLoop(const Simd& simd, bool brain, int64_t n) {
  return std::make_unique<CastRows<float, uint16_t>>(brain ? simd.narrow_brain : simd.narrow_half,
                                                     n);
}

template <class From>
std::unique_ptr<Loop> CastFrom(int32_t to, int64_t n) {
  switch (to) {
    case GE_F32:
      return std::make_unique<Cast<From, float>>(n);
    case GE_I32:
      return std::make_unique<Cast<From, int32_t>>(n);
    case GE_I64:
      return std::make_unique<Cast<From, int64_t>>(n);
    case GE_BOOL:
      return std::make_unique<Cast<From, bool>>(n);
    default:
      return nullptr;
  }
}

// ---- two operands ------------------------------------------------------------------------------

template <class T, class R, class F>
void Run(const T* x, const T* z, R* y, int64_t n, int64_t sx, int64_t sz, F f) {
  if (sx == 1 && sz == 1) {
    for (int64_t i = 0; i < n; ++i) y[i] = f(x[i], z[i]);
  } else if (sx == 1 && sz == 0) {
    const T c = z[0];
    for (int64_t i = 0; i < n; ++i) y[i] = f(x[i], c);
  } else if (sx == 0 && sz == 1) {
    const T c = x[0];
    for (int64_t i = 0; i < n; ++i) y[i] = f(c, z[i]);
  } else {
    for (int64_t i = 0; i < n; ++i) y[i] = f(x[i * sx], z[i * sz]);
  }
}

// Bools are read as any byte that is not zero.
template <Relation kOp, class T>
bool Holds(T a, T b) {
  if constexpr (std::is_same_v<T, uint8_t>) {
    if constexpr (kOp == Relation::kEqual) return (a != 0) == (b != 0);
  }
  switch (kOp) {
    case Relation::kEqual:
      return a == b;
    case Relation::kLess:
      return a < b;
    case Relation::kGreater:
      return a > b;
    case Relation::kLessOrEqual:
      return a <= b;
    case Relation::kGreaterOrEqual:
      return a >= b;
    case Relation::kAnd:
      return (a != 0) & (b != 0);
    case Relation::kOr:
      return (a != 0) | (b != 0);
    case Relation::kXor:
      return (a != 0) != (b != 0);
    case Relation::kNot:
      return a == 0;
  }
  return false;
}

template <Relation kOp, class T, class R>
class Related final : public Loop {
 public:
  explicit Related(Nest nest) : nest_(std::move(nest)) {}
  void Run(float* const* p) const override {
    auto* y = reinterpret_cast<R*>(p[0]);
    const auto* x = reinterpret_cast<const T*>(p[1]);
    const auto* z = reinterpret_cast<const T*>(p[2]);
    nest_.ForEach([&](int64_t o, int64_t ox, int64_t oz) {
      native::Run(x + ox, z + oz, y + o, nest_.dim.back(), nest_.x.back(), nest_.z.back(),
                  [](T a, T b) { return static_cast<R>(Holds<kOp>(a, b)); });
    });
  }

 private:
  Nest nest_;
};

template <Relation kOp, class T>
std::unique_ptr<Loop> RelatedAs(bool as_float, Nest nest) {
  if (as_float) return std::make_unique<Related<kOp, T, float>>(std::move(nest));
  return std::make_unique<Related<kOp, T, uint8_t>>(std::move(nest));
}

template <Relation kOp>
std::unique_ptr<Loop> RelatedBy(int32_t dtype, bool as_float, Nest nest) {
  switch (dtype) {
    case GE_F32:
      return RelatedAs<kOp, float>(as_float, std::move(nest));
    case GE_I32:
      return RelatedAs<kOp, int32_t>(as_float, std::move(nest));
    case GE_I64:
      return RelatedAs<kOp, int64_t>(as_float, std::move(nest));
    default:
      return RelatedAs<kOp, uint8_t>(as_float, std::move(nest));
  }
}

class PRelu final : public Loop {
 public:
  PRelu(const Simd& simd, Nest nest) : simd_(simd), nest_(std::move(nest)) {}
  void Run(float* const* p) const override {
    nest_.ForEach([&](int64_t o, int64_t ox, int64_t oz) {
      const int64_t n = nest_.dim.back();
      if (nest_.z.back() == 0 || n == 1) {
        return simd_.unary(Fn::kRelu, p[2][oz], 0, p[1] + ox, p[0] + o, n);
      }
      native::Run(p[1] + ox, p[2] + oz, p[0] + o, n, nest_.x.back(), nest_.z.back(), Choose);
    });
  }

 private:
  // By the sign's bit and without a comparison, which would keep the loop from being vectorised.
  static float Choose(float a, float slope) {
    const float below = a * slope;
    int32_t bits, other;
    std::memcpy(&bits, &a, sizeof(bits));
    std::memcpy(&other, &below, sizeof(other));
    const int32_t negative = bits >> 31;
    bits = (bits & ~negative) | (other & negative);
    std::memcpy(&a, &bits, sizeof(bits));
    return a;
  }

  const Simd& simd_;
  Nest nest_;
};

template <class T>
class Integers final : public Work {
 public:
  Integers(Fn fn, Nest nest) : fn_(fn), nest_(std::move(nest)) {}

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
    for (size_t k = 0; k < nest_.dim.size(); ++k) divisors += (nest_.dim[k] - 1) * nest_.z[k];
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
    nest_.ForEach([&](int64_t o, int64_t ox, int64_t oz) {
      Run(x + ox, z + oz, y + o, nest_.dim.back(), nest_.x.back(), nest_.z.back(), f);
    });
    return GE_OK;
  }

  Fn fn_;
  Nest nest_;
};

}  // namespace

std::unique_ptr<Loop> CastLoop(const Simd& simd, int32_t from, int32_t to, int64_t n) {
  switch (from) {
    case GE_F16:
    case GE_BF16:
      return to == GE_F32 ? FromHalvesLoop(simd, from == GE_BF16, n) : nullptr;
    case GE_F32:
      if (to == GE_F16 || to == GE_BF16) return ToHalvesLoop(simd, to == GE_BF16, n);
      return CastFrom<float>(to, n);
    case GE_I32:
      return CastFrom<int32_t>(to, n);
    case GE_I64:
      return CastFrom<int64_t>(to, n);
    case GE_BOOL:
      return CastFrom<bool>(to, n);
    default:
      return nullptr;
  }
}

std::unique_ptr<Loop> RelationLoop(Relation op, int32_t dtype, bool as_float, const Dims& result,
                                   const Dims& x, const Dims& z) {
  Nest nest(result, x, z);
  switch (op) {
    case Relation::kEqual:
      return RelatedBy<Relation::kEqual>(dtype, as_float, std::move(nest));
    case Relation::kLess:
      return RelatedBy<Relation::kLess>(dtype, as_float, std::move(nest));
    case Relation::kGreater:
      return RelatedBy<Relation::kGreater>(dtype, as_float, std::move(nest));
    case Relation::kLessOrEqual:
      return RelatedBy<Relation::kLessOrEqual>(dtype, as_float, std::move(nest));
    case Relation::kGreaterOrEqual:
      return RelatedBy<Relation::kGreaterOrEqual>(dtype, as_float, std::move(nest));
    case Relation::kAnd:
      return RelatedAs<Relation::kAnd, uint8_t>(as_float, std::move(nest));
    case Relation::kOr:
      return RelatedAs<Relation::kOr, uint8_t>(as_float, std::move(nest));
    case Relation::kXor:
      return RelatedAs<Relation::kXor, uint8_t>(as_float, std::move(nest));
    case Relation::kNot:
      break;
  }
  return RelatedAs<Relation::kNot, uint8_t>(as_float, std::move(nest));
}

std::unique_ptr<Loop> PReluLoop(const Simd& simd, const Dims& x, const Dims& slope) {
  return std::make_unique<PRelu>(simd, Nest(x, x, slope));
}

std::unique_ptr<Work> IntegerWork(int32_t dtype, Fn fn, const Dims& result, const Dims& x,
                                  const Dims& z) {
  Nest nest(result, x, z);
  if (dtype == GE_I32) return std::make_unique<Integers<int32_t>>(fn, std::move(nest));
  return std::make_unique<Integers<int64_t>>(fn, std::move(nest));
}

}  // namespace ge_engines::cpu::native
