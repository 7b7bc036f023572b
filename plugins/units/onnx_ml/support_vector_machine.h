// SVMRegressor and SVMClassifier of ai.onnx.ml. Pure; any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "plugins/units/onnx_ml/post_transform.h"
#include "plugins/units/unit.h"

namespace ge_engines {

enum class VectorKernel : uint8_t { kLinear, kPoly, kRbf, kSigmoid };
struct SupportVectorMachine {
  VectorKernel kernel = VectorKernel::kLinear;
  double gamma = 0, coef0 = 0, degree = 0;
  int64_t rows = 0, features = 0, count = 0;
  std::vector<float> vectors;  // [features][count]
  // Weights of each vector, one for each other class; a regressor has one. [count][weights]
  std::vector<double> coefficients;
  int64_t weights = 1;
  std::vector<double> rho, prob_a, prob_b;  // by pair of classes; of a regressor one
  std::vector<int64_t> begin;               // by class, and their end: its vectors
  std::vector<int64_t> labels;              // of a regressor none
  int64_t columns = 1;                      // of scores
  PostTransform transform = PostTransform::kNone;
  bool sign = false;  // a regressor whose result is 1 or -1
};
struct SupportVectorSpec {  // support vector machines; in and out as of tree ensembles
  std::shared_ptr<const SupportVectorMachine> machine;
  static const UnitKind kKind;
};

}  // namespace ge_engines
