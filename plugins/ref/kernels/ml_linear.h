// Linear scores: weighted sums of a row's features, one line of weights each. Pure; any thread.
#pragma once

#include "plugins/ref/kernels/ml_scores.h"

namespace ref {

struct LinearModel {
  std::vector<double> weights, offsets;  // [lines, features]; [lines] or empty
  int64_t lines = 0;

  void Scores(const double* row, int64_t features, double* scores) const {
    for (int64_t k = 0; k < lines; ++k) {
      const double* w = weights.data() + k * features;
      double sum = 0;
      for (int64_t i = 0; i < features; ++i) sum += w[i] * row[i];
      scores[k] = sum + (offsets.empty() ? 0 : offsets[static_cast<size_t>(k)]);
    }
  }
};

// `lines` > 0. The attributes 'coefficients' and 'intercepts'.
inline bool ReadLinearModel(const NodeView& n, int64_t lines, int64_t features,
                            LinearModel* weight_lines, Why* why) {
  weight_lines->weights = RealList(n, "coefficients");
  weight_lines->offsets = RealList(n, "intercepts");
  weight_lines->lines = lines;
  const auto count = static_cast<int64_t>(weight_lines->weights.size());
  const auto offsets = static_cast<int64_t>(weight_lines->offsets.size());
  const bool fits = count % lines == 0 && count / lines == features;
  return (fits && (offsets == 0 || offsets == lines)) ||
         why->Say(GE_WHY_ATTRIBUTE, "coefficients or intercepts do not fit the features");
}

}  // namespace ref
