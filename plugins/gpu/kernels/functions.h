// Pointwise functions of float32, eight elements at a time, and their loads and stores of 16 bytes.
// The choice of the function, and dtypes, are the same for all threads of a launch.
#pragma once

#include "plugins/gpu/kernels/number.h"
#include "plugins/gpu/kernels/trigonometry.h"
#include "plugins/units/functions.h"

namespace ge_engines::gpu {

inline constexpr int kWidth = 8;  // elements of one thread: 16 bytes of 16-bit numbers

struct Wide {
  float v[kWidth];
};

// What one access of 16 bytes moves.
struct alignas(16) FourFloats {
  float v[4];
};
struct alignas(16) EightCodes {
  uint16_t v[8];
};

// Elements from x on, which lies at a multiple of 16 bytes.
GE_GPU_BODY void LoadWide(const void* x, Number n, int64_t first, Wide* to) {
  if (n == Number::kF32) {
    const auto* from = reinterpret_cast<const FourFloats*>(static_cast<const float*>(x) + first);
    const FourFloats left = from[0], right = from[1];
    for (int k = 0; k < 4; ++k) to->v[k] = left.v[k];
    for (int k = 0; k < 4; ++k) to->v[4 + k] = right.v[k];
    return;
  }
  const EightCodes codes =
      *reinterpret_cast<const EightCodes*>(static_cast<const uint16_t*>(x) + first);
  if (n == Number::kF16) {
    for (int k = 0; k < kWidth; ++k) to->v[k] = FloatOfHalf(codes.v[k]);
  } else {
    for (int k = 0; k < kWidth; ++k) to->v[k] = FloatOfBrain(codes.v[k]);
  }
}
GE_GPU_BODY void StoreWide(void* y, Number n, int64_t first, const Wide& from) {
  if (n == Number::kF32) {
    auto* to = reinterpret_cast<FourFloats*>(static_cast<float*>(y) + first);
    FourFloats left, right;
    for (int k = 0; k < 4; ++k) left.v[k] = from.v[k];
    for (int k = 0; k < 4; ++k) right.v[k] = from.v[4 + k];
    to[0] = left;
    to[1] = right;
    return;
  }
  EightCodes codes;
  if (n == Number::kF16) {
    for (int k = 0; k < kWidth; ++k) codes.v[k] = HalfOfFloat(from.v[k]);
  } else {
    for (int k = 0; k < kWidth; ++k) codes.v[k] = BrainOfFloat(from.v[k]);
  }
  *reinterpret_cast<EightCodes*>(static_cast<uint16_t*>(y) + first) = codes;
}

// NaN wins.
GE_GPU_BODY float Greater(float x, float y) { return x != x || x > y ? x : y; }
GE_GPU_BODY float Less(float x, float y) { return x != x || x < y ? x : y; }
GE_GPU_BODY float Clamped(float x, float least, float most) {
  return Less(Greater(x, least), most);
}
GE_GPU_BODY float Sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }
GE_GPU_BODY float Gelu(float x) {
  constexpr float kRootOfHalf = 0.70710678118654752f;
  return 0.5f * x * (1.0f + erff(x * kRootOfHalf));
}
GE_GPU_BODY float GeluTanh(float x) {
  constexpr float kRoot = 0.79788456080286536f;  // of 2 / pi
  return 0.5f * x * (1.0f + tanhf(kRoot * (x + 0.044715f * x * x * x)));
}
GE_GPU_BODY float Softplus(float x) { return (x > 0 ? x : 0.0f) + log1pf(expf(-fabsf(x))); }
GE_GPU_BODY float Remainder(float x, float y) {  // of a quotient rounded down
  const float rest = fmodf(x, y);
  return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

#define GE_CASE(name, result)          \
  case Fn::name:                       \
    for (int k = 0; k < kWidth; ++k) { \
      const float v = x->v[k];         \
      x->v[k] = (result);              \
    }                                  \
    return
// x becomes fn(x).
GE_GPU_BODY void ApplyUnary(Fn fn, float a, float b, Wide* x) {
  switch (fn) {
    GE_CASE(kLinear, a * v + b);
    GE_CASE(kRelu, v < 0 ? (a == 0 ? 0.0f : a * v) : v);  // infinity times 0 is NaN
    GE_CASE(kClip, Clamped(v, a, b));
    GE_CASE(kSigmoid, Sigmoid(v));
    GE_CASE(kTanh, tanhf(v));
    GE_CASE(kHardSigmoid, Clamped(a * v + b, 0.0f, 1.0f));
    GE_CASE(kHardSwish, v * Clamped(a * v + b, 0.0f, 1.0f));
    GE_CASE(kSwish, v * Sigmoid(v));
    GE_CASE(kGelu, Gelu(v));
    GE_CASE(kGeluTanh, GeluTanh(v));
    GE_CASE(kErf, erff(v));
    GE_CASE(kExp, expf(v));
    GE_CASE(kSqrt, sqrtf(v));
    GE_CASE(kAbs, fabsf(v));
    GE_CASE(kReciprocal, 1.0f / v);
    GE_CASE(kSquare, v * v);
    GE_CASE(kCube, v * v * v);
    GE_CASE(kSin, Sine(v));
    GE_CASE(kCos, Cosine(v));
    GE_CASE(kLog, logf(v));
    GE_CASE(kFloor, floorf(v));
    GE_CASE(kCeil, ceilf(v));
    GE_CASE(kRound, rintf(v));
    GE_CASE(kSign, v > 0 ? 1.0f : v < 0 ? -1.0f : v);
    GE_CASE(kElu, v < 0 ? a * expm1f(v) : v);
    GE_CASE(kSoftplus, Softplus(v));
    GE_CASE(kShrink, v < -a ? v + b : v > a ? v - b : 0.0f);
    GE_CASE(kTan, Tangent(v));
    GE_CASE(kAsin, asinf(v));
    GE_CASE(kAcos, acosf(v));
    GE_CASE(kAtan, atanf(v));
    GE_CASE(kSinh, sinhf(v));
    GE_CASE(kCosh, coshf(v));
    GE_CASE(kAsinh, asinhf(v));
    GE_CASE(kAcosh, acoshf(v));
    GE_CASE(kAtanh, atanhf(v));
    default:
      return;  // of integers alone; the engine takes none
  }
}

// x becomes fn(x, y).
GE_GPU_BODY void ApplyBinary(Fn fn, const Wide& y, Wide* x) {
  switch (fn) {
    GE_CASE(kAdd, v + y.v[k]);
    GE_CASE(kSub, v - y.v[k]);
    GE_CASE(kMul, v * y.v[k]);
    GE_CASE(kDiv, v / y.v[k]);
    GE_CASE(kMax, Greater(v, y.v[k]));
    GE_CASE(kMin, Less(v, y.v[k]));
    GE_CASE(kRSub, y.v[k] - v);
    GE_CASE(kRDiv, y.v[k] / v);
    GE_CASE(kGate, y.v[k] > 0 ? v : 0.0f);
    GE_CASE(kRGate, v > 0 ? y.v[k] : 0.0f);
    GE_CASE(kPow, powf(v, y.v[k]));
    GE_CASE(kRPow, powf(y.v[k], v));
    GE_CASE(kFmod, fmodf(v, y.v[k]));
    GE_CASE(kRFmod, fmodf(y.v[k], v));
    GE_CASE(kMod, Remainder(v, y.v[k]));
    GE_CASE(kRMod, Remainder(y.v[k], v));
    default:
      return;  // of integers alone; the engine takes none
  }
}
#undef GE_CASE

}  // namespace ge_engines::gpu
