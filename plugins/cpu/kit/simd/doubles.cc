// Functions and reductions of float64. Errors are a few units of the last place.
#include <algorithm>

#include "plugins/cpu/kit/simd/vector.h"

HWY_BEFORE_NAMESPACE();
namespace ge_engines::cpu {
namespace GE_SIMD_ISA {

namespace {

using FullDouble = hn::Simd<double, HWY_LANES(double), 0>;
using DoubleVec = hn::Vec<FullDouble>;
constexpr int64_t kDoubles = HWY_LANES(double);

// Calls f(d, i) for vectors at i and then single numbers: as ForEach of vector.h.
template <class F>
GE_INLINE void ForEachDouble(int64_t n, F call) {
  const FullDouble d;
  int64_t i = 0;
  for (; i + 2 * kDoubles <= n; i += 2 * kDoubles) {
    call(d, i);
    call(d, i + kDoubles);
  }
  if (i + kDoubles <= n) {
    call(d, i);
    i += kDoubles;
  }
  const hn::Simd<double, 1, 0> one;
  for (; i < n; ++i) call(one, i);
}

// ---- elementary functions -----------------------------------------------------------------------

constexpr double kWholes = 0x1.8p52;  // added to a whole number below 2^51, its bits end in it

// x * 2^n for whole n of [-1100, 1030].
template <class T, class W>
GE_INLINE W TimesPower([[maybe_unused]] T d, W x, W n) {
#if HWY_TARGET <= HWY_AVX3
  if constexpr (kLanesOf<T> == 8) return W{_mm512_scalef_pd(x.raw, n.raw)};
#endif
  // Two factors, as 2^n itself may be out of range.
  const IntsOf<T> di;
  const auto power = [&](W k) GE_LAMBDA {
    const auto bits = hn::BitCast(di, hn::Add(k, hn::Set(d, kWholes)));
    return hn::BitCast(d, hn::ShiftLeft<52>(hn::Add(bits, hn::Set(di, 1023))));
  };
  const W half = hn::Round(hn::Mul(n, hn::Set(d, 0.5)));
  return hn::Mul(hn::Mul(x, power(half)), power(hn::Sub(n, half)));
}

// As ExpRest of vector.h: e^r - 1 within 2e-17 by a polynomial of degree 11 (fitted here).
template <class T, class W>
GE_INLINE W PowerRest(T d, W x, W* n) {
  const W t = hn::Min(hn::Set(d, 709.8), hn::Max(hn::Set(d, -745.2), x));  // NaN survives
  *n = hn::Round(hn::Mul(t, hn::Set(d, 1.4426950408889634)));
  W r = hn::NegMulAdd(*n, hn::Set(d, 0x1.62e42fefa4p-1), t);  // exact
  r = hn::MulAdd(*n, hn::Set(d, 1.7239444525614835e-13), r);
  constexpr double kC[] = {0.50000000000000011,    0.16666666666666671,   0.041666666666624122,
                           0.0083333333333261341,  0.0013888888917215586, 0.00019841269874822307,
                           2.4801521293463862e-05, 2.755725539833871e-06, 2.7620089481954589e-07,
                           2.5105217695684516e-08};
  return hn::MulAdd(hn::Mul(r, r), Poly(d, r, kC), r);
}

template <class T, class W>
GE_INLINE W PowerOfE(T d, W x) {
  W n;
  const W p = PowerRest(d, x, &n);
  return TimesPower(d, hn::Add(p, hn::Set(d, 1.0)), n);
}
// For x below 700.
template <class T, class W>
GE_INLINE W PowerLessOne(T d, W x) {
  W n;
  const W p = PowerRest(d, x, &n);
  const W s = TimesPower(d, hn::Set(d, 1.0), n);
  return hn::MulAdd(s, p, hn::Sub(s, hn::Set(d, 1.0)));
}

// By e * ln 2 + log(m), m in [sqrt(1/2), sqrt 2): log((1 + s) / (1 - s)) with s = (m - 1) / (m + 1)
// is 2 s + s^3 P(s^2), P fitted here.
template <class T, class W>
GE_INLINE W LogOf(T d, W x) {
  const IntsOf<T> di;
  const W zero = hn::Zero(d), one = hn::Set(d, 1.0);
  const auto tiny = hn::Lt(x, hn::Set(d, 0x1p-1022));
  const W wide = hn::IfThenElse(tiny, hn::Mul(x, hn::Set(d, 0x1p54)), x);
  const auto bits = hn::BitCast(di, wide);
  const auto exponent = hn::ShiftRight<52>(hn::Sub(bits, hn::Set(di, int64_t{0x3fe6a09e667f3bcd})));
  const W m = hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<52>(exponent)));
  const W f = hn::Sub(m, one);
  const auto whole = hn::BitCast(di, hn::Set(d, kWholes));
  const W e = hn::Sub(hn::Sub(hn::BitCast(d, hn::Add(exponent, whole)), hn::Set(d, kWholes)),
                      hn::IfThenElseZero(tiny, hn::Set(d, 54.0)));
  constexpr double kC[] = {0.66666666666666696, 0.39999999999898811, 0.28571428626261336,
                           0.22222211091734861, 0.18182892052552996, 0.15331630011294409,
                           0.14617522903566196};
  const W s = hn::Div(f, hn::Add(m, one)), z = hn::Mul(s, s);
  // 2 s is f - s f: what is rounded is small beside f.
  const W rest = hn::MulAdd(hn::Mul(s, z), Poly(d, z, kC), hn::Neg(hn::Mul(s, f)));
  W y = hn::MulAdd(e, hn::Set(d, -1.7239444525614835e-13), rest);
  y = hn::MulAdd(e, hn::Set(d, 0x1.62e42fefa4p-1), hn::Add(f, y));
  const W infinity = hn::Set(d, std::numeric_limits<double>::infinity());
  y = hn::IfThenElse(hn::Eq(x, infinity), infinity, y);
  y = hn::IfThenElse(hn::Eq(x, zero), hn::Neg(infinity), y);
  y = hn::IfThenElse(hn::Lt(x, zero), hn::Set(d, std::numeric_limits<double>::quiet_NaN()), y);
  return hn::IfThenElse(hn::IsNaN(x), x, y);
}

// log(1 + x) for x of [0, 1]: what 1 + x loses is added.
template <class T, class W>
GE_INLINE W LogOfOneMore(T d, W x) {
  const W one = hn::Set(d, 1.0), w = hn::Add(one, x);
  return hn::Add(LogOf(d, w), hn::Div(hn::Sub(x, hn::Sub(w, one)), w));
}

template <class T, class W>
GE_INLINE W SigmoidOf(T d, W x) {
  const W one = hn::Set(d, 1.0);
  return hn::Div(one, hn::Add(one, PowerOfE(d, hn::Neg(x))));
}

// It is 1 from x = 19.1 on.
template <class T, class W>
GE_INLINE W TanhOf(T d, W x) {
  const W t = hn::Min(hn::Set(d, 40.0), hn::Abs(hn::Add(x, x)));
  const W e = PowerLessOne(d, t);
  return hn::CopySign(hn::Div(e, hn::Add(e, hn::Set(d, 2.0))), x);
}

// Near 0 x + x P(x^2); from 1 on 1 - e^(-x^2) P((x - 2) / (x + 2)), within 2e-17 (fitted here).
template <class T, class W>
GE_INLINE W ErfOf(T d, W x) {
  constexpr double kNear[] = {
      0.12837916709551256,     -0.37612638903183543,    0.1128379167094512,
      -0.026866170643255385,   0.0052239776072561632,   -0.00085483259818572343,
      0.00012055295091464701,  -1.4924740366012387e-05, 1.6447465878901156e-06,
      -1.6208788198552292e-07, 1.3721336242208623e-08,  -7.7981930792455724e-10};
  constexpr double kFar[] = {
      0.25539567631050575,     -0.42718584741395838,    0.24165819424245785,
      -0.078978581015842653,   0.0037328924055097775,   0.0069974617617708356,
      -0.00084714323125944927, -0.00098197820087971336, 4.3550237451340086e-05,
      0.00017437414082161748,  2.7667321039042513e-05,  -2.7358639329653364e-05,
      -1.4720814079443692e-05, -1.7199927421149936e-06};
  const W one = hn::Set(d, 1.0), two = hn::Set(d, 2.0);
  const W t = hn::Min(hn::Set(d, 6.0), hn::Abs(x)), s = hn::Mul(t, t);
  const W near = hn::MulAdd(t, Poly(d, s, kNear), t);
  const W at = hn::Div(hn::Sub(t, two), hn::Add(t, two));
  const W far = hn::Sub(one, hn::Mul(PowerOfE(d, hn::Neg(s)), Poly(d, at, kFar)));
  return hn::CopySign(hn::IfThenElse(hn::Lt(t, one), near, far), x);
}

// Lane by lane, for arguments beyond the vector form.
template <class T, class W>
static __attribute__((noinline)) W EachDouble(T d, W x, double (*f)(double)) {
  alignas(64) double room[kLanesOf<T>];
  hn::Store(x, d, room);
  for (double& v : room) v = f(v);
  return hn::Load(d, room);
}
constexpr double kTurns = 1e6;  // up to here the product by pi's first part is exact
template <class T, class W>
GE_INLINE W SinFrom(T d, W x, W value) {
  W r = hn::NegMulAdd(value, hn::Set(d, 0x1.921fb544p+1), x);
  r = hn::NegMulAdd(value, hn::Set(d, 0x1.0b4611a6p-33), r);
  r = hn::NegMulAdd(value, hn::Set(d, 0x1.3198a2e037073p-68), r);
  const W s = hn::Mul(r, r);
  constexpr double kC[] = {-0.16666666666666666,    0.0083333333333333159,  -0.00019841269841254969,
                           2.7557319219161527e-06,  -2.505210761674331e-08, 1.6058977294131312e-10,
                           -7.6439696591511494e-13, 2.731436257139134e-15};
  return hn::MulAdd(hn::Mul(r, s), Poly(d, s, kC), r);
}
// y with its sign changed where the whole number k is odd.
template <class T, class W>
GE_INLINE W ByParity(T d, W y, W k) {
  const IntsOf<T> di;
  const auto bits = hn::BitCast(di, hn::Add(k, hn::Set(d, kWholes)));
  return hn::Xor(y, hn::BitCast(d, hn::ShiftLeft<63>(bits)));
}
template <class T, class W>
GE_INLINE W SinOf(T d, W x) {
  if (!hn::AllTrue(d, hn::Le(hn::Abs(x), hn::Set(d, kTurns)))) {
    return EachDouble(d, x, [](double v) { return std::sin(v); });
  }
  const W k = hn::Round(hn::Mul(x, hn::Set(d, 0.31830988618379067)));
  const W zero = hn::IfThenElseZero(hn::Eq(x, hn::Zero(d)), x);  // and its sign
  return hn::Or(ByParity(d, SinFrom(d, x, k), k), zero);
}
template <class T, class W>
GE_INLINE W CosOf(T d, W x) {
  if (!hn::AllTrue(d, hn::Le(hn::Abs(x), hn::Set(d, kTurns)))) {
    return EachDouble(d, x, [](double v) { return std::cos(v); });
  }
  const W half = hn::Set(d, 0.5);
  const W k = hn::Round(hn::MulSub(x, hn::Set(d, 0.31830988618379067), half));
  return ByParity(d, hn::Neg(SinFrom(d, x, hn::Add(k, half))), k);
}

template <class F>
GE_INLINE void MapDoubles(const double* x, double* y, int64_t n, F f) {
  ForEachDouble(
      n, [=](auto d, int64_t i) GE_LAMBDA { hn::StoreU(f(d, hn::LoadU(d, x + i)), d, y + i); });
}

}  // namespace

// Slope 0 times infinity would not be a number.
static void ReluOfDoubles(double slope, const double* x, double* y, int64_t n) {
  MapDoubles(x, y, n, [=](auto d, auto v) GE_LAMBDA {
    const auto below = slope == 0 ? hn::Zero(d) : hn::Mul(v, hn::Set(d, slope));
    return hn::IfThenElse(hn::Lt(v, hn::Zero(d)), below, v);
  });
}

// Those of one instruction or few.
static bool PlainDoubles(Fn fn, double a, double b, const double* x, double* y, int64_t n) {
  switch (fn) {
    case Fn::kLinear:
      MapDoubles(x, y, n, [=](auto d, auto v) GE_LAMBDA {
        return hn::MulAdd(hn::Set(d, a), v, hn::Set(d, b));
      });
      return true;
    case Fn::kRelu:
      ReluOfDoubles(a, x, y, n);
      return true;
    case Fn::kClip:  // NaN survives
      MapDoubles(x, y, n, [=](auto d, auto v) GE_LAMBDA {
        return hn::Min(hn::Set(d, b), hn::Max(hn::Set(d, a), v));
      });
      return true;
    case Fn::kHardSigmoid:
      MapDoubles(x, y, n, [=](auto d, auto v) GE_LAMBDA {
        const auto t = hn::MulAdd(hn::Set(d, a), v, hn::Set(d, b));
        return hn::Min(hn::Set(d, 1.0), hn::Max(hn::Zero(d), t));
      });
      return true;
    case Fn::kSqrt:
      MapDoubles(x, y, n, [](auto, auto v) GE_LAMBDA { return hn::Sqrt(v); });
      return true;
    case Fn::kAbs:
      MapDoubles(x, y, n, [](auto, auto v) GE_LAMBDA { return hn::Abs(v); });
      return true;
    case Fn::kReciprocal:
      MapDoubles(x, y, n, [](auto d, auto v) GE_LAMBDA { return hn::Div(hn::Set(d, 1.0), v); });
      return true;
    case Fn::kSquare:
      MapDoubles(x, y, n, [](auto, auto v) GE_LAMBDA { return hn::Mul(v, v); });
      return true;
    case Fn::kCube:
      MapDoubles(x, y, n, [](auto, auto v) GE_LAMBDA { return hn::Mul(hn::Mul(v, v), v); });
      return true;
    case Fn::kFloor:
      MapDoubles(x, y, n, [](auto, auto v) GE_LAMBDA { return hn::Floor(v); });
      return true;
    case Fn::kCeil:
      MapDoubles(x, y, n, [](auto, auto v) GE_LAMBDA { return hn::Ceil(v); });
      return true;
    case Fn::kRound:
      MapDoubles(x, y, n, [](auto, auto v) GE_LAMBDA { return hn::Round(v); });
      return true;
    case Fn::kSign:
      MapDoubles(x, y, n, [](auto d, auto v) GE_LAMBDA {
        const auto zero = hn::Zero(d), one = hn::Set(d, 1.0);
        const auto nan = hn::IfThenElseZero(hn::IsNaN(v), v);
        const auto sign = hn::IfThenElse(hn::Lt(v, zero), hn::Neg(one), nan);
        return hn::IfThenElse(hn::Gt(v, zero), one, sign);
      });
      return true;
    default:
      return false;
  }
}

void UnaryDouble(Fn fn, double a, double b, const double* x, double* y, int64_t n) {
  if (PlainDoubles(fn, a, b, x, y, n)) return;
  switch (fn) {
    case Fn::kExp:
      return MapDoubles(x, y, n, [](auto d, auto v) GE_LAMBDA { return PowerOfE(d, v); });
    case Fn::kLog:
      return MapDoubles(x, y, n, [](auto d, auto v) GE_LAMBDA { return LogOf(d, v); });
    case Fn::kSigmoid:
      return MapDoubles(x, y, n, [](auto d, auto v) GE_LAMBDA { return SigmoidOf(d, v); });
    case Fn::kTanh:
      return MapDoubles(x, y, n, [](auto d, auto v) GE_LAMBDA { return TanhOf(d, v); });
    case Fn::kErf:
      return MapDoubles(x, y, n, [](auto d, auto v) GE_LAMBDA { return ErfOf(d, v); });
    case Fn::kSin:
      return MapDoubles(x, y, n, [](auto d, auto v) GE_LAMBDA { return SinOf(d, v); });
    case Fn::kCos:
      return MapDoubles(x, y, n, [](auto d, auto v) GE_LAMBDA { return CosOf(d, v); });
    case Fn::kElu:
      return MapDoubles(x, y, n, [=](auto d, auto v) GE_LAMBDA {
        const auto below = hn::Mul(hn::Set(d, a), PowerLessOne(d, hn::Min(v, hn::Zero(d))));
        return hn::IfThenElse(hn::Lt(v, hn::Zero(d)), below, v);
      });
    case Fn::kSoftplus:
      return MapDoubles(x, y, n, [](auto d, auto v) GE_LAMBDA {
        const auto more = LogOfOneMore(d, PowerOfE(d, hn::Neg(hn::Abs(v))));
        return hn::Add(hn::IfThenElse(hn::Lt(v, hn::Zero(d)), hn::Zero(d), v), more);
      });
    default:
      return;
  }
}

template <class Test>
GE_INLINE void CompareDoublesBy(const double* x, const double* z, int64_t step, uint8_t* out,
                                int64_t n, Test test) {
  ForEachDouble(n, [=](auto d, int64_t i) GE_LAMBDA {
    using D = decltype(d);
    const hn::RebindToUnsigned<D> du;
    const hn::Rebind<uint8_t, D> d8;
    const auto q = step == 0 ? hn::Set(d, z[0]) : hn::LoadU(d, z + i);
    const auto yes = hn::VecFromMask(d, test(hn::LoadU(d, x + i), q));
    const auto bit = hn::And(hn::BitCast(du, yes), hn::Set(du, 1));
    hn::StoreU(hn::TruncateTo(d8, bit), d8, out + i);
  });
}

void CompareDoubles(Compare op, const double* x, const double* z, int64_t step, uint8_t* out,
                    int64_t n) {
  const auto by = [=](auto test) GE_LAMBDA { CompareDoublesBy(x, z, step, out, n, test); };
  switch (op) {
    case Compare::kEqual:
      return by([](auto p, auto q) GE_LAMBDA { return hn::Eq(p, q); });
    case Compare::kLess:
      return by([](auto p, auto q) GE_LAMBDA { return hn::Lt(p, q); });
    case Compare::kLessOrEqual:
      return by([](auto p, auto q) GE_LAMBDA { return hn::Le(p, q); });
    case Compare::kGreater:
      return by([](auto p, auto q) GE_LAMBDA { return hn::Gt(p, q); });
    case Compare::kGreaterOrEqual:
      return by([](auto p, auto q) GE_LAMBDA { return hn::Ge(p, q); });
  }
}

// ---- reductions ---------------------------------------------------------------------------------

namespace {

// One step of a fold; shift: see kernels.h.
template <DoubleFold kFold, class T, class W>
GE_INLINE W FoldIn(T d, W acc, W v, W shift) {
  if constexpr (kFold == DoubleFold::kSum) return hn::Add(acc, v);
  if constexpr (kFold == DoubleFold::kAbsSum) return hn::Add(acc, hn::Abs(v));
  if constexpr (kFold == DoubleFold::kSquareSum) return hn::MulAdd(v, v, acc);
  if constexpr (kFold == DoubleFold::kExpSum) return hn::Add(acc, PowerOfE(d, hn::Sub(v, shift)));
  if constexpr (kFold == DoubleFold::kProduct) return hn::Mul(acc, v);
  if constexpr (kFold == DoubleFold::kMax) return MaxNan(v, acc);
  if constexpr (kFold == DoubleFold::kMin) return MinNan(v, acc);
}
// Two accumulators.
template <DoubleFold kFold, class W>
GE_INLINE W FoldBoth(W a, W b) {
  if constexpr (kFold == DoubleFold::kProduct) return hn::Mul(a, b);
  if constexpr (kFold == DoubleFold::kMax) return MaxNan(a, b);
  if constexpr (kFold == DoubleFold::kMin) return MinNan(a, b);
  return hn::Add(a, b);
}

template <DoubleFold kFold>
double FoldDoubleRow(const double* x, double shift, double start, int64_t n) {
  const FullDouble d;
  const hn::Simd<double, 1, 0> one;
  auto acc = hn::Set(one, start);
  int64_t i = 0;
  if (n >= 4 * kDoubles) {
    const DoubleVec s = hn::Set(d, shift), begin = hn::Set(d, StartOfFold(kFold));
    DoubleVec part[4] = {begin, begin, begin, begin};
    for (; i + 4 * kDoubles <= n; i += 4 * kDoubles) {
      for (int k = 0; k < 4; ++k) {
        part[k] = FoldIn<kFold>(d, part[k], hn::LoadU(d, x + i + k * kDoubles), s);
      }
    }
    const DoubleVec all =
        FoldBoth<kFold>(FoldBoth<kFold>(part[0], part[1]), FoldBoth<kFold>(part[2], part[3]));
    alignas(64) double lanes[kDoubles];
    hn::Store(all, d, lanes);
    for (const double v : lanes) acc = FoldBoth<kFold>(acc, hn::Set(one, v));
  }
  for (; i < n; ++i) {
    acc = FoldIn<kFold>(one, acc, hn::Load(one, x + i), hn::Set(one, shift));
  }
  return hn::GetLane(acc);
}

// Several vectors of a row at once: rows may lie pages apart.
template <DoubleFold kFold>
void FoldDoubleColumns(const double* x, int64_t rows, int64_t stride, const double* shift,
                       double* acc, int64_t n) {
  constexpr int64_t kWays = 8;
  int64_t first = 0;
  if constexpr (kFold != DoubleFold::kExpSum) {
    const FullDouble d;
    const DoubleVec none = hn::Zero(d);
    for (; first + kWays * kDoubles <= n; first += kWays * kDoubles) {
      DoubleVec part[kWays];
      for (int64_t k = 0; k < kWays; ++k) part[k] = hn::LoadU(d, acc + first + k * kDoubles);
      const double* row = x + first;
      for (int64_t r = 0; r < rows; ++r, row += stride) {
        for (int64_t k = 0; k < kWays; ++k) {
          part[k] = FoldIn<kFold>(d, part[k], hn::LoadU(d, row + k * kDoubles), none);
        }
      }
      for (int64_t k = 0; k < kWays; ++k) hn::StoreU(part[k], d, acc + first + k * kDoubles);
    }
  }
  ForEachDouble(n - first, [=](auto d, int64_t at) GE_LAMBDA {
    const int64_t i = first + at;
    auto a = hn::LoadU(d, acc + i);
    const auto s = shift != nullptr ? hn::LoadU(d, shift + i) : hn::Zero(d);
    for (int64_t r = 0; r < rows; ++r) {
      a = FoldIn<kFold>(d, a, hn::LoadU(d, x + r * stride + i), s);
    }
    hn::StoreU(a, d, acc + i);
  });
}

// call(std::integral_constant<DoubleFold, fold>).
template <class F>
GE_INLINE void WithDoubleFold(DoubleFold fold, F call) {
  switch (fold) {
    case DoubleFold::kSum:
      return call(std::integral_constant<DoubleFold, DoubleFold::kSum>());
    case DoubleFold::kAbsSum:
      return call(std::integral_constant<DoubleFold, DoubleFold::kAbsSum>());
    case DoubleFold::kSquareSum:
      return call(std::integral_constant<DoubleFold, DoubleFold::kSquareSum>());
    case DoubleFold::kExpSum:
      return call(std::integral_constant<DoubleFold, DoubleFold::kExpSum>());
    case DoubleFold::kProduct:
      return call(std::integral_constant<DoubleFold, DoubleFold::kProduct>());
    case DoubleFold::kMax:
      return call(std::integral_constant<DoubleFold, DoubleFold::kMax>());
    case DoubleFold::kMin:
      return call(std::integral_constant<DoubleFold, DoubleFold::kMin>());
  }
}

}  // namespace

double FoldDoubles(DoubleFold fold, const double* x, double shift, double start, int64_t n) {
  double y = start;
  WithDoubleFold(fold, [&](auto f) { y = FoldDoubleRow<f.value>(x, shift, start, n); });
  return y;
}

void FoldDoubleRows(DoubleFold fold, const double* x, int64_t rows, int64_t stride,
                    const double* shift, double* acc, int64_t n) {
  WithDoubleFold(fold, [&](auto f) { FoldDoubleColumns<f.value>(x, rows, stride, shift, acc, n); });
}

void SoftmaxDouble(bool log, const double* x, double* y, int64_t n) {
  if (n <= 0) return;
  const double top = FoldDoubleRow<DoubleFold::kMax>(x, 0, StartOfFold(DoubleFold::kMax), n);
  if (log) {
    const double sum = FoldDoubleRow<DoubleFold::kExpSum>(x, top, 0, n), more = std::log(sum);
    return MapDoubles(x, y, n, [=](auto d, auto v) GE_LAMBDA {
      return hn::Sub(hn::Sub(v, hn::Set(d, top)), hn::Set(d, more));
    });
  }
  MapDoubles(x, y, n,
             [=](auto d, auto v) GE_LAMBDA { return PowerOfE(d, hn::Sub(v, hn::Set(d, top))); });
  const double by = 1 / FoldDoubleRow<DoubleFold::kSum>(y, 0, 0, n);
  MapDoubles(y, y, n, [=](auto d, auto v) GE_LAMBDA { return hn::Mul(v, hn::Set(d, by)); });
}

void SoftmaxDoubleColumns(bool log, const double* x, double* y, int64_t rows, int64_t stride,
                          int64_t n) {
  ForEachDouble(n, [=](auto d, int64_t i) GE_LAMBDA {
    auto top = hn::LoadU(d, x + i), sum = hn::Zero(d);
    for (int64_t r = 1; r < rows; ++r) top = MaxNan(hn::LoadU(d, x + r * stride + i), top);
    for (int64_t r = 0; r < rows; ++r) {
      const auto e = PowerOfE(d, hn::Sub(hn::LoadU(d, x + r * stride + i), top));
      sum = hn::Add(sum, e);
      if (!log) hn::StoreU(e, d, y + r * stride + i);
    }
    const auto by = log ? LogOf(d, sum) : hn::Div(hn::Set(d, 1.0), sum);
    for (int64_t r = 0; r < rows; ++r) {
      const double* from = (log ? x : y) + r * stride + i;
      const auto v = hn::LoadU(d, from);
      hn::StoreU(log ? hn::Sub(hn::Sub(v, top), by) : hn::Mul(v, by), d, y + r * stride + i);
    }
  });
}

}  // namespace GE_SIMD_ISA
}  // namespace ge_engines::cpu
HWY_AFTER_NAMESPACE();
