// Kernel functions of a row and support vectors. Pure; any thread.
#pragma once

#include "plugins/ref/kernels/ml_scores.h"

namespace ref {

enum class VectorKernel : uint8_t { kLinear, kPoly, kRbf, kSigmoid };

struct SupportVectors {
  VectorKernel kernel = VectorKernel::kLinear;
  double gamma = 0, coef0 = 0, degree = 0;
  std::vector<double> vectors;  // [count, features]
  int64_t count = 0, features = 0;

  double Value(const double* left, const double* right) const {
    double sum = 0;
    for (int64_t i = 0; i < features; ++i) {
      const double d = left[i] - right[i];
      sum += kernel == VectorKernel::kRbf ? d * d : left[i] * right[i];
    }
    switch (kernel) {
      case VectorKernel::kPoly:
        return std::pow(gamma * sum + coef0, degree);
      case VectorKernel::kRbf:
        return std::exp(-gamma * sum);
      case VectorKernel::kSigmoid:
        return std::tanh(gamma * sum + coef0);
      default:
        return sum;
    }
  }
  void Values(const double* row, double* to) const {
    for (int64_t j = 0; j < count; ++j) to[j] = Value(row, vectors.data() + j * features);
  }
};

// The kernel and its parameters, and `count` vectors of as many entries as rows have.
inline bool ReadSupportVectors(const NodeView& n, int64_t count, int64_t features,
                               SupportVectors* vectors, Why* why) {
  static constexpr std::string_view kNames[] = {"LINEAR", "POLY", "RBF", "SIGMOID"};
  const std::string_view name = n.Text("kernel_type");
  const auto* at = std::find(std::begin(kNames), std::end(kNames), name);
  if (at == std::end(kNames)) return why->Say(GE_WHY_ATTRIBUTE, "kernel_type is not known");
  vectors->kernel = static_cast<VectorKernel>(at - std::begin(kNames));
  const std::vector<double> params = RealList(n, "kernel_params");
  if (params.size() != 3 && !params.empty()) {
    return why->Say(GE_WHY_ATTRIBUTE, "kernel_params are not gamma, coef0 and degree");
  }
  if (!params.empty()) {
    vectors->gamma = params[0];
    vectors->coef0 = params[1];
    vectors->degree = params[2];
  }
  vectors->vectors = RealList(n, "support_vectors");
  vectors->count = count;
  vectors->features = features;
  const auto entries = static_cast<int64_t>(vectors->vectors.size());
  return count == 0 || (entries % count == 0 && entries / count == features) ||
         why->Say(GE_WHY_ATTRIBUTE, "support_vectors do not fit the features");
}

}  // namespace ref
