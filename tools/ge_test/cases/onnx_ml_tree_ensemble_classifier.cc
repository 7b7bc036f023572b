#include <numeric>

#include "tools/ge_test/random/trees.h"

namespace ge::test {
namespace {

void TreeEnsembleClassifierCase(CaseMaker& m) {
  TreeShape s;
  s.choices = m.r.Chance(0.6) ? 2 : m.r.Pick(std::vector<int64_t>{1, 3, 3, 4});
  s.least = m.r.Chance(0.5) ? 0 : -1;
  if (s.choices == 2 && m.r.Chance(0.5)) s.only = m.r.Int(0, 1);
  AddTrees(m, s, "class");
  m.c.outputs = 2;
  Dims labels;
  for (int64_t k = 0; k < s.choices; ++k) labels.push_back(m.r.Int(-9, 9) * 10 + k);
  m.Set("classlabels_int64s", labels);
  if (m.r.Chance(0.5)) {
    const int64_t n = s.choices == 2 && m.r.Chance(0.5) ? 1 : s.choices;
    const auto base = FloatList(m, n, -1, 1);
    if (m.r.Chance(0.3)) {
      m.SetTensor("base_values_as_tensor", m.Floats(DType::kDouble, {n}, base));
    } else {
      m.Set("base_values", base);
    }
  }
  MaybePostTransform(m);
}

// The class that all votes are for; -1 when they are for several.
int64_t OnlyClass(const RandomCase& c) {
  const Dims ids = IntsOr(c, "class_ids", {});
  const bool alike = std::equal(ids.begin() + (ids.empty() ? 0 : 1), ids.end(), ids.begin());
  return alike && !ids.empty() ? ids[0] : -1;
}

// What one row gives: its label and its scores.
int64_t PlainClasses(const RandomCase& c, int64_t row, std::vector<double>* s) {
  const Dims labels = IntsOr(c, "classlabels_int64s", {});
  const auto base = RealsOf(c, "base_values"), weights = RealsOf(c, "class_weights");
  const std::string transform = TextOr(c, "post_transform", "NONE");
  const auto votes = PlainVotes(c, "class", row, static_cast<int64_t>(labels.size()));
  s->clear();
  for (const auto& v : votes) s->push_back(std::accumulate(v.begin(), v.end(), 0.0));
  const bool shares = std::all_of(weights.begin(), weights.end(), [](double w) { return w >= 0; });
  const double least = shares ? 0.5 : 0;
  const int64_t only = labels.size() == 2 ? OnlyClass(c) : -1;
  if (only == 0) {
    const double score = static_cast<float>((*s)[0] + (base.empty() ? 0 : base[0]));
    *s = PlainPair(transform, score);
    if (!shares && transform != "LOGISTIC") {
      *s = {-score, score};
      if (transform == "PROBIT") PlainTransform(transform, s);
    }
    return labels[score > least ? 1 : 0];
  }
  const bool bare = only == 1 && base.size() < 2;
  for (size_t i = 0; !bare && i < base.size(); ++i) (*s)[i] += base[i];
  for (double& v : *s) v = static_cast<float>(v);  // labels are those of the scores as handed out
  const std::vector<double> sums = *s;
  if (labels.size() > 1 || transform == "PROBIT") PlainTransform(transform, s);
  if (labels.size() == 1) return sums[0] > 0 ? 1 : 0;
  if (bare) return labels[sums[1] > least ? 1 : 0];
  size_t best = labels.size();
  for (size_t i = 0; i < labels.size(); ++i) {
    if (labels.size() > 2 && base.empty() && votes[i].empty()) continue;
    if (best == labels.size() || sums[i] > sums[best]) best = i;
  }
  return labels[best == labels.size() ? 0 : best];
}

bool PlainTreeLabels(const RandomCase& c, HostTensor* out) {
  const int64_t rows = RowsOf(*c.inputs[0].tensor);
  if (out->dims != Dims{rows}) return false;
  std::vector<double> s;
  for (int64_t r = 0; r < rows; ++r) SetIntElement(out, r, PlainClasses(c, r, &s));
  return true;
}

bool PlainTreeScores(const RandomCase& c, size_t, HostTensor* out) {
  const int64_t rows = RowsOf(*c.inputs[0].tensor);
  const auto columns = static_cast<int64_t>(IntsOr(c, "classlabels_int64s", {}).size());
  if (out->dims != Dims{rows, columns} || out->dtype != DType::kFloat) return false;
  std::vector<double> s;
  for (int64_t r = 0; r < rows; ++r) {
    PlainClasses(c, r, &s);
    for (int64_t k = 0; k < columns; ++k) {
      SetElement(out, r * columns + k, s[static_cast<size_t>(k)]);
    }
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(onnx_ml_tree_ensemble_classifier) = {"ai.onnx.ml.TreeEnsembleClassifier",
                                                  TreeEnsembleClassifierCase,
                                                  1e-6,
                                                  Error::kOfTerms,
                                                  PlainTreeLabels,
                                                  PlainTreeScores};

}  // namespace ge::test
