// LinearRegressor and LinearClassifier of ai.onnx.ml. Pure; any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "plugins/units/onnx_ml/post_transform.h"
#include "plugins/units/unit.h"

namespace ge_engines {

struct LinearModel {
  int64_t rows = 0, features = 0, lines = 1;
  bool by_line = false;  // how weights lie: [lines][features], else [features][lines]
  std::vector<float> weights;
  std::vector<float> offsets;   // of each line, or none
  std::vector<int64_t> labels;  // of a regressor none; of one line two, told by its sign
  PostTransform transform = PostTransform::kNone;

  // Columns of the scores: one line with two classes gives two.
  int64_t columns() const { return lines == 1 && !labels.empty() ? 2 : lines; }
};
struct LinearModelSpec {  // weighted sums of features; in and out as of tree ensembles
  std::shared_ptr<const LinearModel> lines;
  static const UnitKind kKind;
};
// Whether sums go line by line, as dot products, or all lines side by side.
bool SumsByLine(int64_t lines, int64_t features);

}  // namespace ge_engines
