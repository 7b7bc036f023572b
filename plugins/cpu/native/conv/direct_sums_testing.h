// Small convolutions and their sums in double precision, for tests of convolution algorithms. Not
// for product code.
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
inline ConvSpec SpecOf(const ConvCase& conv_case) {
  ConvSpec s;
  s.groups = conv_case.groups;
  s.src = {conv_case.images, conv_case.groups * conv_case.in, conv_case.src[0], conv_case.src[1]};
  s.weights = {conv_case.groups, conv_case.out, conv_case.in, conv_case.kernel[0],
               conv_case.kernel[1]};
  if (conv_case.groups == 1) s.weights.erase(s.weights.begin());
  s.dst = {conv_case.images, conv_case.groups * conv_case.out};
  for (size_t k = 0; k < 2; ++k) {
    const int64_t window = (conv_case.kernel[k] - 1) * conv_case.dilation[k] + 1;
    s.dst.push_back((conv_case.src[k] + conv_case.pad_l[k] + conv_case.pad_r[k] - window) /
                        conv_case.stride[k] +
                    1);
    s.stride.push_back(conv_case.stride[k]);
    s.dilation.push_back(conv_case.dilation[k]);
    s.pad_l.push_back(conv_case.pad_l[k]);
    s.pad_r.push_back(conv_case.pad_r[k]);
  }
  return s;
}

// Element `at` of the result without its bias; the padding's zeros count as terms.
inline double DirectSum(const ConvCase& conv_case, const ConvSpec& spec,
                        const std::vector<float>& x, const std::vector<float>& w, int64_t at) {
  const int64_t x0 = at % spec.dst[3], y0 = at / spec.dst[3] % spec.dst[2];
  const int64_t o = at / (spec.dst[2] * spec.dst[3]) % spec.dst[1];
  const int64_t n = at / (spec.dst[1] * spec.dst[2] * spec.dst[3]),
                taps = conv_case.kernel[0] * conv_case.kernel[1];
  double sum = 0;
  for (int64_t d = 0; d < conv_case.in * taps; ++d) {
    const int64_t i =
        y0 * spec.stride[0] + d % taps / conv_case.kernel[1] * spec.dilation[0] - spec.pad_l[0];
    const int64_t j =
        x0 * spec.stride[1] + d % conv_case.kernel[1] * spec.dilation[1] - spec.pad_l[1];
    const bool inside = i >= 0 && i < spec.src[2] && j >= 0 && j < spec.src[3];
    const int64_t channel = n * spec.src[1] + o / conv_case.out * conv_case.in + d / taps;
    const double v =
        inside ? x[static_cast<size_t>((channel * spec.src[2] + i) * spec.src[3] + j)] : 0.0f;
    sum += v * double{w[static_cast<size_t>(o * conv_case.in * taps + d)]};
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
