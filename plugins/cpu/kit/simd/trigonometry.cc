// Tangent, hyperbolic functions and the inverses of both. Polynomials are minimax ones, fitted
// here.
#include "plugins/cpu/kit/simd/vector.h"

HWY_BEFORE_NAMESPACE();
namespace ge_engines::cpu {
namespace GE_SIMD_ISA {
namespace {

constexpr float kHalfPi = 1.57079633f, kLogOf2 = 0.693147181f;

// log(1 + e) for e >= 0 and infinity; the quotient makes up for what 1 + e rounds away.
template <class D, class V>
GE_INLINE V LogAboveOne(D d, V e) {
  const V one = hn::Set(d, 1.0f);
  const V w = hn::Add(one, e);
  const V y = hn::Div(hn::Mul(Log(d, w), e), hn::Sub(w, one));
  const V infinity = hn::Set(d, std::numeric_limits<float>::infinity());
  return hn::IfThenElse(hn::Or(hn::Eq(w, one), hn::Eq(e, infinity)), e, y);
}

template <class D, class V>
GE_INLINE V Tan(D d, V x) {
  if (!hn::AllTrue(d, hn::Le(hn::Abs(x), hn::Set(d, 8192.0f)))) {
    return EachLane(d, x, [](float v) { return tanf(v); });
  }
  // x - k pi / 2: three parts make the product exact for |x| <= 8192.
  const auto k = hn::NearestInt(hn::Mul(x, hn::Set(d, 0.636619772f)));
  const V turns = hn::ConvertTo(d, k);
  V r = hn::NegMulAdd(turns, hn::Set(d, 1.5703125f), x);
  r = hn::NegMulAdd(turns, hn::Set(d, 4.837512969970703125e-4f), r);
  r = hn::NegMulAdd(turns, hn::Set(d, 7.54978995489188e-8f), r);
  constexpr float kC[] = {0.333333492f,  0.13332659f,     0.0540604927f, 0.021279119f,
                          0.0108440034f, 7.88622565e-05f, 0.004381679f};
  const V s = hn::Mul(r, r);
  const V y = hn::MulAdd(hn::Mul(r, s), Poly(d, s, kC), r);
  const auto odd = hn::Ne(hn::And(k, hn::Set(IntsOf<D>(), 1)), hn::Zero(IntsOf<D>()));
  return hn::IfThenElse(hn::RebindMask(d, odd), hn::Div(hn::Set(d, -1.0f), y), y);
}

// For |x| <= 1/2.
template <class D, class V>
GE_INLINE V AsinNear(D d, V x) {
  constexpr float kC[] = {0.166666597f,  0.0750050396f, 0.0445169546f,
                          0.0318077244f, 0.0144385863f, 0.0375164784f};
  const V s = hn::Mul(x, x);
  return hn::MulAdd(hn::Mul(x, s), Poly(d, s, kC), x);
}
// Of a = |x| above 1/2: asin(a) = pi / 2 - 2 asin(root of (1 - a) / 2).
template <class D, class V>
GE_INLINE V AcosFar(D d, V a) {
  const V half = hn::Set(d, 0.5f);
  const V y = AsinNear(d, hn::Sqrt(hn::NegMulAdd(half, a, half)));
  return hn::Add(y, y);
}
template <class D, class V>
GE_INLINE V Asin(D d, V x) {
  const V a = hn::Abs(x);
  const V far = hn::CopySign(hn::Sub(hn::Set(d, kHalfPi), AcosFar(d, a)), x);
  return hn::IfThenElse(hn::Le(a, hn::Set(d, 0.5f)), AsinNear(d, x), far);
}
template <class D, class V>
GE_INLINE V Acos(D d, V x) {
  const V a = hn::Abs(x);
  const V far = AcosFar(d, a);
  const V beyond =
      hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Sub(hn::Set(d, 2 * kHalfPi), far), far);
  const V near = hn::Sub(hn::Set(d, kHalfPi), AsinNear(d, x));
  return hn::IfThenElse(hn::Le(a, hn::Set(d, 0.5f)), near, beyond);
}
// Above 1 it is pi / 2 less that of 1 / x.
template <class D, class V>
GE_INLINE V Atan(D d, V x) {
  const V one = hn::Set(d, 1.0f);
  const V a = hn::Abs(x);
  const auto far = hn::Gt(a, one);
  const V t = hn::IfThenElse(far, hn::Div(one, a), a);
  constexpr float kC[] = {-0.333332986f,  0.199985489f,   -0.142642424f,
                          0.109521858f,   -0.0840345025f, 0.0579575934f,
                          -0.0311778467f, 0.010914606f,   -0.00179362181f};
  const V s = hn::Mul(t, t);
  const V y = hn::MulAdd(hn::Mul(t, s), Poly(d, s, kC), t);
  return hn::CopySign(hn::IfThenElse(far, hn::Sub(hn::Set(d, kHalfPi), y), y), x);
}

// e^(|x| / 2), twice of which is as large as the greatest result.
template <class D, class V>
GE_INLINE V RootOfExp(D d, V x) {
  return Exp(d, hn::Mul(hn::Set(d, 0.5f), hn::Abs(x)));
}
template <class D, class V>
GE_INLINE V Sinh(D d, V x) {
  constexpr float kC[] = {0.166666672f, 0.0083333496f, 0.000198361595f, 2.81695134e-06f};
  const V s = hn::Mul(x, x);
  const V near = hn::MulAdd(hn::Mul(x, s), Poly(d, s, kC), x);
  const V root = RootOfExp(d, x), half = hn::Mul(hn::Set(d, 0.5f), root);
  const V less = hn::Div(hn::Set(d, 0.25f), hn::Mul(half, root));
  const V far = hn::CopySign(hn::MulSub(half, root, less), x);
  return hn::IfThenElse(hn::Le(hn::Abs(x), hn::Set(d, 1.0f)), near, far);
}
template <class D, class V>
GE_INLINE V Cosh(D d, V x) {
  const V root = RootOfExp(d, x), half = hn::Mul(hn::Set(d, 0.5f), root);
  return hn::MulAdd(half, root, hn::Div(hn::Set(d, 0.25f), hn::Mul(half, root)));
}

// From here on 1 is nothing beside x^2.
constexpr float kSquareIsAll = 1e9f;

template <class D, class V>
GE_INLINE V Asinh(D d, V x) {
  const V one = hn::Set(d, 1.0f);
  const V a = hn::Abs(x), far = hn::Add(Log(d, a), hn::Set(d, kLogOf2));
  const V s = hn::Mul(a, a);
  const V e = hn::Add(a, hn::Div(s, hn::Add(one, hn::Sqrt(hn::Add(one, s)))));
  const V y = hn::IfThenElse(hn::Gt(a, hn::Set(d, kSquareIsAll)), far, LogAboveOne(d, e));
  return hn::CopySign(y, x);
}
template <class D, class V>
GE_INLINE V Acosh(D d, V x) {
  const V t = hn::Sub(x, hn::Set(d, 1.0f)), far = hn::Add(Log(d, x), hn::Set(d, kLogOf2));
  const V e = hn::Add(t, hn::Sqrt(hn::MulAdd(t, t, hn::Add(t, t))));
  const V y = hn::IfThenElse(hn::Gt(x, hn::Set(d, kSquareIsAll)), far, LogAboveOne(d, e));
  const V nan = hn::Set(d, std::numeric_limits<float>::quiet_NaN());
  return hn::IfThenElse(hn::Lt(t, hn::Zero(d)), nan, y);
}
// log((1 + x) / (1 - x)) / 2
template <class D, class V>
GE_INLINE V Atanh(D d, V x) {
  const V a = hn::Abs(x), one = hn::Set(d, 1.0f);
  const V y = LogAboveOne(d, hn::Div(hn::Add(a, a), hn::Sub(one, a)));
  const V nan = hn::Set(d, std::numeric_limits<float>::quiet_NaN());
  const V all = hn::IfThenElse(hn::Gt(a, one), nan, hn::Mul(hn::Set(d, 0.5f), y));
  return hn::CopySign(all, x);
}

template <class F>
GE_INLINE void All(const float* x, float* y, int64_t n, F f) {
  ForEach(n, [=](auto d, int64_t i) GE_LAMBDA { hn::StoreU(f(d, hn::LoadU(d, x + i)), d, y + i); });
}

}  // namespace

void Trigonometric(Fn fn, const float* x, float* y, int64_t n) {
  switch (fn) {
    case Fn::kTan:
      return All(x, y, n, [](auto d, auto v) GE_LAMBDA { return Tan(d, v); });
    case Fn::kAsin:
      return All(x, y, n, [](auto d, auto v) GE_LAMBDA { return Asin(d, v); });
    case Fn::kAcos:
      return All(x, y, n, [](auto d, auto v) GE_LAMBDA { return Acos(d, v); });
    case Fn::kAtan:
      return All(x, y, n, [](auto d, auto v) GE_LAMBDA { return Atan(d, v); });
    case Fn::kSinh:
      return All(x, y, n, [](auto d, auto v) GE_LAMBDA { return Sinh(d, v); });
    case Fn::kCosh:
      return All(x, y, n, [](auto d, auto v) GE_LAMBDA { return Cosh(d, v); });
    case Fn::kAsinh:
      return All(x, y, n, [](auto d, auto v) GE_LAMBDA { return Asinh(d, v); });
    case Fn::kAcosh:
      return All(x, y, n, [](auto d, auto v) GE_LAMBDA { return Acosh(d, v); });
    case Fn::kAtanh:
      return All(x, y, n, [](auto d, auto v) GE_LAMBDA { return Atanh(d, v); });
    default:
      return;
  }
}

}  // namespace GE_SIMD_ISA
}  // namespace ge_engines::cpu
HWY_AFTER_NAMESPACE();
