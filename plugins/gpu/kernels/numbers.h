// Casts and comparisons of numbers of any dtype. The dtypes are the same for all threads of a
// launch.
#pragma once

#include "plugins/gpu/kernels/args.h"
#include "plugins/gpu/kernels/index.h"
#include "plugins/units/functions.h"

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
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  const uint32_t exponent = (half >> 10) & 31u, digits = half & 1023u;
  if (exponent == 31) return BitsAs<float>(sign | 0x7f800000u | digits << 13);
  if (exponent != 0) return BitsAs<float>(sign | (exponent + 112) << 23 | digits << 13);
  const float tiny = static_cast<float>(digits) * 5.9604644775390625e-8f;  // 2^-24
  return sign != 0 ? -tiny : tiny;
}

// To nearest, ties to even.
GE_GPU_BODY uint16_t HalfOfFloat(float x) {
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
}

GE_GPU_BODY uint16_t Bf16OfFloat(float x) {
  const uint32_t bits = BitsAs<uint32_t>(x);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>(bits >> 16 | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
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
      return BitsAs<float>(static_cast<uint32_t>(static_cast<const uint16_t*>(x)[i]) << 16);
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

GE_GPU_BODY void StoreReal(void* y, Number n, int64_t i, double v) {
  switch (n) {
    case Number::kF32:
      static_cast<float*>(y)[i] = static_cast<float>(v);
      return;
    case Number::kF64:
      static_cast<double*>(y)[i] = v;
      return;
    case Number::kF16:
      static_cast<uint16_t*>(y)[i] = HalfOfFloat(static_cast<float>(v));
      return;
    default:
      static_cast<uint16_t*>(y)[i] = Bf16OfFloat(static_cast<float>(v));
      return;
  }
}

// A real number cut to a whole one. What no number of 64 bits is, is their least.
GE_GPU_BODY int64_t WholeOf(double x) {
  return x >= -9223372036854775808.0 && x < 9223372036854775808.0 ? static_cast<int64_t>(x)
                                                                  : INT64_MIN;
}

// Places: result, x.
struct CastArgs : Args<2> {
  Number from = Number::kF32, to = Number::kF32;
};

GE_GPU_BODY void CastThread(const CastArgs& a, int64_t i) {
  const void* x = a.at[1].data;
  void* y = a.at[0].data;
  if (IsReal(a.from)) {
    const double v = RealAt(x, a.from, i);
    if (IsReal(a.to)) return StoreReal(y, a.to, i, v);
    if (a.to == Number::kBool) static_cast<uint8_t*>(y)[i] = v != 0;
    if (a.to != Number::kBool) StoreWhole(y, a.to, i, WholeOf(v));
    return;
  }
  const int64_t v = WholeAt(x, a.from, i);
  if (a.to == Number::kBool) {
    static_cast<uint8_t*>(y)[i] = v != 0;
  } else if (a.to == Number::kF32) {  // one rounding
    static_cast<float*>(y)[i] = a.from == Number::kU64
                                    ? static_cast<float>(static_cast<uint64_t>(v))
                                    : static_cast<float>(v);
  } else if (IsReal(a.to)) {
    StoreReal(y, a.to, i,
              a.from == Number::kU64 ? static_cast<double>(static_cast<uint64_t>(v))
                                     : static_cast<double>(v));
  } else {
    StoreWhole(y, a.to, i, v);
  }
}

template <class T>
GE_GPU_BODY bool Tested(Relation test, T x, T y) {
  switch (test) {
    case Relation::kEqual:
      return x == y;
    case Relation::kLess:
      return x < y;
    case Relation::kGreater:
      return x > y;
    case Relation::kLessOrEqual:
      return x <= y;
    case Relation::kGreaterOrEqual:
      return x >= y;
    case Relation::kAnd:
      return x != 0 && y != 0;
    case Relation::kOr:
      return x != 0 || y != 0;
    case Relation::kXor:
      return (x != 0) != (y != 0);
    default:
      return x == 0;
  }
}

// Places: result, x, z.
struct RelationArgs : Args<3> {
  Axes axes;
  Strides strides[3];
  Number of = Number::kF32;
  Relation test = Relation::kEqual;
  bool floats = false;  // 1 and 0 as float32, else as bool
};

GE_GPU_BODY void RelationThread(const RelationArgs& a, int64_t i) {
  const int z = a.test == Relation::kNot ? 1 : 2;
  const int64_t left = PlaceOf(a.axes, a.strides[1], i), right = PlaceOf(a.axes, a.strides[z], i);
  bool yes = false;
  if (IsReal(a.of)) {
    yes = Tested(a.test, RealAt(a.at[1].data, a.of, left), RealAt(a.at[z].data, a.of, right));
  } else {
    const int64_t v = WholeAt(a.at[1].data, a.of, left), w = WholeAt(a.at[z].data, a.of, right);
    yes = a.of == Number::kU64 ? Tested(a.test, static_cast<uint64_t>(v), static_cast<uint64_t>(w))
                               : Tested(a.test, v, w);
  }
  if (a.floats) {
    a.out<float>(0)[i] = yes ? 1.0f : 0.0f;
  } else {
    a.out<uint8_t>(0)[i] = yes;
  }
}

}  // namespace ge_engines::gpu
