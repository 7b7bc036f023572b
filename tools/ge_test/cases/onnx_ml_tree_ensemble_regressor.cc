#include <numeric>
#include <set>

#include "tools/ge_test/random/trees.h"

namespace ge::test {
namespace {

void TreeEnsembleRegressorCase(CaseMaker& m) {
  TreeShape s;
  s.choices = m.r.Chance(0.4) ? 1 : m.r.Int(1, 4);
  AddTrees(m, s, "target");
  if (s.choices > 1 || m.r.Chance(0.8)) m.Set("n_targets", s.choices);
  if (m.r.Chance(0.5)) {
    if (m.r.Chance(0.3)) {
      m.SetTensor("base_values_as_tensor",
                  m.Floats(DType::kDouble, {s.choices}, FloatList(m, s.choices, -1, 1)));
    } else {
      m.Set("base_values", FloatList(m, s.choices, -1, 1));
    }
  }
  if (m.r.Chance(0.7)) {
    m.Set("aggregate_function", m.r.Pick(std::vector<std::string>{"SUM", "AVERAGE", "MIN", "MAX"}));
  }
  MaybePostTransform(m);
}

bool PlainTreeEnsembleRegressor(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  const int64_t targets = IntOr(c, "n_targets", 1);
  if (out->dims != Dims{RowsOf(x), targets} || out->dtype != DType::kFloat) return false;
  const Dims ids = IntsOr(c, "nodes_treeids", {});
  const auto trees = static_cast<double>(std::set<int64_t>(ids.begin(), ids.end()).size());
  const std::string how = TextOr(c, "aggregate_function", "SUM");
  const auto base = RealsOf(c, "base_values");
  for (int64_t r = 0; r < RowsOf(x); ++r) {
    std::vector<double> s;
    for (const auto& votes : PlainVotes(c, "target", r, targets)) {
      const double sum = std::accumulate(votes.begin(), votes.end(), 0.0);
      const double one = votes.empty()      ? 0
                         : how == "SUM"     ? sum
                         : how == "AVERAGE" ? sum / trees
                         : how == "MIN"     ? *std::min_element(votes.begin(), votes.end())
                                            : *std::max_element(votes.begin(), votes.end());
      s.push_back(one + (base.empty() ? 0 : base[s.size()]));
    }
    PlainTargets(TextOr(c, "post_transform", "NONE"), &s);
    for (size_t k = 0; k < s.size(); ++k) {
      SetElement(out, r * targets + static_cast<int64_t>(k), s[k]);
    }
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(onnx_ml_tree_ensemble_regressor) = {"ai.onnx.ml.TreeEnsembleRegressor",
                                                 TreeEnsembleRegressorCase, 1e-6, Error::kOfTerms,
                                                 PlainTreeEnsembleRegressor};

}  // namespace ge::test
