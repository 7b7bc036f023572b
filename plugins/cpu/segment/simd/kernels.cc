// Built once per instruction set with GE_SIMD_ISA = base, avx2 or avx512: plain loops that the
// compiler turns into that set's vectors. Nothing here may be an inline function that other
// translation units share: the linker could keep the copy of the highest set.
#include "plugins/cpu/segment/simd/kernels.h"

#include <math.h>

namespace ge_cpu {
namespace {

#define GE_INLINE static inline __attribute__((always_inline))

GE_INLINE int32_t Bits(float x) { return __builtin_bit_cast(int32_t, x); }
GE_INLINE float Float(int32_t x) { return __builtin_bit_cast(float, x); }
GE_INLINE float Min(float x, float y) { return y < x ? y : x; }
GE_INLINE float Max(float x, float y) { return x < y ? y : x; }

// exp by 2^n * e^r, |r| <= ln(2)/2, Taylor of degree 7: error below 2 ulp. NaN stays NaN.
GE_INLINE float Exp(float x) {
  const float t = Min(Max(x, -103.97f), 88.73f);
  const float n = __builtin_floorf(t * 1.44269504f + 0.5f);
  float r = t - n * 0.693359375f;
  r = r + n * 2.12194440e-4f;
  float p = 1.98412698e-4f;
  p = p * r + 1.38888889e-3f;
  p = p * r + 8.33333333e-3f;
  p = p * r + 4.16666667e-2f;
  p = p * r + 1.66666667e-1f;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  // Two factors keep the exponent in range for results that are subnormal or near the maximum.
  const int32_t k = static_cast<int32_t>(n);
  const int32_t h = k >> 1;
  const float y = p * Float((h + 127) << 23) * Float((k - h + 127) << 23);
  const float big = x > 88.72283f ? INFINITY : y;
  return x != x ? x : big;
}
GE_INLINE float Sigmoid(float x) { return 1.0f / (1.0f + Exp(-x)); }

GE_INLINE float Tanh(float x) {
  const float s = x * x;
  // Series below 0.3 (next term 5e-8 relative), exponential above.
  float p = 2.18694885e-2f;
  p = p * s - 5.39682540e-2f;
  p = p * s + 1.33333333e-1f;
  p = p * s - 3.33333333e-1f;
  const float low = x + x * s * p;
  const float high = 1.0f - 2.0f / (Exp(2.0f * x) + 1.0f);
  return s < 0.09f ? low : high;
}

// Series below 0.5; above, the rational form of Abramowitz and Stegun 7.1.26 (|error| < 1.5e-7).
GE_INLINE float Erf(float x) {
  const float s = x * x;
  float p = -7.57575758e-4f;
  p = p * s + 4.62962963e-3f;
  p = p * s - 2.38095238e-2f;
  p = p * s + 0.1f;
  p = p * s - 3.33333333e-1f;
  p = p * s + 1.0f;
  const float low = 1.12837917f * x * p;
  const float u = __builtin_fabsf(x);
  const float t = 1.0f / (1.0f + 0.3275911f * u);
  float q = 1.061405429f;
  q = q * t - 1.453152027f;
  q = q * t + 1.421413741f;
  q = q * t - 0.284496736f;
  q = q * t + 0.254829592f;
  const float e = 1.0f - q * t * Exp(-s);
  return s < 0.25f ? low : __builtin_copysignf(e, x);
}

GE_INLINE float HardSigmoid(float x, float a, float b) { return Min(Max(a * x + b, 0.0f), 1.0f); }

template <class F>
GE_INLINE void Map(const float* x, float* y, int64_t n, F f) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) y[i] = f(x[i]);
}

void Unary(Fn fn, float a, float b, const float* x, float* y, int64_t n) {
  switch (fn) {
    case Fn::kLinear:
      return Map(x, y, n, [=](float v) { return a * v + b; });
    case Fn::kRelu:
      if (a == 0) return Map(x, y, n, [](float v) { return v < 0 ? 0.0f : v; });
      return Map(x, y, n, [=](float v) { return v < 0 ? a * v : v; });
    case Fn::kClip:
      return Map(x, y, n, [=](float v) { return Min(Max(v, a), b); });
    case Fn::kSigmoid:
      return Map(x, y, n, [](float v) { return Sigmoid(v); });
    case Fn::kTanh:
      return Map(x, y, n, [](float v) { return Tanh(v); });
    case Fn::kHardSigmoid:
      return Map(x, y, n, [=](float v) { return HardSigmoid(v, a, b); });
    case Fn::kHardSwish:
      return Map(x, y, n, [=](float v) { return v * HardSigmoid(v, a, b); });
    case Fn::kSwish:
      return Map(x, y, n, [](float v) { return v * Sigmoid(v); });
    case Fn::kGelu:
      return Map(x, y, n, [](float v) { return 0.5f * v * (1.0f + Erf(v * 0.707106781f)); });
    case Fn::kGeluTanh:
      return Map(x, y, n, [](float v) {
        return 0.5f * v * (1.0f + Tanh(0.797884561f * (v + 0.044715f * v * v * v)));
      });
    case Fn::kErf:
      return Map(x, y, n, [](float v) { return Erf(v); });
    case Fn::kExp:
      return Map(x, y, n, [](float v) { return Exp(v); });
    case Fn::kSqrt:
      return Map(x, y, n, [](float v) { return __builtin_sqrtf(v); });
    case Fn::kAbs:
      return Map(x, y, n, [](float v) { return __builtin_fabsf(v); });
    case Fn::kReciprocal:
      return Map(x, y, n, [](float v) { return 1.0f / v; });
    case Fn::kSquare:
      return Map(x, y, n, [](float v) { return v * v; });
    case Fn::kCube:
      return Map(x, y, n, [](float v) { return v * v * v; });
    case Fn::kSin:
      for (int64_t i = 0; i < n; ++i) y[i] = sinf(x[i]);
      return;
    default:
      return;
  }
}

template <class F>
GE_INLINE void Zip(const float* x, const float* z, float* y, int64_t n, F f) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) y[i] = f(x[i], z[i]);
}

// Calls use(f) with the function of a binary fn.
template <class Use>
GE_INLINE void WithBinary(Fn fn, Use use) {
  switch (fn) {
    case Fn::kAdd:
      return use([](float p, float q) { return p + q; });
    case Fn::kSub:
      return use([](float p, float q) { return p - q; });
    case Fn::kMul:
      return use([](float p, float q) { return p * q; });
    case Fn::kDiv:
      return use([](float p, float q) { return p / q; });
    case Fn::kMax:
      return use([](float p, float q) { return p != p ? p : (p > q ? p : q); });
    case Fn::kMin:
      return use([](float p, float q) { return p != p ? p : (p < q ? p : q); });
    case Fn::kRSub:
      return use([](float p, float q) { return q - p; });
    case Fn::kRDiv:
      return use([](float p, float q) { return q / p; });
    default:
      return;
  }
}

void Binary(Fn fn, const float* x, const float* z, float* y, int64_t n) {
  WithBinary(fn, [=](auto f) { Zip(x, z, y, n, f); });
}
void BinaryScalar(Fn fn, const float* x, float z, float* y, int64_t n) {
  WithBinary(fn, [=](auto f) { Map(x, y, n, [=](float v) { return f(v, z); }); });
}

constexpr int kLanes = 32;  // independent partial results: two vectors of the widest set

template <class F>
GE_INLINE float Fold(const float* x, int64_t n, float start, F f) {
  float part[kLanes];
  for (int j = 0; j < kLanes; ++j) part[j] = start;
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int j = 0; j < kLanes; ++j) part[j] = f(part[j], x[i + j]);
  }
  for (int j = 0; i < n; ++i, ++j) part[j] = f(part[j], x[i]);
  for (int w = kLanes / 2; w > 0; w /= 2) {
    for (int j = 0; j < w; ++j) part[j] = f(part[j], part[j + w]);
  }
  return part[0];
}
GE_INLINE float MaxOf(float p, float q) { return p != p ? p : (p > q ? p : q); }
GE_INLINE float MinOf(float p, float q) { return p != p ? p : (p < q ? p : q); }

float ReduceRow(Reduce op, const float* x, int64_t n) {
  if (op == Reduce::kMax) return Fold(x, n, x[0], [](float p, float q) { return MaxOf(q, p); });
  if (op == Reduce::kMin) return Fold(x, n, x[0], [](float p, float q) { return MinOf(q, p); });
  return Fold(x, n, 0.0f, [](float p, float q) { return p + q; });
}

// Columns in strips that stay in registers; rows in blocks, so that a sum of many rows loses
// little.
template <int kWidth, class F>
GE_INLINE void FoldStrip(const float* x, int64_t rows, int64_t stride, float* acc, F f) {
  float a[kWidth];
  for (int j = 0; j < kWidth; ++j) a[j] = acc[j];
  for (int64_t r = 0; r < rows; ++r) {
    for (int j = 0; j < kWidth; ++j) a[j] = f(a[j], x[r * stride + j]);
  }
  for (int j = 0; j < kWidth; ++j) acc[j] = a[j];
}
template <int kWidth>
GE_INLINE void SumStrip(const float* x, int64_t rows, int64_t stride, float* acc) {
  constexpr int kWays = 4;
  float a[kWays][kWidth] = {};
  int64_t r = 0;
  for (; r + kWays <= rows; r += kWays) {
    for (int k = 0; k < kWays; ++k) {
      for (int j = 0; j < kWidth; ++j) a[k][j] += x[(r + k) * stride + j];
    }
  }
  for (; r < rows; ++r) {
    for (int j = 0; j < kWidth; ++j) a[0][j] += x[r * stride + j];
  }
  for (int j = 0; j < kWidth; ++j) acc[j] += (a[0][j] + a[1][j]) + (a[2][j] + a[3][j]);
}

void ReduceRows(Reduce op, const float* x, int64_t rows, int64_t stride, float* acc, int64_t n) {
  const bool sum = op == Reduce::kSum || op == Reduce::kMean;
  constexpr int64_t kBlock = 512;
  for (int64_t r = 0; r < rows; r += kBlock) {
    const int64_t m = rows - r < kBlock ? rows - r : kBlock;
    int64_t i = 0;
    for (; i + 16 <= n; i += 16) {
      const float* p = x + r * stride + i;
      if (sum) {
        SumStrip<16>(p, m, stride, acc + i);
      } else if (op == Reduce::kMax) {
        FoldStrip<16>(p, m, stride, acc + i, [](float a, float b) { return MaxOf(b, a); });
      } else {
        FoldStrip<16>(p, m, stride, acc + i, [](float a, float b) { return MinOf(b, a); });
      }
    }
    for (; i < n; ++i) {
      for (int64_t k = 0; k < m; ++k) {
        const float v = x[(r + k) * stride + i];
        acc[i] = sum ? acc[i] + v : op == Reduce::kMax ? MaxOf(v, acc[i]) : MinOf(v, acc[i]);
      }
    }
  }
}

void Softmax(const float* x, float* y, int64_t n) {
  const float top = ReduceRow(Reduce::kMax, x, n);
  Map(x, y, n, [=](float v) { return Exp(v - top); });
  const float scale = 1.0f / ReduceRow(Reduce::kSum, y, n);
  Map(y, y, n, [=](float v) { return v * scale; });
}

void LayerNorm(const float* x, const float* gamma, const float* beta, float eps, float* y,
               int64_t n) {
  const float inv_n = 1.0f / static_cast<float>(n);
  const float mean = ReduceRow(Reduce::kSum, x, n) * inv_n;
  float part[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int j = 0; j < kLanes; ++j) {
      const float d = x[i + j] - mean;
      part[j] += d * d;
    }
  }
  for (int j = 0; i < n; ++i, ++j) {
    const float d = x[i] - mean;
    part[j] += d * d;
  }
  float var = 0;
  for (int j = 0; j < kLanes; ++j) var += part[j];
  const float scale = 1.0f / __builtin_sqrtf(var * inv_n + eps);
  if (gamma != nullptr && beta != nullptr) {
#pragma GCC ivdep
    for (int64_t k = 0; k < n; ++k) y[k] = (x[k] - mean) * scale * gamma[k] + beta[k];
  } else {
    for (int64_t k = 0; k < n; ++k) {
      const float v = (x[k] - mean) * scale;
      y[k] = (gamma != nullptr ? v * gamma[k] : v) + (beta != nullptr ? beta[k] : 0.0f);
    }
  }
}

}  // namespace

#define GE_SIMD_NAME2(isa) kSimd_##isa
#define GE_SIMD_NAME(isa) GE_SIMD_NAME2(isa)
const Simd GE_SIMD_NAME(GE_SIMD_ISA) = {Unary,      Binary,  BinaryScalar, ReduceRow,
                                        ReduceRows, Softmax, LayerNorm};

}  // namespace ge_cpu
