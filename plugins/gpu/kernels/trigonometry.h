// Sine, cosine and tangent of float32, in double. The compiler's own keep an array in memory for
// great angles, which no kernel here does.
#pragma once

#include "plugins/gpu/kernels/portable.h"

namespace ge_engines::gpu {

// Angle: x = quarter * pi / 2 + rest, |rest| <= pi / 4.
struct Angle {
  uint32_t quarter = 0;  // its last two bits count
  double rest = 0;
};

// 64 bits of 2 / pi behind the point; word -1 stands before it.
GE_GPU_BODY uint64_t WordOfTwoOverPi(int k) {
  switch (k) {
    case 0:
      return 0xa2f9836e4e441529u;
    case 1:
      return 0xfc2757d1f534ddc0u;
    case 2:
      return 0xdb6295993c439041u;
    case 3:
      return 0xfe5163abdebbc561u;
    default:
      return 0;
  }
}

// Of |x| >= 2^23, a whole number m * 2^e. Of m * 2^e * (2 / pi) what is whole in eighths of the
// product's range is full turns, so that 128 bits of 2 / pi from bit e - 3 on say the rest
// (Payne and Hanek, "Radian reduction for trigonometric functions", 1983).
GE_GPU_BODY Angle GreatAngle(float x) {
  const uint32_t bits = BitsAs<uint32_t>(x);
  const int e = static_cast<int>(bits >> 23 & 255u) - 150;
  const uint64_t m = (bits & 0x7fffffu) | 0x800000u;
  const int first = e - 3 + 64, k = first / 64 - 1, shift = first % 64;
  const uint64_t a = WordOfTwoOverPi(k), b = WordOfTwoOverPi(k + 1), c = WordOfTwoOverPi(k + 2);
  const uint64_t high = shift == 0 ? a : a << shift | b >> (64 - shift);
  const uint64_t low = shift == 0 ? b : b << shift | c >> (64 - shift);
  const uint64_t top = HighProduct(m, low) + m * high, below = m * low;
  const uint64_t part = top << 3 | below >> 61;  // of a quarter
  Angle angle;
  angle.quarter = static_cast<uint32_t>(top >> 61) + static_cast<uint32_t>(part >> 63);
  angle.rest = static_cast<double>(static_cast<int64_t>(part)) * (0x1p-64 * 1.5707963267948966);
  if (bits >> 31 != 0) {
    angle.quarter = 0u - angle.quarter;
    angle.rest = -angle.rest;
  }
  return angle;
}

GE_GPU_BODY Angle AngleOf(float x) {
  if (fabsf(x) >= 8388608.0f) return GreatAngle(x);
  constexpr double kTwoOverPi = 0.63661977236758134;
  // pi / 2 in two numbers; the first has 30 bits, so that its products are exact.
  constexpr double kHigh = 0x1.921fb544p0, kLow = 0x1.0b4611a626331p-34;
  const double turns = rint(static_cast<double>(x) * kTwoOverPi);
  Angle angle;
  angle.quarter = static_cast<uint32_t>(static_cast<int32_t>(turns));
  angle.rest = static_cast<double>(x) - turns * kHigh - turns * kLow;
  return angle;
}

// Taylor's series: on [-pi / 4, pi / 4] the first terms left out are below 1e-11.
GE_GPU_BODY double SineOfRest(double r) {
  const double s = r * r;
  return r + r * s *
                 (-1.0 / 6 +
                  s * (1.0 / 120 + s * (-1.0 / 5040 + s * (1.0 / 362880 + s * (-1.0 / 39916800)))));
}
GE_GPU_BODY double CosineOfRest(double r) {
  const double s = r * r;
  return 1 + s * (-0.5 + s * (1.0 / 24 +
                              s * (-1.0 / 720 + s * (1.0 / 40320 + s * (-1.0 / 3628800 +
                                                                        s * (1.0 / 479001600))))));
}

GE_GPU_BODY float SineOf(const Angle& a) {
  const double v = (a.quarter & 1u) != 0 ? CosineOfRest(a.rest) : SineOfRest(a.rest);
  return static_cast<float>((a.quarter & 2u) != 0 ? -v : v);
}

// Of no finite number: NaN.
GE_GPU_BODY float Sine(float x) { return x - x != 0 ? NAN : x == 0 ? x : SineOf(AngleOf(x)); }
GE_GPU_BODY float Cosine(float x) {
  if (x - x != 0) return NAN;
  Angle a = AngleOf(x);
  ++a.quarter;
  return SineOf(a);
}
GE_GPU_BODY float Tangent(float x) {
  if (x - x != 0) return NAN;
  if (x == 0) return x;
  const Angle a = AngleOf(x);
  const double sine = SineOfRest(a.rest), cosine = CosineOfRest(a.rest);
  return static_cast<float>((a.quarter & 1u) != 0 ? -cosine / sine : sine / cosine);
}

}  // namespace ge_engines::gpu
