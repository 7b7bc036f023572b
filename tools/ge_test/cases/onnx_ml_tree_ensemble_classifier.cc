#include <numeric>

#include "tools/ge_test/random_trees.h"

namespace ge::test {
namespace {

void TreeEnsembleClassifierCase(CaseMaker& m) {
  TreeShape s;
  s.choices = m.r.Chance(0.6) ? 2 : m.r.Int(3, 4);
  s.least = m.r.Chance(0.5) ? 0 : -1;
  if (s.choices == 2 && m.r.Chance(0.5)) s.only = m.r.Int(0, 1);
  AddTrees(m, s, "class");
  m.c.outputs = 2;
  Dims labels;
  for (int64_t k = 0; k < s.choices; ++k) labels.push_back(m.r.Int(-9, 9) * 10 + k);
  m.Set("classlabels_int64s", labels);
  if (m.r.Chance(0.5)) {
    const int64_t n = s.choices == 2 && m.r.Chance(0.5) ? 1 : s.choices;
    m.Set("base_values", FloatList(m, n, -1, 1));
  }
  MaybePostTransform(m);
}

}  // namespace

GE_RANDOM_OP(onnx_ml_tree_ensemble_classifier) = {"ai.onnx.ml.TreeEnsembleClassifier",
                                                  TreeEnsembleClassifierCase, 1e-6,
                                                  Error::kOfTerms};

}  // namespace ge::test
