// Small convolutions and their sums in double precision, for the tests of those that compute them.
// Not for product code.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "plugins/units/conv/conv.h"

namespace ge_engines::cpu::native {

struct ConvCase {
  int64_t images, groups, in, out;  // channels of a group
  int64_t src[2], kernel[2], stride[2], dilation[2], pad_l[2], pad_r[2];
};
inline ConvSpec SpecOf(const ConvCase& c) {
  ConvSpec s;
  s.groups = c.groups;
  s.src = {c.images, c.groups * c.in, c.src[0], c.src[1]};
  s.weights = {c.groups, c.out, c.in, c.kernel[0], c.kernel[1]};
  if (c.groups == 1) s.weights.erase(s.weights.begin());
  s.dst = {c.images, c.groups * c.out};
  for (size_t k = 0; k < 2; ++k) {
    const int64_t window = (c.kernel[k] - 1) * c.dilation[k] + 1;
    s.dst.push_back((c.src[k] + c.pad_l[k] + c.pad_r[k] - window) / c.stride[k] + 1);
    s.stride.push_back(c.stride[k]);
    s.dilation.push_back(c.dilation[k]);
    s.pad_l.push_back(c.pad_l[k]);
    s.pad_r.push_back(c.pad_r[k]);
  }
  return s;
}

// Number `at` of the result, less its bias; pixels of the padding are zeros that count.
inline double DirectSum(const ConvCase& c, const ConvSpec& s, const std::vector<float>& x,
                        const std::vector<float>& w, int64_t at) {
  const int64_t x0 = at % s.dst[3], y0 = at / s.dst[3] % s.dst[2];
  const int64_t o = at / (s.dst[2] * s.dst[3]) % s.dst[1];
  const int64_t n = at / (s.dst[1] * s.dst[2] * s.dst[3]), taps = c.kernel[0] * c.kernel[1];
  double sum = 0;
  for (int64_t d = 0; d < c.in * taps; ++d) {
    const int64_t i = y0 * s.stride[0] + d % taps / c.kernel[1] * s.dilation[0] - s.pad_l[0];
    const int64_t j = x0 * s.stride[1] + d % c.kernel[1] * s.dilation[1] - s.pad_l[1];
    const bool inside = i >= 0 && i < s.src[2] && j >= 0 && j < s.src[3];
    const int64_t channel = n * s.src[1] + o / c.out * c.in + d / taps;
    const double v =
        inside ? x[static_cast<size_t>((channel * s.src[2] + i) * s.src[3] + j)] : 0.0f;
    sum += v * double{w[static_cast<size_t>(o * c.in * taps + d)]};
  }
  return sum;
}

inline std::vector<float> Random(int64_t n, std::mt19937* random) {
  std::normal_distribution<float> d;
  std::vector<float> v(static_cast<size_t>(n));
  for (float& x : v) x = d(*random);
  return v;
}

}  // namespace ge_engines::cpu::native
