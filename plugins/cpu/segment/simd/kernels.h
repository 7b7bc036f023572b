// Vector loops: what vendors' libraries lack or do slowly. Row kernels only; who cuts
// tensors into rows and who owns memory is not decided here. Pure functions, any thread.
#pragma once

#include <cstdint>

namespace ge_cpu {

// Unary functions with up to two parameters a, b; binary ones come after kFirstBinary.
enum class Fn : int {
  kLinear,       // a * x + b
  kRelu,         // x < 0 ? a * x : x
  kClip,         // min(max(x, a), b)
  kSigmoid,      //
  kTanh,         //
  kHardSigmoid,  // clamp(a * x + b, 0, 1)
  kHardSwish,    // x * clamp(a * x + b, 0, 1)
  kSwish,        // x * sigmoid(x)
  kGelu,         // x * (1 + erf(x / sqrt 2)) / 2
  kGeluTanh,     // x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))) / 2
  kErf,
  kExp,
  kSqrt,
  kAbs,
  kReciprocal,
  kSquare,
  kCube,
  kSin,
  kFirstBinary,
  kAdd = kFirstBinary,
  kSub,
  kMul,
  kDiv,
  kMax,
  kMin,
  kRSub,  // y - x
  kRDiv,  // y / x
};
enum class Reduce : int { kSum, kMean, kMax, kMin };

struct Simd {
  // y[i] = fn(x[i]); x may equal y.
  void (*unary)(Fn fn, float a, float b, const float* x, float* y, int64_t n);
  // y[i] = x[i] fn z[i]; y may equal x or z.
  void (*binary)(Fn fn, const float* x, const float* z, float* y, int64_t n);
  void (*binary_scalar)(Fn fn, const float* x, float z, float* y, int64_t n);
  // Sum (kSum, kMean) or extreme of n >= 1 elements.
  float (*reduce)(Reduce op, const float* x, int64_t n);
  // acc[i] = acc[i] op x[r * stride + i] for rows r in [0, rows), i in [0, n).
  void (*reduce_rows)(Reduce op, const float* x, int64_t rows, int64_t stride, float* acc,
                      int64_t n);
  void (*softmax)(const float* x, float* y, int64_t n);
  // gamma and beta may be nullptr.
  void (*layer_norm)(const float* x, const float* gamma, const float* beta, float eps, float* y,
                     int64_t n);
};

extern const Simd kSimd_base, kSimd_avx2, kSimd_avx512;

}  // namespace ge_cpu
