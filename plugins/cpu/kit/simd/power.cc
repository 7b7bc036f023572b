// Powers, and remainders of divisions: in double, whose 29 more bits make good for what exponents
// and whole quotients cost.
#include "plugins/cpu/kit/simd/vector.h"

HWY_BEFORE_NAMESPACE();
namespace ge_engines::cpu {
namespace GE_SIMD_ISA {
namespace {

constexpr int64_t kPowerLanes = HWY_LANES(double);

// Calls f(d, i) for pieces of [0, n) as ForEach does, d of doubles.
template <int64_t kN, class F>
GE_INLINE void RestOfDoubles(int64_t i, int64_t n, F call) {
  if constexpr (kN >= 1) {
    if (i + kN <= n) {
      call(hn::Simd<double, size_t{kN}, 0>(), i);
      i += kN;
    }
    RestOfDoubles<kN / 2>(i, n, call);
  }
}
template <class F>
GE_INLINE void ForDoubles(int64_t n, F call) {
  const hn::Simd<double, HWY_LANES(double), 0> d;
  int64_t i = 0;
  for (; i + 2 * kPowerLanes <= n; i += 2 * kPowerLanes) {
    call(d, i);
    call(d, i + kPowerLanes);
  }
  RestOfDoubles<kPowerLanes>(i, n, call);
}

// log2 of x >= 0, within 1e-11 of its size: e + log2(m), m in [sqrt(1/2), sqrt 2), by a series of
// (m - 1) / (m + 1), minimax (fitted here).
template <class D, class V>
GE_INLINE V LogOfTwo(D d, V x) {
  const hn::RebindToSigned<D> di;
  const V infinity = hn::Set(d, std::numeric_limits<double>::infinity()), one = hn::Set(d, 1.0);
  const auto bits = hn::BitCast(di, x);
  const auto e = hn::ShiftRight<52>(hn::Sub(bits, hn::Set(di, int64_t{0x3fe6a09e667f3bcd})));
  const V m = hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<52>(e)));
  const V s = hn::Div(hn::Sub(m, one), hn::Add(m, one));
  const V z = hn::Mul(s, s);
  V p = hn::Set(d, 0.34074010712496372);
  p = hn::MulAdd(p, z, hn::Set(d, 0.41167212741985137));
  p = hn::MulAdd(p, z, hn::Set(d, 0.5770835959022097));
  p = hn::MulAdd(p, z, hn::Set(d, 0.96179667327706886));
  p = hn::MulAdd(p, z, hn::Set(d, 2.8853900817901477));
  V y = hn::MulAdd(p, s, hn::ConvertTo(d, e));
  y = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Neg(infinity), y);
  return hn::IfThenElse(hn::Lt(x, infinity), y, x);  // infinity and NaN
}

// 2^x within 2e-9; beyond what float32 holds, 0 or a number that is too large for it.
template <class D, class V>
GE_INLINE V PowerOfTwo(D d, V x) {
  const hn::RebindToSigned<D> di;
  const V t = hn::Min(hn::Set(d, 1000.0), hn::Max(hn::Set(d, -1000.0), x));  // NaN stays
  const V n = hn::Round(t), r = hn::Sub(t, n);
  V p = hn::Set(d, 0.00015345811785039132);
  p = hn::MulAdd(p, r, hn::Set(d, 0.0013399931216597771));
  p = hn::MulAdd(p, r, hn::Set(d, 0.0096184889579014055));
  p = hn::MulAdd(p, r, hn::Set(d, 0.055503287769724463));
  p = hn::MulAdd(p, r, hn::Set(d, 0.24022646890627308));
  p = hn::MulAdd(p, r, hn::Set(d, 0.69314720573726341));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0000000005541674));
  // The number 2^52 * 1.5 + n has n in its last bits.
  const auto whole = hn::BitCast(di, hn::Add(n, hn::Set(d, 0x1.8p52)));
  const V scale = hn::BitCast(d, hn::ShiftLeft<52>(hn::Add(whole, hn::Set(di, int64_t{1023}))));
  return hn::Mul(p, hn::IfThenElse(hn::IsNaN(t), t, scale));
}

// As the C function: 1 wherever y is 0 or x is 1, NaN for other roots of negative numbers.
template <class D, class V>
GE_INLINE V Power(D d, V x, V y) {
  const V zero = hn::Zero(d), one = hn::Set(d, 1.0), a = hn::Abs(x);
  const auto plain = hn::Or(hn::Eq(y, zero), hn::Eq(a, one));
  const V power = PowerOfTwo(d, hn::IfThenElse(plain, zero, hn::Mul(y, LogOfTwo(d, a))));
  const hn::RebindToSigned<D> di;
  const auto negative = hn::RebindMask(d, hn::Lt(hn::BitCast(di, x), hn::Zero(di)));
  if (hn::AllFalse(d, negative)) return power;
  const V half = hn::Mul(hn::Set(d, 0.5), y);
  const auto whole = hn::Eq(hn::Round(y), y);
  const auto odd = hn::And(whole, hn::Ne(hn::Round(half), half));
  const auto real = hn::Or(hn::Or(whole, hn::Eq(x, zero)),
                           hn::Eq(a, hn::Set(d, std::numeric_limits<double>::infinity())));
  const V nan = hn::Set(d, std::numeric_limits<double>::quiet_NaN());
  const V turned = hn::IfThenElse(hn::And(negative, odd), hn::Neg(power), power);
  return hn::IfThenElse(hn::AndNot(real, negative), nan, turned);
}

// Quotients up to here times a divisor are exact in double.
constexpr double kWholeQuotient = 0x1p28;

float RemainderOf(float x, float y, bool floors) {
  const float rest = fmodf(x, y);
  return floors && rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

// The remainder of a quotient rounded to zero, or (floors) down: exact as x - q y, then rounded as
// the sum of what fmod gives and y.
template <class D, class V>
GE_INLINE V Remainder(D d, V x, V y, bool floors) {
  const V zero = hn::Zero(d), q = hn::Trunc(hn::Div(x, y));
  V rest = hn::NegMulAdd(q, y, x);
  // A quotient just below a whole number may have been rounded up to it.
  const auto over = hn::And(hn::Ne(rest, zero), hn::Xor(hn::Lt(rest, zero), hn::Lt(x, zero)));
  rest = hn::IfThenElse(over, hn::Add(rest, hn::CopySign(hn::Abs(y), x)), rest);
  rest = hn::CopySign(rest, x);  // a remainder of 0, too
  if (!floors) return rest;
  const auto other = hn::And(hn::Ne(rest, zero), hn::Xor(hn::Lt(rest, zero), hn::Lt(y, zero)));
  return hn::IfThenElse(other, hn::Add(rest, y), rest);
}

// x, z and y as ForRun has them; a step is 0 or 1.
template <class F>
GE_INLINE void Pairs(const float* x, int64_t sx, const float* z, int64_t sz, float* y, int64_t n,
                     F f) {
  ForDoubles(n, [=](auto d, int64_t i) GE_LAMBDA {
    const hn::Rebind<float, decltype(d)> df;
    const auto p = sx == 0 ? hn::Set(df, x[0]) : hn::LoadU(df, x + i);
    const auto q = sz == 0 ? hn::Set(df, z[0]) : hn::LoadU(df, z + i);
    hn::StoreU(hn::DemoteTo(df, f(d, hn::PromoteTo(d, p), hn::PromoteTo(d, q))), df, y + i);
  });
}

void Remainders(const float* x, int64_t sx, const float* z, int64_t sz, float* y, int64_t n,
                bool floors) {
  ForDoubles(n, [=](auto d, int64_t i) GE_LAMBDA {
    const hn::Rebind<float, decltype(d)> df;
    const auto p = sx == 0 ? hn::Set(df, x[0]) : hn::LoadU(df, x + i);
    const auto q = sz == 0 ? hn::Set(df, z[0]) : hn::LoadU(df, z + i);
    const auto a = hn::PromoteTo(d, p), b = hn::PromoteTo(d, q);
    const auto exact = hn::And(hn::Lt(hn::Abs(a), hn::Mul(hn::Set(d, kWholeQuotient), hn::Abs(b))),
                               hn::IsFinite(b));
    if (hn::AllTrue(d, exact)) {
      hn::StoreU(hn::DemoteTo(df, Remainder(d, a, b, floors)), df, y + i);
      return;
    }
    constexpr int64_t kN = static_cast<int64_t>(hn::MaxLanes(df));
    float left[kN], right[kN];
    hn::StoreU(p, df, left);
    hn::StoreU(q, df, right);
    for (int64_t k = 0; k < kN; ++k) y[i + k] = RemainderOf(left[k], right[k], floors);
  });
}

}  // namespace

void PowerOrRemainder(Fn fn, const float* x, const float* z, int64_t step, float* y, int64_t n) {
  switch (fn) {
    case Fn::kPow:
      return Pairs(x, 1, z, step, y, n,
                   [](auto d, auto p, auto q) GE_LAMBDA { return Power(d, p, q); });
    case Fn::kRPow:
      return Pairs(z, step, x, 1, y, n,
                   [](auto d, auto p, auto q) GE_LAMBDA { return Power(d, p, q); });
    case Fn::kFmod:
    case Fn::kMod:
      return Remainders(x, 1, z, step, y, n, fn == Fn::kMod);
    case Fn::kRFmod:
    case Fn::kRMod:
      return Remainders(z, step, x, 1, y, n, fn == Fn::kRMod);
    default:
      return;
  }
}

}  // namespace GE_SIMD_ISA
}  // namespace ge_engines::cpu
HWY_AFTER_NAMESPACE();
