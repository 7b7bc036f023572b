#include "passes/fold/affine.h"

#include <cmath>

#include "ge/ops/op.h"
#include "passes/fold/floats.h"

namespace ge {

std::optional<Affine> AffineOf(const Graph& graph, const Function& function, const Node& norm) {
  if (AttrInt(norm, "training_mode") != 0 || norm.inputs.size() != 5) return std::nullopt;
  for (size_t s = 1; s < norm.outputs.size(); ++s) {
    if (norm.outputs[s]) return std::nullopt;
  }
  std::vector<float> p[4];  // scale, B, mean, variance
  for (int k = 0; k < 4; ++k) {
    auto x = FloatsOf(graph, function, norm.inputs[k + 1]);
    if (!x || (k && x->size() != p[0].size())) return std::nullopt;
    p[k] = std::move(*x);
  }
  Affine out;
  const double epsilon = AttrFloat(norm, "epsilon");
  for (size_t i = 0; i < p[0].size(); ++i) {
    const double variance = static_cast<double>(p[3][i]) + epsilon;
    if (!(variance > 0)) return std::nullopt;
    out.factor.push_back(p[0][i] / std::sqrt(variance));
    out.shift.push_back(p[1][i] - p[2][i] * out.factor.back());
  }
  return out;
}

}  // namespace ge
