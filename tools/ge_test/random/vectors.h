// Random kernels of support vector machines, and their plain values.
#pragma once

#include "tools/ge_test/random/ml.h"

namespace ge::test {

inline void SetVectorKernel(CaseMaker& maker) {
  maker.Set("kernel_type",
            maker.r.Pick(std::vector<std::string>{"LINEAR", "POLY", "RBF", "SIGMOID"}));
  // A degree of 3: other powers of a negative number would not be real.
  maker.Set("kernel_params",
            std::vector<double>{static_cast<float>(maker.r.Between(0.1, 0.6)),
                                static_cast<float>(maker.r.Between(-0.5, 0.5)), 3});
}

// The kernel of a row and support vector k.
inline double PlainKernel(const RandomCase& sample, int64_t row, size_t k) {
  const HostTensor& x = *sample.inputs[0].tensor;
  const auto features = static_cast<size_t>(x.dims.back());
  const auto vectors = FloatsOr(sample, "support_vectors"),
             params = FloatsOr(sample, "kernel_params");
  const std::string kernel = TextOr(sample, "kernel_type", "LINEAR");
  const double dot = RowDot(x, row, vectors, k * features, x.dims.back());
  if (kernel == "LINEAR") return dot;
  const double inner = params[0] * dot + params[1];
  if (kernel == "POLY") return inner * inner * inner;
  if (kernel == "SIGMOID") return 1 - 2 / (std::exp(2 * inner) + 1);
  double distance = 0;
  for (size_t i = 0; i < features; ++i) {
    const double d = ElementAsDouble(x, row * x.dims.back() + static_cast<int64_t>(i)) -
                     vectors[k * features + i];
    distance += d * d;
  }
  return std::exp(-params[0] * distance);
}

}  // namespace ge::test
