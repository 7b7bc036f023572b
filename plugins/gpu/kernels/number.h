// Numbers of any dtype in memory, read and written as real or as whole ones. The dtypes are the
// same for all threads of a launch.
#pragma once

#include "plugins/gpu/kernels/portable.h"

namespace ge_engines::gpu {

enum class Number : int32_t {
  kF32,
  kF64,
  kF16,
  kBf16,
  kBool,
  kI8,
  kU8,
  kI16,
  kU16,
  kI32,
  kU32,
  kI64,
  kU64,
};
GE_GPU_BODY bool IsReal(Number n) { return n <= Number::kBf16; }

GE_GPU_BODY float FloatOfHalf(uint16_t half) {
#if defined(__CUDA_ARCH__)
  float x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(half));
  return x;
#else
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  const uint32_t exponent = (half >> 10) & 31u, digits = half & 1023u;
  if (exponent == 31) return BitsAs<float>(sign | 0x7f800000u | digits << 13);
  if (exponent != 0) return BitsAs<float>(sign | (exponent + 112) << 23 | digits << 13);
  const float tiny = static_cast<float>(digits) * 5.9604644775390625e-8f;  // 2^-24
  return sign != 0 ? -tiny : tiny;
#endif
}
GE_GPU_BODY float FloatOfBrain(uint16_t brain) {
  return BitsAs<float>(static_cast<uint32_t>(brain) << 16);
}

// To nearest, ties to even.
GE_GPU_BODY uint16_t HalfOfFloat(float x) {
#if defined(__CUDA_ARCH__)
  uint16_t half;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(x));
  return half;
#else
  const uint32_t bits = BitsAs<uint32_t>(x), sign = bits >> 16 & 0x8000u;
  const uint32_t rest = bits & 0x7fffffffu;
  if (rest > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u);
  if (rest >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);  // 65520 and more
  if (rest < 0x38800000u) {  // below 2^-14: the sum drops what has no place
    const float sum = BitsAs<float>(rest) + 0.5f;
    return static_cast<uint16_t>(sign | (BitsAs<uint32_t>(sum) - 0x3f000000u));
  }
  const uint32_t odd = rest >> 13 & 1u;
  return static_cast<uint16_t>(sign | ((rest - 0x38000000u + 0xfffu + odd) >> 13));
#endif
}
GE_GPU_BODY uint16_t BrainOfFloat(float x) {
#if defined(__CUDA_ARCH__)
  uint16_t brain;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(brain) : "f"(x));
  return brain;
#else
  const uint32_t bits = BitsAs<uint32_t>(x);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>(bits >> 16 | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
#endif
}

// Element i of float32, float16 or bfloat16.
GE_GPU_BODY float FloatAt(const void* x, Number n, int64_t i) {
  if (n == Number::kF32) return static_cast<const float*>(x)[i];
  const uint16_t code = static_cast<const uint16_t*>(x)[i];
  return n == Number::kF16 ? FloatOfHalf(code) : FloatOfBrain(code);
}
GE_GPU_BODY void StoreFloat(void* y, Number n, int64_t i, float v) {
  if (n == Number::kF32) {
    static_cast<float*>(y)[i] = v;
  } else {
    static_cast<uint16_t*>(y)[i] = n == Number::kF16 ? HalfOfFloat(v) : BrainOfFloat(v);
  }
}

// Element i as a real number, or as a whole one. What is read of unsigned numbers of 64 bits are
// their bits.
GE_GPU_BODY double RealAt(const void* x, Number n, int64_t i) {
  switch (n) {
    case Number::kF32:
      return static_cast<const float*>(x)[i];
    case Number::kF64:
      return static_cast<const double*>(x)[i];
    case Number::kF16:
      return FloatOfHalf(static_cast<const uint16_t*>(x)[i]);
    default:
      return FloatOfBrain(static_cast<const uint16_t*>(x)[i]);
  }
}

GE_GPU_BODY int64_t WholeAt(const void* x, Number n, int64_t i) {
  switch (n) {
    case Number::kBool:
      return static_cast<const uint8_t*>(x)[i] != 0;
    case Number::kI8:
      return static_cast<const int8_t*>(x)[i];
    case Number::kU8:
      return static_cast<const uint8_t*>(x)[i];
    case Number::kI16:
      return static_cast<const int16_t*>(x)[i];
    case Number::kU16:
      return static_cast<const uint16_t*>(x)[i];
    case Number::kI32:
      return static_cast<const int32_t*>(x)[i];
    case Number::kU32:
      return static_cast<const uint32_t*>(x)[i];
    default:
      return static_cast<const int64_t*>(x)[i];
  }
}

GE_GPU_BODY void StoreWhole(void* y, Number n, int64_t i, int64_t v) {
  switch (n) {
    case Number::kBool:
    case Number::kI8:
    case Number::kU8:
      static_cast<uint8_t*>(y)[i] = static_cast<uint8_t>(v);
      return;
    case Number::kI16:
    case Number::kU16:
      static_cast<uint16_t*>(y)[i] = static_cast<uint16_t>(v);
      return;
    case Number::kI32:
    case Number::kU32:
      static_cast<uint32_t*>(y)[i] = static_cast<uint32_t>(v);
      return;
    default:
      static_cast<int64_t*>(y)[i] = v;
      return;
  }
}

// The float next to v on the side of 0, with its last bit set unless it is v: rounded again to
// fewer bits, it gives what v gives.
GE_GPU_BODY float ToOdd(double v) {
  const auto x = static_cast<float>(v);
  if (static_cast<double>(x) == v || !(fabs(v) <= 3.0e38)) return x;
  uint32_t bits = BitsAs<uint32_t>(x);
  if (fabs(static_cast<double>(x)) > fabs(v)) --bits;
  return BitsAs<float>(bits | 1u);
}

GE_GPU_BODY void StoreReal(void* y, Number n, int64_t i, double v) {
  switch (n) {
    case Number::kF32:
      static_cast<float*>(y)[i] = static_cast<float>(v);
      return;
    case Number::kF64:
      static_cast<double*>(y)[i] = v;
      return;
    case Number::kF16:
      static_cast<uint16_t*>(y)[i] = HalfOfFloat(ToOdd(v));
      return;
    default:
      static_cast<uint16_t*>(y)[i] = BrainOfFloat(ToOdd(v));
      return;
  }
}

// One element of 1, 2, 4 or 8 bytes, whatever it means.
GE_GPU_BODY void MoveElement(void* y, int64_t to, const void* x, int64_t from, int32_t bytes) {
  switch (bytes) {
    case 1:
      static_cast<uint8_t*>(y)[to] = static_cast<const uint8_t*>(x)[from];
      return;
    case 2:
      static_cast<uint16_t*>(y)[to] = static_cast<const uint16_t*>(x)[from];
      return;
    case 4:
      static_cast<uint32_t*>(y)[to] = static_cast<const uint32_t*>(x)[from];
      return;
    default:
      static_cast<uint64_t*>(y)[to] = static_cast<const uint64_t*>(x)[from];
      return;
  }
}

// A real number cut to a whole one. What no number of 64 bits is, is their least.
GE_GPU_BODY int64_t WholeOf(double x) {
  return x >= -9223372036854775808.0 && x < 9223372036854775808.0 ? static_cast<int64_t>(x)
                                                                  : INT64_MIN;
}

}  // namespace ge_engines::gpu
