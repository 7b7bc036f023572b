#include "plugins/ref/kernels/ml_vectors.h"

namespace ref {
namespace {

struct SvmClassifierPlan {
  FeatureRows rows;
  SupportVectors support;  // none: one line of coefficients for each class
  std::vector<double> coefficients, rho, prob_a, prob_b;
  std::vector<int64_t> labels, begin;  // begin: of each class' vectors, and their end
  ScoreTransform transform = ScoreTransform::kNone;
  int64_t classes = 0, pairs = 0, columns = 0;
};

// Scratch of one row.
struct SvmScratch {
  double *row, *kernels, *votes, *pairs, *scores, *chances, *q, *products;
  SvmScratch(const SvmClassifierPlan& p, void* workspace) {
    row = static_cast<double*>(workspace);
    kernels = row + p.rows.features;
    votes = kernels + p.support.count;
    pairs = votes + p.classes;
    scores = pairs + p.pairs;
    chances = scores + p.columns + 1;
    q = chances + Square(p);
    products = q + Square(p);
  }
  // Entries of a table of pairs, which only probabilities need.
  static int64_t Square(const SvmClassifierPlan& p) {
    return p.prob_a.empty() ? 0 : p.classes * p.classes;
  }
  static int64_t Count(const SvmClassifierPlan& p) {
    return p.rows.features + p.support.count + 2 * p.classes + p.pairs + p.columns + 1 +
           2 * Square(p);
  }
};

// Every pair of classes votes for one of them.
void VoteOfPairs(const SvmClassifierPlan& p, const SvmScratch& w) {
  p.support.Values(w.row, w.kernels);
  std::fill_n(w.votes, p.classes, 0.0);
  int64_t pair = 0;
  for (int64_t i = 0; i < p.classes; ++i) {
    for (int64_t j = i + 1; j < p.classes; ++j, ++pair) {
      const double* of_i = p.coefficients.data() + (j - 1) * p.support.count;
      const double* of_j = p.coefficients.data() + i * p.support.count;
      double sum = p.rho[static_cast<size_t>(pair)];
      const auto ui = static_cast<size_t>(i), uj = static_cast<size_t>(j);
      for (int64_t k = p.begin[ui]; k < p.begin[ui + 1]; ++k) sum += of_i[k] * w.kernels[k];
      for (int64_t k = p.begin[uj]; k < p.begin[uj + 1]; ++k) sum += of_j[k] * w.kernels[k];
      w.pairs[pair] = sum;
      ++w.votes[sum > 0 ? i : j];
    }
  }
}

// chances[i,j]: of class i against j, by a sigmoid of the pair's score.
void ChancesOfPairs(const SvmClassifierPlan& p, const SvmScratch& w) {
  constexpr double kLeast = 1e-7;  // no pair is certain
  int64_t pair = 0;
  for (int64_t i = 0; i < p.classes; ++i) {
    for (int64_t j = i + 1; j < p.classes; ++j, ++pair) {
      const auto k = static_cast<size_t>(pair);
      const double raw = 1 - LogisticScore(w.pairs[pair] * p.prob_a[k] + p.prob_b[k]);
      const double chance = std::clamp(raw, kLeast, 1 - kLeast);
      w.chances[i * p.classes + j] = chance;
      w.chances[j * p.classes + i] = 1 - chance;
    }
  }
}

// Shares of the classes that agree best with the chances of all pairs: the second method of Wu, Lin
// and Weng (Probability estimates for multi-class classification by pairwise coupling, 2004), whose
// quadratic form is lowered one share after the other until its gradient is level to 0.005/classes.
void SharesOfClasses(const SvmClassifierPlan& p, const SvmScratch& w, double* share) {
  const int64_t n = p.classes;
  for (int64_t t = 0; t < n; ++t) {
    share[t] = 1 / static_cast<double>(n);
    double own = 0;
    for (int64_t j = 0; j < n; ++j) {
      if (j == t) continue;
      const double back = w.chances[j * n + t];
      own += back * back;
      w.q[t * n + j] = -back * w.chances[t * n + j];
    }
    w.q[t * n + t] = own;
  }
  for (int64_t round = 0, most = std::max<int64_t>(100, n); round < most; ++round) {
    double form = 0, worst = 0;
    for (int64_t t = 0; t < n; ++t) {
      w.products[t] = 0;
      for (int64_t j = 0; j < n; ++j) w.products[t] += w.q[t * n + j] * share[j];
      form += share[t] * w.products[t];
    }
    for (int64_t t = 0; t < n; ++t) worst = std::max(worst, std::fabs(w.products[t] - form));
    if (worst < 0.005 / static_cast<double>(n)) return;
    for (int64_t t = 0; t < n; ++t) {
      const double step = (form - w.products[t]) / w.q[t * n + t], whole = 1 + step;
      share[t] += step;
      form = (form + step * (step * w.q[t * n + t] + 2 * w.products[t])) / (whole * whole);
      for (int64_t j = 0; j < n; ++j) {
        w.products[j] = (w.products[j] + step * w.q[t * n + j]) / whole;
        share[j] /= whole;
      }
    }
  }
}

// The scores of two classes that the sign of one score tells apart.
void PairOfSign(ScoreTransform how, double score, double* s) {
  PairOfScore(how, score, s);
  if (how == ScoreTransform::kNone) s[0] = -score;
}

// Fills the scores of a row; answers its class.
int64_t SvmRow(const SvmClassifierPlan& p, const SvmScratch& w) {
  if (p.support.count == 0) {
    for (int64_t k = 0; k < p.classes; ++k) {
      const double* line = p.coefficients.data() + k * p.rows.features;
      w.scores[k] = p.rho[0];
      for (int64_t i = 0; i < p.rows.features; ++i) w.scores[k] += line[i] * w.row[i];
    }
    const int64_t best = FirstGreatest(w.scores, p.classes);
    if (p.classes > 1) TransformScores(p.transform, w.scores, p.classes);
    return best;
  }
  VoteOfPairs(p, w);
  const int64_t best = FirstGreatest(w.votes, p.classes);
  if (!p.prob_a.empty()) {
    ChancesOfPairs(p, w);
    SharesOfClasses(p, w, w.scores);
    TransformScores(p.transform, w.scores, p.columns);
    return best;
  }
  if (p.classes == 2) {
    PairOfSign(p.transform, w.pairs[0], w.scores);
    return best;
  }
  std::copy_n(w.pairs, p.pairs, w.scores);
  TransformScores(p.transform, w.scores, p.columns);
  return best;
}

ge_rc RunSvmClassifier(const SvmClassifierPlan& p, const Call& c) {
  const SvmScratch w(p, c.workspace());
  auto* labels = c.out(0).as<int64_t>();
  for (int64_t r = 0; r < p.rows.rows; ++r) {
    p.rows.Load(c.in(0), r, w.row);
    const int64_t best = SvmRow(p, w);
    Spend(p.rows.features * std::max<int64_t>(p.support.count, 1));
    labels[r] = p.labels[static_cast<size_t>(best)];
    PutScores(c.out(1), r, w.scores, p.columns);
  }
  return GE_OK;
}

bool ReadSvmLists(const NodeView& n, SvmClassifierPlan* p, Why* why) {
  p->coefficients = RealList(n, "coefficients");
  p->rho = RealList(n, "rho");
  p->prob_a = RealList(n, "prob_a");
  p->prob_b = RealList(n, "prob_b");
  p->labels = WholeList(n, "classlabels_ints");
  p->classes = static_cast<int64_t>(p->labels.size());
  p->begin = {0};
  for (const int64_t count : n.List("vectors_per_class")) {
    if (count < 0 || count > INT32_MAX) {
      return why->Say(GE_WHY_ATTRIBUTE, "vectors_per_class holds a count that is none");
    }
    p->begin.push_back(p->begin.back() + count);
  }
  const int64_t supports = p->begin.back();
  const auto have = static_cast<int64_t>(p->coefficients.size());
  bool fits = p->classes > 0 && p->classes < INT32_MAX && !p->rho.empty();
  if (supports > 0) {
    p->pairs = p->classes * (p->classes - 1) / 2;
    fits = fits && p->classes > 1 && static_cast<int64_t>(p->begin.size()) == p->classes + 1 &&
           have % supports == 0 && have / supports == p->classes - 1 &&
           static_cast<int64_t>(p->rho.size()) == p->pairs &&
           p->prob_a.size() == p->prob_b.size() &&
           (p->prob_a.empty() || static_cast<int64_t>(p->prob_a.size()) == p->pairs);
  } else {
    fits = fits && have % p->classes == 0 && have / p->classes == p->rows.features;
  }
  const bool each = supports == 0 || !p->prob_a.empty() || p->classes == 2;
  p->columns = each ? p->classes : p->pairs;
  return (fits && ReadSupportVectors(n, supports, p->rows.features, &p->support, why)) ||
         why->Say(GE_WHY_ATTRIBUTE, "the lists of vectors, coefficients and offsets do not fit");
}

std::unique_ptr<Prepared> PrepareSvmClassifier(const NodeView& n, Why* why) {
  SvmClassifierPlan p;
  if (!NeedPorts(n, 1, 1, why) || !OpenFeatureRows(n, &p.rows, why) || !ReadSvmLists(n, &p, why) ||
      !ReadScoreTransform(n, &p.transform, why) || !NeedOut(n, 0, GE_I64, {p.rows.rows}, why) ||
      !NeedOut(n, 1, GE_F32, {p.rows.rows, p.columns}, why)) {
    return nullptr;
  }
  const uint64_t workspace = DoublesBytes(SvmScratch::Count(p));
  auto made = Make([p = std::move(p)](const Call& c) { return RunSvmClassifier(p, c); });
  made->const_align = 1;
  made->workspace = workspace;
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(onnx_ml_svm_classifier, "ai.onnx.ml.SVMClassifier", PrepareSvmClassifier)
