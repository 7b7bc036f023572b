// Linear models of ai.onnx.ml: weighted sums of a row's features in float32, and what is made of
// them. Immutable; any number of threads may run one.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/kit/simd/kernels.h"
#include "plugins/cpu/kit/specs.h"

namespace ge_engines::cpu {

struct WeightLines {
  int64_t rows = 0, features = 0, lines = 1;
  bool by_line = false;  // how weights lie: [lines][features], else [features][lines]
  std::vector<float> weights;
  std::vector<float> offsets;   // of each line, or none
  std::vector<int64_t> labels;  // of a regressor none; of one line two, told by its sign
  ScoreTransform transform = ScoreTransform::kNone;

  // Of scores: a line that tells two classes has two.
  int64_t columns() const { return lines == 1 && !labels.empty() ? 2 : lines; }
};

}  // namespace ge_engines::cpu

namespace ge_engines::cpu::native {

// Whether sums of so many features go line by line, as dot products, or all lines side by side.
bool SumsByLine(int64_t lines, int64_t features);
// ns by one thread.
double LineNs(const WeightLines& l);
// Places: scores [rows, columns], labels [rows] of int64 or anything of a regressor, x.
std::unique_ptr<Loop> LineLoop(const Simd& simd, std::shared_ptr<const WeightLines> lines);

}  // namespace ge_engines::cpu::native
