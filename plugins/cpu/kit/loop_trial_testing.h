// Numbers, one run of a loop, walks over indices: shared by tests of loops. Tests only.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "plugins/cpu/kit/program.h"
#include "plugins/units/layout.h"

namespace ge_engines::cpu {

inline std::vector<float> Random(int64_t n, uint32_t seed) {
  std::mt19937 g(seed);
  std::normal_distribution<float> d(0.0f, 2.0f);
  std::vector<float> v(static_cast<size_t>(n));
  for (float& x : v) x = d(g);
  return v;
}
inline size_t Z(int64_t i) { return static_cast<size_t>(i); }

inline void RunLoop(const Kernel& kernel, std::vector<float*> places) {
  ge_err err = {};
  EXPECT_EQ(kernel.Do({places.data(), nullptr, nullptr, 0, &err}), GE_OK);
}

// Advances a row-major index; false at the end.
inline bool Next(const Dims& dims, Dims* at) {
  for (size_t i = dims.size(); i-- > 0;) {
    if (++(*at)[i] < dims[i]) return true;
    (*at)[i] = 0;
  }
  return false;
}
inline int64_t Offset(const Layout& layout, const Dims& at) {
  int64_t o = 0;
  for (int i = 0; i < layout.rank; ++i) {
    const int64_t k = at[Z(i)];
    o += layout.cblock > 0 && i == 1 ? k / layout.cblock * layout.stride[1] + k % layout.cblock
                                     : k * layout.stride[i];
  }
  return o;
}

}  // namespace ge_engines::cpu
