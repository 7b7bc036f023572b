// Real: a number with its change along two directions and with the second change along both: v + a
// e1 + b e2 + ab e1 e2, where e1 e1 = e2 e2 = 0. Functions of it are exact to the rounding of
// double: no step is chosen. It stands for double in ref's kernels (tools/gen/dual_kernels.py).
// Comparisons go by the value. A plain number; any thread.
//
// `m` is `a` without cancellation: `a` (the change along e1) sums the slopes over all ways from the
// inputs, and m sums their magnitudes. A rounding error of `a` is a share of m, not of the sum left
// after cancellation.
#pragma once

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace ge::adcheck {

constexpr double Size(double x) { return x < 0 ? -x : x; }

struct Real {
  double v = 0, a = 0, b = 0, ab = 0, m = 0;

  constexpr Real() = default;
  template <class N, class = std::enable_if_t<std::is_arithmetic_v<N>>>
  constexpr Real(N n) : v(static_cast<double>(n)) {}  // NOLINT: as a double is made of any number
  constexpr Real(double value, double da, double db, double dab, double dm)
      : v(value), a(da), b(db), ab(dab), m(dm) {}
  template <class N, class = std::enable_if_t<std::is_arithmetic_v<N>>>
  explicit constexpr operator N() const {
    return static_cast<N>(v);
  }

  constexpr Real operator-() const { return {-v, -a, -b, -ab, m}; }
  constexpr Real operator+() const { return *this; }
  constexpr Real& operator+=(const Real& out) {
    v += out.v;
    a += out.a;
    b += out.b;
    ab += out.ab;
    m += out.m;
    return *this;
  }
  constexpr Real& operator-=(const Real& out) {
    v -= out.v;
    a -= out.a;
    b -= out.b;
    ab -= out.ab;
    m += out.m;
    return *this;
  }
  constexpr Real& operator*=(const Real& out) {
    return *this = {v * out.v, v * out.a + a * out.v, v * out.b + b * out.v,
                    v * out.ab + a * out.b + b * out.a + ab * out.v,
                    Size(v) * out.m + m * Size(out.v)};
  }
  constexpr Real& operator/=(const Real& out);
  constexpr Real& operator++() {
    v += 1;
    return *this;
  }
};

// A function of x, from its value and first two slopes at x.v.
constexpr Real Lift(const Real& x, double f, double f1, double f2) {
  return {f, f1 * x.a, f1 * x.b, f1 * x.ab + f2 * x.a * x.b, Size(f1) * x.m};
}

// A plain number has no slopes to multiply: 0 * inf does not come up. Where slopes have cancelled
// to nothing, there are none either.
constexpr bool IsPlain(const Real& x) { return x.a == 0 && x.b == 0 && x.ab == 0; }
// A function of slope f1 of a plain number: only the size m goes on.
constexpr Real Plain(const Real& x, double f, double f1) {
  return {f, 0, 0, 0, x.m == 0 ? 0 : Size(f1) * x.m};
}

constexpr Real operator+(Real x, const Real& y) { return x += y; }
constexpr Real operator-(Real x, const Real& y) { return x -= y; }
constexpr Real operator*(Real x, const Real& y) { return x *= y; }
constexpr Real operator/(const Real& x, const Real& y) {
  const double i = 1 / y.v, q = x.v / y.v;
  const double m = (x.m == 0 ? 0 : Size(i) * x.m) + (y.m == 0 ? 0 : Size(q * i) * y.m);
  if (IsPlain(y)) return {q, x.a / y.v, x.b / y.v, x.ab / y.v, m};
  return Real(q, x.a * i, x.b * i, x.ab * i, m) +
         Real(0, -q * i * y.a, -q * i * y.b,
              -q * i * y.ab - i * i * (x.a * y.b + x.b * y.a) + 2 * q * i * i * y.a * y.b, 0);
}
constexpr Real& Real::operator/=(const Real& out) { return *this = *this / out; }

constexpr bool operator==(const Real& x, const Real& y) { return x.v == y.v; }
constexpr std::partial_ordering operator<=>(const Real& x, const Real& y) { return x.v <=> y.v; }

// The functions of <cmath> called by kernels, for Real and for double.
namespace num {

#define GE_LIFT(name, slope, bend)             \
  inline Real name(const Real& x) {            \
    const double f = std::name(x.v), v = x.v;  \
    (void)f, (void)v;                          \
    if (IsPlain(x)) return Plain(x, f, slope); \
    return Lift(x, f, slope, bend);            \
  }
GE_LIFT(exp, f, f)
GE_LIFT(exp2, f* M_LN2, f* M_LN2* M_LN2)
GE_LIFT(expm1, f + 1, f + 1)
GE_LIFT(log, 1 / v, -1 / (v * v))
GE_LIFT(log1p, 1 / (1 + v), -1 / ((1 + v) * (1 + v)))
GE_LIFT(log2, M_LOG2E / v, -M_LOG2E / (v * v))
GE_LIFT(log10, M_LOG10E / v, -M_LOG10E / (v * v))
GE_LIFT(sqrt, 0.5 / f, -0.25 / (f * v))
GE_LIFT(cbrt, f / (3 * v), -2 * f / (9 * v * v))
GE_LIFT(sin, std::cos(v), -f)
GE_LIFT(cos, -std::sin(v), -f)
GE_LIFT(tan, 1 + f * f, 2 * f * (1 + f * f))
GE_LIFT(asin, 1 / std::sqrt(1 - v * v), v / ((1 - v * v) * std::sqrt(1 - v * v)))
GE_LIFT(acos, -1 / std::sqrt(1 - v * v), -v / ((1 - v * v) * std::sqrt(1 - v * v)))
GE_LIFT(atan, 1 / (1 + v * v), -2 * v / ((1 + v * v) * (1 + v * v)))
GE_LIFT(sinh, std::cosh(v), f)
GE_LIFT(cosh, std::sinh(v), f)
GE_LIFT(tanh, 1 / (std::cosh(v) * std::cosh(v)), -2 * f / (std::cosh(v) * std::cosh(v)))
GE_LIFT(asinh, 1 / std::sqrt(v * v + 1), -v / ((v * v + 1) * std::sqrt(v * v + 1)))
GE_LIFT(acosh, 1 / std::sqrt(v * v - 1), -v / ((v * v - 1) * std::sqrt(v * v - 1)))
GE_LIFT(atanh, 1 / (1 - v * v), 2 * v / ((1 - v * v) * (1 - v * v)))
GE_LIFT(erf, M_2_SQRTPI* std::exp(-v* v), -2 * v * M_2_SQRTPI * std::exp(-v * v))
#undef GE_LIFT

// Steps: constant but where they jump.
#define GE_STEP(name) \
  inline Real name(const Real& x) { return std::name(x.v); }
GE_STEP(floor)
GE_STEP(ceil)
GE_STEP(round)
GE_STEP(nearbyint)
GE_STEP(trunc)
GE_STEP(rint)
#undef GE_STEP

inline Real fabs(const Real& x) { return std::signbit(x.v) ? -x : x; }
inline Real abs(const Real& x) { return fabs(x); }
inline Real fmax(const Real& x, const Real& y) {
  return x.v != x.v ? y : y.v != y.v ? x : x.v < y.v ? y : x;
}
inline Real fmin(const Real& x, const Real& y) {
  return x.v != x.v ? y : y.v != y.v ? x : y.v < x.v ? y : x;
}
// The remainder: the truncated quotient is constant around every point.
inline Real fmod(const Real& x, const Real& y) {
  return IsPlain(x) && IsPlain(y) ? Real(std::fmod(x.v, y.v)) : x - y * std::trunc(x.v / y.v);
}
inline Real copysign(const Real& x, const Real& y) {
  return std::signbit(x.v) == std::signbit(y.v) ? x : -x;
}
inline Real pow(const Real& x, const Real& y) {
  const double f = std::pow(x.v, y.v);
  if (IsPlain(y)) {
    const double f1 = y.v == 0 ? 0 : y.v * std::pow(x.v, y.v - 1);
    if (IsPlain(x)) return Plain(x, f, f1);
    const double f2 = y.v == 0 || y.v == 1 ? 0 : y.v * (y.v - 1) * std::pow(x.v, y.v - 2);
    return Lift(x, f, f1, f2);
  }
  Real r = exp(y * log(x));
  r.v = f;
  return r;
}
// Of numbers and Reals mixed; equal arguments give the first, as in std.
using std::clamp;
using std::max;
using std::min;
inline Real max(const Real& x, double y) { return x.v < y ? Real(y) : x; }
inline Real max(double x, const Real& y) { return x < y.v ? y : Real(x); }
inline Real min(const Real& x, double y) { return y < x.v ? Real(y) : x; }
inline Real min(double x, const Real& y) { return y.v < x ? y : Real(x); }
inline Real clamp(const Real& x, const Real& lo, const Real& hi) {
  return x < lo ? lo : hi < x ? hi : x;
}
inline bool isnan(const Real& x) { return std::isnan(x.v); }
inline bool isinf(const Real& x) { return std::isinf(x.v); }
inline bool isfinite(const Real& x) { return std::isfinite(x.v); }
inline bool signbit(const Real& x) { return std::signbit(x.v); }

}  // namespace num
}  // namespace ge::adcheck

template <>
class std::numeric_limits<ge::adcheck::Real> : public std::numeric_limits<double> {};
