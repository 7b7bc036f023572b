// Vectors of floats in one instruction set, over Highway: whole-array loops and elementary
// functions for the kernels of this folder. Each source of this folder is compiled once a set, with
// GE_SIMD_ISA = base (SSE4.2), avx2 or avx512, also the namespace: of an inline function shared by
// two sets the linker could keep the highest form. Only for sources of this folder; pure functions,
// any thread.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "hwy/highway.h"
#include "plugins/cpu/kit/simd/kernels.h"

#if HWY_TARGET != GE_SIMD_TARGET
#error "The compiler's flags are not those of this instruction set: see kit/CMakeLists.txt"
#endif

HWY_BEFORE_NAMESPACE();
namespace ge_engines::cpu {
namespace GE_SIMD_ISA {

namespace hn = hwy::HWY_NAMESPACE;

#define GE_INLINE static inline __attribute__((always_inline))
#define GE_LAMBDA __attribute__((always_inline))

constexpr int64_t kMaxLanes = HWY_LANES(float);
constexpr bool kManyRegisters = kMaxLanes == 16;  // 32 and not 16
using Full = hn::Simd<float, HWY_LANES(float), 0>;
template <int64_t kN>
using Part = hn::Simd<float, size_t{kN}, 0>;
template <class D>
constexpr int64_t kLanesOf = static_cast<int64_t>(MaxLanes(D()));
template <class D>
using IntsOf = hn::RebindToSigned<D>;

// Calls f(d, i) for pieces [i, i + lanes of d) of [0, n): whole vectors, then powers of two. It
// never masks: a masked store delays the next load by tens of cycles, and chains of short operators
// consist of nothing else.
template <int64_t kN, class F>
GE_INLINE void Rest(int64_t i, int64_t n, F call) {
  if constexpr (kN >= 1) {
    if (i + kN <= n) {
      call(Part<kN>(), i);
      i += kN;
    }
    Rest<kN / 2>(i, n, call);
  }
}
template <class F>
GE_INLINE void ForEach(int64_t n, F call) {
  const Full d;
  int64_t i = 0;
  for (; i + 2 * kMaxLanes <= n; i += 2 * kMaxLanes) {
    call(d, i);
    call(d, i + kMaxLanes);
  }
  Rest<kMaxLanes>(i, n, call);
}

// The first n < lanes elements; the other lanes are `fill`.
template <class D>
GE_INLINE hn::Vec<D> LoadFirst(D dims, const float* p, int64_t n, hn::Vec<D> fill) {
#if HWY_TARGET <= HWY_AVX2
  const auto mask = hn::FirstN(dims, static_cast<size_t>(n));
  return hn::IfThenElse(mask, hn::MaskedLoad(mask, dims, p), fill);
#else
  alignas(64) float room[kLanesOf<D>];
  hn::Store(fill, dims, room);
  for (int64_t i = 0; i < n; ++i) room[i] = p[i];
  return hn::Load(dims, room);
#endif
}

// Into the first n < lanes elements alone.
template <class D>
GE_INLINE void StoreFirst(D dims, hn::Vec<D> vec, float* p, int64_t n) {
#if HWY_TARGET <= HWY_AVX2
  hn::BlendedStore(vec, hn::FirstN(dims, static_cast<size_t>(n)), dims, p);
#else
  alignas(64) float room[kLanesOf<D>];
  hn::Store(vec, dims, room);
  for (int64_t i = 0; i < n; ++i) p[i] = room[i];
#endif
}

// The greater or less, or NaN where one of both is.
template <class V>
GE_INLINE V MaxNan(V value, V given) {
  return hn::IfThenElse(hn::IsNaN(value), value,
                        hn::Max(value, given));  // x86: `given` where one is NaN
}
template <class V>
GE_INLINE V MinNan(V value, V given) {
  return hn::IfThenElse(hn::IsNaN(value), value, hn::Min(value, given));
}

// c[0] + c[1] x + c[2] x^2 ...
template <size_t kCount, class D, class V, class T>
GE_INLINE V Poly(D dims, V x, const T (&c)[kCount]) {
  V y = hn::Set(dims, c[kCount - 1]);
  for (size_t i = kCount - 1; i-- > 0;) y = hn::MulAdd(y, x, hn::Set(dims, c[i]));
  return y;
}

// x * 2^n for whole n of [-150, 128]; subnormal and infinite results come out right.
template <class D, class V>
GE_INLINE V ScaleByPower([[maybe_unused]] D dims, V x, V n) {
#if HWY_TARGET <= HWY_AVX3
  if constexpr (kLanesOf<D> == 16) {
    return V{_mm512_scalef_ps(x.raw, n.raw)};
  } else if constexpr (kLanesOf<D> == 8) {
    return V{_mm256_scalef_ps(x.raw, n.raw)};
  } else {
    return V{_mm_scalef_ps(x.raw, n.raw)};
  }
#else
  // Two factors, as 2^n itself may be out of range.
  const IntsOf<D> di;
  const auto k = hn::NearestInt(n);
  const auto h = hn::ShiftRight<1>(k);
  const auto bias = hn::Set(di, 127);
  const V a = hn::BitCast(dims, hn::ShiftLeft<23>(hn::Add(h, bias)));
  const V b = hn::BitCast(dims, hn::ShiftLeft<23>(hn::Add(hn::Sub(k, h), bias)));
  return hn::Mul(hn::Mul(x, a), b);
#endif
}

// e^x - 1 = 2^n (e^r - 1) + 2^n - 1 with |r| <= ln(2) / 2. Sets *n; gives e^r - 1, within 4e-9 by a
// minimax polynomial of degree 6 (fitted here).
template <class D, class V>
GE_INLINE V ExpRest(D dims, V x, V* n) {
  // In this order a NaN survives the clamp. Beyond it e^x is 0 or infinite.
  const V t = hn::Min(hn::Set(dims, 88.73f), hn::Max(hn::Set(dims, -103.98f), x));
  *n = hn::Round(hn::Mul(t, hn::Set(dims, 1.44269504f)));
  V r = hn::NegMulAdd(*n, hn::Set(dims, 0.693359375f), t);
  r = hn::MulAdd(*n, hn::Set(dims, 2.12194440e-4f), r);
  constexpr float kC[] = {0.49999994f, 0.16666521f, 0.041668389f, 0.0083687110f, 0.0013814608f};
  return hn::MulAdd(hn::Mul(r, r), Poly(dims, r, kC), r);
}
template <class D, class V>
GE_INLINE V Exp(D dims, V x) {
  V n;
  const V p = ExpRest(dims, x, &n);
  return ScaleByPower(dims, hn::Add(p, hn::Set(dims, 1.0f)), n);
}
// For x below 88.
template <class D, class V>
GE_INLINE V ExpMinusOne(D dims, V x) {
  const V one = hn::Set(dims, 1.0f);
  V n;
  const V p = ExpRest(dims, x, &n);
  const V s = ScaleByPower(dims, one, n);
  return hn::MulAdd(s, p, hn::Sub(s, one));
}
template <class D, class V>
GE_INLINE V Sigmoid(D dims, V x) {
  const V one = hn::Set(dims, 1.0f);
  return hn::Div(one, hn::Add(one, Exp(dims, hn::Neg(x))));
}

// (e^2x - 1) / (e^2x + 1); it is 1 from x = 9.1 on.
template <class D, class V>
GE_INLINE V Tanh(D dims, V x) {
  const V t = hn::Min(hn::Set(dims, 18.2f), hn::Add(x, x));
  const V e = ExpMinusOne(dims, t);
  return hn::CopySign(hn::Div(e, hn::Add(e, hn::Set(dims, 2.0f))), x);  // of -0, too
}
// x P(x^2) / Q(x^2), minimax (fitted here): relative error 2e-8, with the arithmetic's 3e-7.
template <class D, class V>
GE_INLINE V Erf(D dims, V x) {
  constexpr float kP[] = {1.1283791f,    0.19059278f,   0.052769188f,
                          0.0037725149f, 2.8484382e-4f, 2.0460477e-6f};
  constexpr float kQ[] = {1.0f,         0.50224119f,   0.11418234f,
                          0.014983124f, 0.0011638514f, 3.8048005e-5f};
  const V top = hn::Set(dims, 3.925f), one = hn::Set(dims, 1.0f);  // erf(3.925) rounds to 1
  const V t = hn::Min(top, hn::Max(hn::Neg(top), x));
  const V s = hn::Mul(t, t);
  const V y = hn::Div(hn::Mul(t, Poly(dims, s, kP)), Poly(dims, s, kQ));
  return hn::Min(one, hn::Max(hn::Neg(one), y));
}
// (1 + erf(x / sqrt 2)) / 2, the tail as P(|x|)^-8: without exp, and x times the tail within 5e-8
// (a minimax polynomial, fitted here for |x| <= 6.2; beyond it the tail only falls, to 0 in the
// end).
template <class D, class V>
GE_INLINE V NormalCdf(D dims, V x) {
  constexpr float kP[] = {1.09050831f,    0.108752564f,    0.0488683019f,
                          0.00931968188f, 0.00112165072f,  8.98392376e-5f,
                          1.17295743e-4f, -2.02386705e-5f, 3.34403787e-6f};
  const V one = hn::Set(dims, 1.0f);
  V p = Poly(dims, hn::Abs(x), kP);
  for (int i = 0; i < 3; ++i) p = hn::Mul(p, p);
  const V tail = hn::Div(one, p);
  return hn::IfThenElse(hn::Lt(x, hn::Zero(dims)), tail, hn::Sub(one, tail));
}

// By e * ln 2 + log(m), m in [sqrt(1/2), sqrt 2).
template <class D, class V>
GE_INLINE V Log(D dims, V x) {
  const IntsOf<D> di;
  const V zero = hn::Zero(dims);
  const auto tiny = hn::Lt(x, hn::Set(dims, 1.17549435e-38f));
  const V wide = hn::IfThenElse(tiny, hn::Mul(x, hn::Set(dims, 8388608.0f)), x);
  const auto bits = hn::BitCast(di, wide);
  const auto exponent = hn::ShiftRight<23>(hn::Sub(bits, hn::Set(di, 0x3f3504f3)));
  const V f =
      hn::Sub(hn::BitCast(dims, hn::Sub(bits, hn::ShiftLeft<23>(exponent))), hn::Set(dims, 1.0f));
  const V e =
      hn::Sub(hn::ConvertTo(dims, exponent), hn::IfThenElseZero(tiny, hn::Set(dims, 23.0f)));
  constexpr float kC[] = {0.33333331f, -0.25000823f, 0.20001227f, -0.16623357f,
                          0.14201762f, -0.13160194f, 0.12761550f, -0.076344296f};
  const V s = hn::Mul(f, f);
  V y = hn::Mul(hn::Mul(s, f), Poly(dims, f, kC));
  y = hn::MulAdd(e, hn::Set(dims, -2.12194440e-4f), y);
  y = hn::NegMulAdd(hn::Set(dims, 0.5f), s, y);
  y = hn::MulAdd(e, hn::Set(dims, 0.693359375f), hn::Add(f, y));
  const V infinity = hn::Set(dims, std::numeric_limits<float>::infinity());
  y = hn::IfThenElse(hn::Eq(x, infinity), infinity, y);
  y = hn::IfThenElse(hn::Eq(x, zero), hn::Neg(infinity), y);
  y = hn::IfThenElse(hn::Lt(x, zero), hn::Set(dims, std::numeric_limits<float>::quiet_NaN()), y);
  return hn::IfThenElse(hn::IsNaN(x), x, y);
}

// Lane by lane, for arguments outside the range of the vector form.
template <class D, class V>
static __attribute__((noinline)) V EachLane(D dims, V x, float (*f)(float)) {
  alignas(64) float room[kLanesOf<D>];
  hn::Store(x, dims, room);
  for (float& v : room) v = f(v);
  return hn::Load(dims, room);
}
// sin(x - value pi) with `value` a multiple of 1/2; three parts of pi make the product exact for
// |x| <= 8192. Of -0 it is -0.
template <class D, class V>
GE_INLINE V SinBeyond(D dims, V x, V value) {
  V r = hn::NegMulAdd(value, hn::Set(dims, 3.140625f), x);
  r = hn::NegMulAdd(value, hn::Set(dims, 9.67502593994140625e-4f), r);
  r = hn::NegMulAdd(value, hn::Set(dims, 1.509957990978376e-7f), r);
  const V s = hn::Mul(r, r);
  constexpr float kC[] = {-0.16666660f, 0.0083330646f, -1.9809475e-4f, 2.6054818e-6f};
  return hn::CopySign(hn::MulAdd(hn::Mul(r, s), Poly(dims, s, kC), r), r);
}
template <class D, class V>
GE_INLINE V Sin(D dims, V x) {
  if (!hn::AllTrue(dims, hn::Le(hn::Abs(x), hn::Set(dims, 8192.0f)))) {
    return EachLane(dims, x, [](float v) { return sinf(v); });
  }
  const auto k = hn::NearestInt(hn::Mul(x, hn::Set(dims, 0.318309886f)));
  const V y = SinBeyond(dims, x, hn::ConvertTo(dims, k));
  return hn::Xor(y, hn::BitCast(dims, hn::ShiftLeft<31>(k)));
}
template <class D, class V>
GE_INLINE V Cos(D dims, V x) {
  if (!hn::AllTrue(dims, hn::Le(hn::Abs(x), hn::Set(dims, 8192.0f)))) {
    return EachLane(dims, x, [](float v) { return cosf(v); });
  }
  const V half = hn::Set(dims, 0.5f);
  const auto k = hn::NearestInt(hn::MulSub(x, hn::Set(dims, 0.318309886f), half));
  const V y = SinBeyond(dims, x, hn::Add(hn::ConvertTo(dims, k), half));
  return hn::Xor(hn::Neg(y), hn::BitCast(dims, hn::ShiftLeft<31>(k)));
}

// ---- functions of this folder's sources; table.cc lists them ----------------------------------
void Unary(Fn fn, float left, float right, const float* x, float* y, int64_t n);
void Binary(Fn fn, const float* x, const float* z, float* y, int64_t n);
void BinaryScalar(Fn fn, const float* x, float z, float* y, int64_t n);
void UnaryDouble(Fn fn, double left, double right, const double* x, double* y, int64_t n);
double FoldDoubles(DoubleFold fold, const double* x, double shift, double start, int64_t n);
void FoldDoubleRows(DoubleFold fold, const double* x, int64_t rows, int64_t stride,
                    const double* shift, double* acc, int64_t n);
void CompareDoubles(Compare op, const double* x, const double* z, int64_t step, uint8_t* out,
                    int64_t n);
void SoftmaxDouble(bool log, const double* x, double* y, int64_t n);
void SoftmaxDoubleColumns(bool log, const double* x, double* y, int64_t rows, int64_t stride,
                          int64_t n);
void Trigonometric(Fn fn, const float* x, float* y, int64_t n);
// `step` of z is 0 or 1.
void PowerOrRemainder(Fn fn, const float* x, const float* z, int64_t step, float* y, int64_t n);
void TransposeWords(int64_t bytes, const void* x, int64_t ldx, void* y, int64_t ldy, int64_t rows,
                    int64_t cols);
void LerpRows(const float* left, const float* right, float t, float* y, int64_t n);
void CompareRow(Compare op, const float* x, const float* z, int64_t step, uint8_t* out, int64_t n);
void Select(const uint8_t* c, const float* x, int64_t sx, const float* z, int64_t sz, float* out,
            int64_t n);
void Wholes(Fn fn, int32_t dtype, const void* x, const void* z, void* y, int64_t n);
void CompareWholes(Compare op, int32_t dtype, const void* x, const void* z, uint8_t* out,
                   int64_t n);
void PhiloxPairs(uint32_t low, uint32_t high, uint64_t block, double* y, int64_t blocks);
void NormalPairs(double* y, int64_t pairs);
void FoldColumns(ColumnFold fold, int32_t dtype, const void* x, int64_t rows, int64_t stride,
                 void* acc, int64_t n);
void TruncateFloats(bool wide, int32_t dtype, const void* x, void* y, int64_t n);
void CastWholes(int32_t from, int32_t to, const void* x, void* y, int64_t n);
void AskFloats(const FloatBits& question, const void* x, uint8_t* out, int64_t n);
void SelectOther(int size, const uint8_t* c, const void* x, int64_t sx, const void* z, int64_t sz,
                 void* out, int64_t n);
float ReduceRow(Reduce op, const float* x, int64_t n);
double SumDouble(const float* x, int64_t n);
void ReduceRows(Reduce op, const float* x, int64_t rows, int64_t stride, float* acc, int64_t n);
void Softmax(const float* x, float* y, int64_t n);
float SoftmaxMore(float* x, int64_t n, float* top, float* sum);
void PoolGradPairs(const float* x0, const float* x1, const float* dy, float* dx0, float* dx1,
                   int64_t n);
void MomentSums(const float* x, float shift, int64_t n, float* sum, float* square);
void MomentRows(const float* x, int64_t rows, int64_t stride, const float* shift, float* sum,
                float* square, int64_t n);
void SlopeSums(const float* dy, const float* x, float mean, int64_t n, float* sum, float* product);
void SlopeRows(const float* dy, const float* x, int64_t rows, int64_t stride, const float* mean,
               float* sum, float* product, int64_t n);
void BlendRow(const float* p, const float* q, float a, float b, float c, float* y, int64_t n);
void BlendRows(const float* p, const float* q, int64_t rows, int64_t stride, const float* a,
               const float* b, const float* c, float* y, int64_t n);
void AdamRow(const StepFactors& factors, const float* const* in, float* const* out, int64_t n);
void MomentumRow(const StepFactors& factors, const float* const* in, float* const* out, int64_t n);
void SquareRow(const StepFactors& factors, const float* const* in, float* const* out, int64_t n);
void LionRow(const StepFactors& factors, const float* const* in, float* const* out, int64_t n);
void AdamSquares(const StepFactors& factors, const float* const* in, int64_t n, float* weight,
                 float* step);
void RmsNorm(const float* x, const float* gamma, float eps, float* y, int64_t n);
void LayerNorm(const float* x, const float* gamma, const float* beta, float eps, float* y,
               int64_t n);
void LstmCell(const float* x, const float* z, float* c, float* h, int64_t n);
void GruCell(const float* x, const float* z, float* h, int64_t n);
void PoolPlane(Reduce op, const float* x, const int64_t* row, const int64_t* first, int64_t lines,
               const PoolSpan& span, float* y);
void ThinProduct(const float* left, int64_t lda, const float* right, int64_t ldb, float* y,
                 int64_t ldy, int64_t m, int64_t n, int64_t k);
void PanelProduct(const float* left, int64_t lda, const float* right, int64_t panel,
                  const float* bias, float* y, int64_t ldy, int64_t m, int64_t n, int64_t k);
void PanelProductAdd(const float* left, int64_t lda, const float* right, int64_t panel, float* y,
                     int64_t ldy, int64_t m, int64_t n, int64_t k);
int64_t PanelColumns();
void NBitsProduct(const NBitsForm& form, const float* left, int64_t lda, const uint8_t* right,
                  int64_t panel, const float* bias, float* y, int64_t ldy, int64_t m, int64_t n,
                  int64_t k);
int64_t NBitsRows();
void NBitsUnpack(const NBitsForm& form, const uint8_t* b, int64_t k, float* to);
void ShiftedProduct(const float* w, int64_t ldw, const float* x, const int64_t* at,
                    const float* bias, float* y, int64_t ldy, int64_t m, int64_t n, int64_t taps);
void ChannelSums(const float* const* from, const float* const* w, int64_t taps, int64_t step,
                 const float* bias, float* y, int64_t n, int64_t channels);
void ChannelPool(Reduce op, const float* const* from, int64_t taps, int64_t step, float scale,
                 float* y, int64_t n, int64_t channels);
void ChannelGroups(const GroupSums& sums);
int64_t GroupColumns();
void DotRows(const float* x, int64_t ldx, const float* w, int64_t ldw, float* y, int64_t ldy,
             int64_t m, int64_t rows, int64_t k);
void Transpose(const float* x, int64_t ldx, float* y, int64_t ldy, int64_t rows, int64_t cols);
void WeighRows(const float* const* x, const float* w, int64_t rows, float* y, int64_t n);
void GatherLerp(const float* x, int64_t width, const int32_t* i0, const int32_t* i1, const float* t,
                float* y, int64_t n);
void CopyRows(const float* x, int64_t ldx, float* y, int64_t ldy, int64_t rows, int64_t n);
void IntegerProduct(const int16_t* left, const int16_t* right, int64_t pairs, bool add, int32_t* c,
                    int64_t ldc, int64_t rows);
void CodeProduct(const int16_t* left, const uint8_t* right, int64_t pairs, bool add, int32_t* c,
                 int64_t ldc, int64_t rows);
void PairRows(const int16_t* x, const int16_t* z, int16_t* y, int64_t n);
void WidenRow(const uint8_t* x, bool is_signed, int32_t zero, int16_t* y, int64_t n);
void WidenHalfRow(const uint16_t* x, float* y, int64_t n);
void NarrowHalfRow(const float* x, uint16_t* y, int64_t n);
void WidenBrainRow(const uint16_t* x, float* y, int64_t n);
void NarrowBrainRow(const float* x, uint16_t* y, int64_t n);
void Extremes(const float* x, int64_t n, float* least, float* most);
void QuantizeRow(const float* x, float scale, int32_t zero, bool is_signed, uint8_t* y, int64_t n);
void DequantizeRow(const uint8_t* x, bool is_signed, int32_t zero, float scale, float* y,
                   int64_t n);
void QuantizeWide(const float* x, float scale, int32_t zero, bool is_signed, uint16_t* y,
                  int64_t n);
void DequantizeWide(const uint16_t* x, bool is_signed, int32_t zero, float scale, float* y,
                    int64_t n);
void DequantizeWords(const int32_t* x, int32_t zero, float scale, float* y, int64_t n);
int32_t SumCodes(const uint8_t* x, bool is_signed, int64_t n);
void RequantizeRow(const int32_t* sum, const double* bias, int64_t bias_step, const double* scale,
                   int64_t step, double zero, double least, double most, uint8_t* y, int64_t n);
void CodePairs(Fn fn, const QuantizedRow& left, const QuantizedRow& right, const QuantizedRow& y,
               int32_t least, int32_t most, int64_t n);
void CodesAndFloats(Fn fn, const QuantizedRow& left, const float* right, const QuantizedRow& y,
                    int32_t least, int32_t most, int64_t n);
void GreaterCodes(const uint8_t* x, bool is_signed, uint8_t* y, int64_t n);
void AddCodes(const uint8_t* x, bool is_signed, int32_t* sum, int64_t n);
void TransposeCodes(const uint8_t* x, int64_t columns, int64_t rows, uint8_t* y);
void WinogradInput(int h, int w, const float* x, int64_t row, int64_t column, float* value,
                   int64_t position);
void WinogradProduct(const float* u, const float* value, float* m, int64_t tiles, int64_t channels,
                     int vectors);
bool WinogradOutput(int h, int w, const float* m, int64_t position, const float* bias, float* y,
                    int64_t pixel);

}  // namespace GE_SIMD_ISA
}  // namespace ge_engines::cpu
HWY_AFTER_NAMESPACE();
