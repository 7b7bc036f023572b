#include "plugins/cpu/native/matmul/fourier.h"

#include <gtest/gtest.h>

#include <cmath>

namespace ge_engines::cpu::native {
namespace {

using Complex = FourierTransform::Complex;

// Lengths of each small factor, of their products, and of large primes and twice those.
TEST(FourierTransform, EqualsTheSumOfItsDefinition) {
  for (const int64_t n : {1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 13, 16, 17, 34, 60, 64, 97, 169, 210}) {
    std::vector<Complex> in, out(static_cast<size_t>(n));
    for (int64_t j = 0; j < n; ++j) {
      in.emplace_back(std::sin(1.7 * static_cast<double>(j)),
                      std::cos(0.3 * static_cast<double>(j)));
    }
    const FourierTransform transform(n);
    std::vector<Complex> scratch(static_cast<size_t>(transform.scratch()));
    transform.Run(in.data(), out.data(), scratch.data());
    for (int64_t k = 0; k < n; ++k) {
      Complex sum;
      for (int64_t j = 0; j < n; ++j) {
        sum += in[static_cast<size_t>(j)] *
               std::polar(1.0, -2 * M_PI * static_cast<double>(j * k % n) / static_cast<double>(n));
      }
      EXPECT_LT(std::abs(sum - out[static_cast<size_t>(k)]), 1e-11) << n << " at " << k;
    }
  }
}

}  // namespace
}  // namespace ge_engines::cpu::native
