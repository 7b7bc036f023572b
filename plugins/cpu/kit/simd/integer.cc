// Exact products of small integers, and conversions between floats and 8-bit integers.
#include "plugins/cpu/kit/simd/vector.h"

HWY_BEFORE_NAMESPACE();
namespace ge_engines::cpu {
namespace GE_SIMD_ISA {
namespace {

using Words = hn::Simd<int32_t, HWY_LANES(float), 0>;
using Halves = hn::Repartition<int16_t, Words>;

GE_INLINE hn::Vec<Halves> LoadHalves(const int16_t* p) { return hn::LoadU(Halves(), p); }
GE_INLINE hn::Vec<Halves> LoadHalves(const uint8_t* p) {
  return hn::PromoteTo(Halves(), hn::LoadU(hn::Rebind<uint8_t, Halves>(), p));
}

// Two vectors of sums for each of kRows rows. Two products of 16 bits are added at a time, which
// cannot overflow: differences of 8-bit integers are at most 255.
template <int kRows, class B>
GE_INLINE void ProductRows(const int16_t* a, const B* b, int64_t pairs, bool add, int32_t* c,
                           int64_t ldc) {
  const Words w;
  const Halves h;
  using Sum = hn::Vec<Words>;
  Sum s[kRows][2];
  for (int r = 0; r < kRows; ++r) {
    s[r][0] = add ? hn::LoadU(w, c + r * ldc) : hn::Zero(w);
    s[r][1] = add ? hn::LoadU(w, c + r * ldc + kMaxLanes) : hn::Zero(w);
  }
  Sum unused = hn::Zero(w);
  for (int64_t p = 0; p < pairs; ++p) {
    const auto b0 = LoadHalves(b), b1 = LoadHalves(b + 2 * kMaxLanes);
    b += 4 * kMaxLanes;
    for (int r = 0; r < kRows; ++r) {
      int32_t pair;
      __builtin_memcpy(&pair, a + 2 * r, sizeof pair);
      const auto x = hn::BitCast(h, hn::Set(w, pair));
      s[r][0] = hn::ReorderWidenMulAccumulate(w, x, b0, s[r][0], unused);
      s[r][1] = hn::ReorderWidenMulAccumulate(w, x, b1, s[r][1], unused);
    }
    a += 2 * kIntegerRows;
  }
  for (int r = 0; r < kRows; ++r) {
    hn::StoreU(s[r][0], w, c + r * ldc);
    hn::StoreU(s[r][1], w, c + r * ldc + kMaxLanes);
  }
}

template <class B>
GE_INLINE void Product(const int16_t* a, const B* b, int64_t pairs, bool add, int32_t* c,
                       int64_t ldc, int64_t rows) {
  switch (rows) {
    case 1:
      return ProductRows<1>(a, b, pairs, add, c, ldc);
    case 2:
      return ProductRows<2>(a, b, pairs, add, c, ldc);
    case 3:
      return ProductRows<3>(a, b, pairs, add, c, ldc);
    case 4:
      return ProductRows<4>(a, b, pairs, add, c, ldc);
    case 5:
      return ProductRows<5>(a, b, pairs, add, c, ldc);
    default:
      return ProductRows<6>(a, b, pairs, add, c, ldc);
  }
}

}  // namespace

void IntegerProduct(const int16_t* left, const int16_t* right, int64_t pairs, bool add, int32_t* c,
                    int64_t ldc, int64_t rows) {
  Product(left, right, pairs, add, c, ldc, rows);
}

void CodeProduct(const int16_t* left, const uint8_t* right, int64_t pairs, bool add, int32_t* c,
                 int64_t ldc, int64_t rows) {
  Product(left, right, pairs, add, c, ldc, rows);
}

void PairRows(const int16_t* x, const int16_t* z, int16_t* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    y[2 * i] = x[i];
    y[2 * i + 1] = z[i];
  }
}

void WidenRow(const uint8_t* x, bool is_signed, int32_t zero, int16_t* y, int64_t n) {
  const auto z = static_cast<int16_t>(zero);
  if (is_signed) {
    const auto* s = reinterpret_cast<const int8_t*>(x);
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<int16_t>(s[i] - z);
  } else {
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<int16_t>(x[i] - z);
  }
}

void Extremes(const float* x, int64_t n, float* least, float* most) {
  const Full d;
  auto low = hn::Set(d, *least), high = hn::Set(d, *most);
  int64_t i = 0;
  // x86: the second operand where one is NaN.
  for (; i + kMaxLanes <= n; i += kMaxLanes) {
    const auto v = hn::LoadU(d, x + i);
    low = hn::Min(v, low);
    high = hn::Max(v, high);
  }
  alignas(64) float lows[kMaxLanes], highs[kMaxLanes];
  hn::Store(low, d, lows);
  hn::Store(high, d, highs);
  for (int64_t k = 0; k < kMaxLanes; ++k) {
    if (lows[k] < *least) *least = lows[k];
    if (highs[k] > *most) *most = highs[k];
  }
  for (; i < n; ++i) {
    if (x[i] < *least) *least = x[i];
    if (x[i] > *most) *most = x[i];
  }
}

namespace {

// What QuantizeLinear of 8 bits divides by.
struct CodeScale {
  float scale, inverse;  // NaN where a product by it is no quotient, nearly
  explicit CodeScale(float by) : scale(by), inverse(1 / by) {
    constexpr float kLeast = std::numeric_limits<float>::min();
    const float size = inverse < 0 ? -inverse : inverse;
    if (!(size >= kLeast && size <= 1 / kLeast)) inverse = std::numeric_limits<float>::quiet_NaN();
  }
};

// v / scale rounded to even, for codes of 8 bits: beyond 512 they are clamped. Up to there a
// product by 1 / scale is less than 2^-12 from the quotient, so that only beside a half the
// quotient decides.
template <class D>
GE_INLINE hn::Vec<D> RoundedRatio(D d, hn::Vec<D> v, const CodeScale& by) {
  const auto near = hn::Mul(v, hn::Set(d, by.inverse));
  const auto whole = hn::Round(near);
  const auto off = hn::Abs(hn::Sub(hn::Abs(hn::Sub(near, whole)), hn::Set(d, 0.5f)));
  if (hn::AllTrue(d, hn::Gt(off, hn::Set(d, 0x1p-12f)))) return whole;
  return hn::Round(hn::Div(v, hn::Set(d, by.scale)));
}

}  // namespace

void QuantizeRow(const float* x, float scale, int32_t zero, bool is_signed, uint8_t* y, int64_t n) {
  const float least = is_signed ? -128 : 0, most = is_signed ? 127 : 255;
  const CodeScale by(scale);
  ForEach(n, [=](auto d, int64_t i) GE_LAMBDA {
    using D = decltype(d);
    const hn::Rebind<uint8_t, D> u;
    const hn::Rebind<int8_t, D> s;
    const auto q =
        hn::Add(RoundedRatio(d, hn::LoadU(d, x + i), by), hn::Set(d, static_cast<float>(zero)));
    // This order turns NaN into the least value.
    const auto v = hn::Min(hn::Max(q, hn::Set(d, least)), hn::Set(d, most));
    const auto w = hn::NearestInt(v);
    if (is_signed) {
      hn::StoreU(hn::DemoteTo(s, w), s, reinterpret_cast<int8_t*>(y) + i);
    } else {
      hn::StoreU(hn::DemoteTo(u, w), u, y + i);
    }
  });
}

void DequantizeRow(const uint8_t* x, bool is_signed, int32_t zero, float scale, float* y,
                   int64_t n) {
  if (is_signed) {
    const auto* s = reinterpret_cast<const int8_t*>(x);
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<float>(s[i] - zero) * scale;
  } else {
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<float>(x[i] - zero) * scale;
  }
}

void QuantizeWide(const float* x, float scale, int32_t zero, bool is_signed, uint16_t* y,
                  int64_t n) {
  const float least = is_signed ? -32768 : 0, most = is_signed ? 32767 : 65535;
  ForEach(n, [=](auto d, int64_t i) GE_LAMBDA {
    using D = decltype(d);
    const auto q = hn::Add(hn::Round(hn::Div(hn::LoadU(d, x + i), hn::Set(d, scale))),
                           hn::Set(d, static_cast<float>(zero)));
    // This order turns NaN into the least value.
    const auto v = hn::Min(hn::Max(q, hn::Set(d, least)), hn::Set(d, most));
    const auto w = hn::NearestInt(v);
    if (is_signed) {
      const hn::Rebind<int16_t, D> s;
      hn::StoreU(hn::DemoteTo(s, w), s, reinterpret_cast<int16_t*>(y) + i);
    } else {
      const hn::Rebind<uint16_t, D> u;
      hn::StoreU(hn::DemoteTo(u, w), u, y + i);
    }
  });
}

void DequantizeWide(const uint16_t* x, bool is_signed, int32_t zero, float scale, float* y,
                    int64_t n) {
  if (is_signed) {
    const auto* s = reinterpret_cast<const int16_t*>(x);
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<float>(s[i] - zero) * scale;
  } else {
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<float>(x[i] - zero) * scale;
  }
}

void DequantizeWords(const int32_t* x, int32_t zero, float scale, float* y, int64_t n) {
  const double by = scale, none = zero;
  for (int64_t i = 0; i < n; ++i) y[i] = static_cast<float>((x[i] - none) * by);
}

int32_t SumCodes(const uint8_t* x, bool is_signed, int64_t n) {
  int32_t sum = 0;
  if (is_signed) {
    const auto* s = reinterpret_cast<const int8_t*>(x);
    for (int64_t i = 0; i < n; ++i) sum += s[i];
  } else {
    for (int64_t i = 0; i < n; ++i) sum += x[i];
  }
  return sum;
}

namespace {

// Whole vectors of a row, then the rest one by one. kBiases and kScales: 1 where they go with the
// elements, 0 where one is for all.
template <int kBiases, int kScales>
GE_INLINE void Requantize(const int32_t* sum, const double* bias, const double* scale, double zero,
                          double least, double most, uint8_t* y, int64_t n) {
  constexpr size_t kLanes = HWY_LANES(double);
  const hn::Simd<double, kLanes, 0> d;
  const hn::Rebind<int32_t, decltype(d)> w;
  const hn::Rebind<uint8_t, decltype(d)> u;
  const auto low = hn::Set(d, least), high = hn::Set(d, most), z = hn::Set(d, zero);
  const auto load = [&](const double* p, int64_t i, int step)
                        GE_LAMBDA { return step == 0 ? hn::Set(d, *p) : hn::LoadU(d, p + i); };
  int64_t i = 0;
  for (; i + static_cast<int64_t>(kLanes) <= n; i += kLanes) {
    const auto wide = hn::Add(hn::PromoteTo(d, hn::LoadU(w, sum + i)), load(bias, i, kBiases));
    const auto v = hn::Add(hn::Round(hn::Mul(wide, load(scale, i, kScales))), z);
    // x86 returns the second operand if one is NaN: it becomes the least value.
    const auto code = hn::DemoteTo(w, hn::Min(hn::Max(v, low), high));
    // The low byte, of either sign.
    const auto byte = hn::And(code, hn::Set(w, 255));
    hn::StoreU(hn::DemoteTo(u, byte), u, y + i);
  }
  for (; i < n; ++i) {
    const double v = __builtin_nearbyint((sum[i] + bias[i * kBiases]) * scale[i * kScales]) + zero;
    const double above = v > least ? v : least;
    y[i] = static_cast<uint8_t>(static_cast<int32_t>(above < most ? above : most));
  }
}

}  // namespace

void RequantizeRow(const int32_t* sum, const double* bias, int64_t bias_step, const double* scale,
                   int64_t step, double zero, double least, double most, uint8_t* y, int64_t n) {
  if (bias_step == 0 && step == 0) {
    return Requantize<0, 0>(sum, bias, scale, zero, least, most, y, n);
  }
  if (bias_step == 0) return Requantize<0, 1>(sum, bias, scale, zero, least, most, y, n);
  if (step == 0) return Requantize<1, 0>(sum, bias, scale, zero, least, most, y, n);
  Requantize<1, 1>(sum, bias, scale, zero, least, most, y, n);
}

namespace {

// Dequantizes x: (x - zero point) * scale.
template <class D>
GE_INLINE hn::Vec<D> CodeFloats(D d, const QuantizedRow& x, int64_t i) {
  const IntsOf<D> w;
  const auto wide = x.is_signed
                        ? hn::PromoteTo(w, hn::LoadU(hn::Rebind<int8_t, D>(),
                                                     reinterpret_cast<const int8_t*>(x.at) + i))
                        : hn::PromoteTo(w, hn::LoadU(hn::Rebind<uint8_t, D>(), x.at + i));
  auto v = hn::Mul(hn::ConvertTo(d, hn::Sub(wide, hn::Set(w, x.zero))), hn::Set(d, x.scale));
  __asm__("" : "+x"(v.raw));  // rounded here: no multiply-add with what follows
  return v;
}

template <class D>
GE_INLINE hn::Vec<D> CodeFloats(D d, const float* x, int64_t i) {
  return hn::LoadU(d, x + i);
}

template <Fn kFn, class Right>
GE_INLINE void CodePairRow(const QuantizedRow& a, const Right& b, const QuantizedRow& y,
                           int32_t least, int32_t most, int64_t n) {
  const CodeScale by(y.scale);
  ForEach(n, [=](auto d, int64_t i) GE_LAMBDA {
    using D = decltype(d);
    const auto l = CodeFloats(d, a, i), r = CodeFloats(d, b, i);
    const auto v = kFn == Fn::kAdd    ? hn::Add(l, r)
                   : kFn == Fn::kSub  ? hn::Sub(l, r)
                   : kFn == Fn::kRSub ? hn::Sub(r, l)
                   : kFn == Fn::kDiv  ? hn::Div(l, r)
                                      : hn::Mul(l, r);
    const auto q = hn::Add(RoundedRatio(d, v, by), hn::Set(d, static_cast<float>(y.zero)));
    const auto w = hn::NearestInt(hn::Min(hn::Max(q, hn::Set(d, static_cast<float>(least))),
                                          hn::Set(d, static_cast<float>(most))));
    if (y.is_signed) {
      const hn::Rebind<int8_t, D> s;
      hn::StoreU(hn::DemoteTo(s, w), s, reinterpret_cast<int8_t*>(y.at) + i);
    } else {
      const hn::Rebind<uint8_t, D> u;
      hn::StoreU(hn::DemoteTo(u, w), u, y.at + i);
    }
  });
}

}  // namespace

void CodePairs(Fn fn, const QuantizedRow& left, const QuantizedRow& right, const QuantizedRow& y,
               int32_t least, int32_t most, int64_t n) {
  if (fn == Fn::kAdd) return CodePairRow<Fn::kAdd>(left, right, y, least, most, n);
  if (fn == Fn::kSub) return CodePairRow<Fn::kSub>(left, right, y, least, most, n);
  CodePairRow<Fn::kMul>(left, right, y, least, most, n);
}

void CodesAndFloats(Fn fn, const QuantizedRow& left, const float* right, const QuantizedRow& y,
                    int32_t least, int32_t most, int64_t n) {
  if (fn == Fn::kAdd) return CodePairRow<Fn::kAdd>(left, right, y, least, most, n);
  if (fn == Fn::kSub) return CodePairRow<Fn::kSub>(left, right, y, least, most, n);
  if (fn == Fn::kRSub) return CodePairRow<Fn::kRSub>(left, right, y, least, most, n);
  if (fn == Fn::kDiv) return CodePairRow<Fn::kDiv>(left, right, y, least, most, n);
  CodePairRow<Fn::kMul>(left, right, y, least, most, n);
}

void GreaterCodes(const uint8_t* __restrict x, bool is_signed, uint8_t* __restrict y, int64_t n) {
  if (is_signed) {
    const auto* s = reinterpret_cast<const int8_t*>(x);
    auto* t = reinterpret_cast<int8_t*>(y);
    for (int64_t i = 0; i < n; ++i) t[i] = s[i] > t[i] ? s[i] : t[i];
  } else {
    for (int64_t i = 0; i < n; ++i) y[i] = x[i] > y[i] ? x[i] : y[i];
  }
}

void AddCodes(const uint8_t* __restrict x, bool is_signed, int32_t* __restrict sum, int64_t n) {
  if (is_signed) {
    const auto* s = reinterpret_cast<const int8_t*>(x);
    for (int64_t i = 0; i < n; ++i) sum[i] += s[i];
  } else {
    for (int64_t i = 0; i < n; ++i) sum[i] += x[i];
  }
}

namespace {

using SquareLine = hn::Simd<uint8_t, 16, 0>;
constexpr int64_t kSquare = 16;  // of a square that lies in registers

// One of four steps of turning a square: vectors i and i + 8 become 2 i and 2 i + 1, byte by byte.
GE_INLINE void Weave(const hn::Vec<SquareLine> (&from)[kSquare],
                     hn::Vec<SquareLine> (&to)[kSquare]) {
  const SquareLine d;
  for (int i = 0; i < kSquare / 2; ++i) {
    to[2 * i] = hn::InterleaveLower(d, from[i], from[i + kSquare / 2]);
    to[2 * i + 1] = hn::InterleaveUpper(d, from[i], from[i + kSquare / 2]);
  }
}

// y[r][c] = x[c][r], lines of x and y being x_step and y_step bytes apart.
GE_INLINE void TurnSquare(const uint8_t* x, int64_t x_step, uint8_t* y, int64_t y_step) {
  const SquareLine d;
  hn::Vec<SquareLine> a[kSquare], b[kSquare];
  for (int i = 0; i < kSquare; ++i) a[i] = hn::LoadU(d, x + i * x_step);
  Weave(a, b);
  Weave(b, a);
  Weave(a, b);
  Weave(b, a);
  for (int i = 0; i < kSquare; ++i) hn::StoreU(a[i], d, y + i * y_step);
}

// Squares of at least 16 by 16 bytes; the last ones overlap those before.
void TurnSquares(const uint8_t* x, int64_t columns, int64_t rows, uint8_t* y) {
  for (int64_t c = 0; c < columns; c += kSquare) {
    const int64_t column = c + kSquare <= columns ? c : columns - kSquare;
    for (int64_t r = 0; r < rows; r += kSquare) {
      const int64_t row = r + kSquare <= rows ? r : rows - kSquare;
      TurnSquare(x + column * rows + row, rows, y + row * columns + column, columns);
    }
  }
}

}  // namespace

void TransposeCodes(const uint8_t* __restrict x, int64_t columns, int64_t rows,
                    uint8_t* __restrict y) {
  if (columns == 3) {  // pictures
    for (int64_t r = 0; r < rows; ++r) {
      y[3 * r] = x[r];
      y[3 * r + 1] = x[rows + r];
      y[3 * r + 2] = x[2 * rows + r];
    }
    return;
  }
  if (columns <= 4) {
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < columns; ++c) y[r * columns + c] = x[c * rows + r];
    }
    return;
  }
  if (columns >= kSquare && rows >= kSquare) return TurnSquares(x, columns, rows, y);
  // Blocks whose lines of both sides stay in the first cache.
  constexpr int64_t kBlock = 64;
  for (int64_t c0 = 0; c0 < columns; c0 += kBlock) {
    const int64_t c1 = c0 + kBlock < columns ? c0 + kBlock : columns;
    for (int64_t r0 = 0; r0 < rows; r0 += kBlock) {
      const int64_t r1 = r0 + kBlock < rows ? r0 + kBlock : rows;
      for (int64_t r = r0; r < r1; ++r) {
        for (int64_t c = c0; c < c1; ++c) y[r * columns + c] = x[c * rows + r];
      }
    }
  }
}

}  // namespace GE_SIMD_ISA
}  // namespace ge_engines::cpu
HWY_AFTER_NAMESPACE();
