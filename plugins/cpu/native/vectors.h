// Support vector machines of ai.onnx.ml: the kernel function of a row and each vector in float32 by
// vectors of lanes, sums of those and what is made of them in doubles. Immutable; any number of
// threads may run one.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/kit/simd/kernels.h"
#include "plugins/cpu/kit/specs.h"

namespace ge_engines::cpu {

enum class VectorKernel : uint8_t { kLinear, kPoly, kRbf, kSigmoid };

struct SupportMachine {
  VectorKernel kernel = VectorKernel::kLinear;
  double gamma = 0, coef0 = 0, degree = 0;
  int64_t rows = 0, features = 0, count = 0;
  std::vector<float> vectors;  // [features][count]
  // Of a vector its weight against each other class; of a regressor one. [count][weights]
  std::vector<double> coefficients;
  int64_t weights = 1;
  std::vector<double> rho, prob_a, prob_b;  // by pair of classes; of a regressor one
  std::vector<int64_t> begin;               // by class, and their end: its vectors
  std::vector<int64_t> labels;              // of a regressor none
  int64_t columns = 1;                      // of scores
  ScoreTransform transform = ScoreTransform::kNone;
  bool sign = false;  // a regressor whose result is 1 or -1
};

}  // namespace ge_engines::cpu

namespace ge_engines::cpu::native {

// Floats of workspace that each thread needs.
uint64_t VectorFloats(const SupportMachine& m);
// How many of so many threads share the rows.
int VectorThreads(const SupportMachine& m, int threads);
// ns by one thread.
double VectorNs(const SupportMachine& m);
// Places: scores [rows, columns], labels [rows] of int64 or anything of a regressor, x, workspace.
std::unique_ptr<Loop> VectorLoop(const Simd& simd, std::shared_ptr<const SupportMachine> machine,
                                 int threads);

}  // namespace ge_engines::cpu::native
