#include "tools/ge_test/random/vectors.h"

namespace ge::test {
namespace {

void SvmClassifierCase(CaseMaker& m) {
  const int64_t features = m.r.Int(1, 4), classes = m.r.Int(2, 4);
  const int64_t pairs = classes * (classes - 1) / 2;
  AddFeatureRows(m, features);
  m.c.outputs = 2;
  Dims labels, counts;
  int64_t supports = 0;
  for (int64_t k = 0; k < classes; ++k) {
    labels.push_back(m.r.Int(-9, 9) * 10 + k);
    counts.push_back(m.r.Int(1, 3));
    supports += counts.back();
  }
  m.Set("classlabels_ints", labels);
  MaybePostTransform(m);
  if (m.r.Chance(0.2)) {  // one line of coefficients for each class
    m.Set("coefficients", FloatList(m, classes * features, -1, 1));
    m.Set("rho", FloatList(m, 3, -1, 1));
    return;
  }
  m.Set("vectors_per_class", counts);
  m.Set("support_vectors", FloatList(m, supports * features, -1, 1));
  m.Set("coefficients", FloatList(m, (classes - 1) * supports, -1, 1));
  m.Set("rho", FloatList(m, pairs, -1, 1));
  SetVectorKernel(m);
  if (m.r.Chance(0.4)) {
    m.Set("prob_a", FloatList(m, pairs, -2, -1));
    m.Set("prob_b", FloatList(m, pairs, -1, 1));
  }
}

// Scores of the pairs in their order; of the classes where there are no vectors.
std::vector<double> SvmSums(const RandomCase& c, int64_t row) {
  const HostTensor& x = *c.inputs[0].tensor;
  const auto w = FloatsOr(c, "coefficients"), rho = FloatsOr(c, "rho");
  const Dims counts = IntsOr(c, "vectors_per_class", {});
  const size_t classes = IntsOr(c, "classlabels_ints", {}).size();
  std::vector<double> s;
  if (counts.empty()) {
    for (size_t k = 0; k < classes; ++k) {
      s.push_back(rho[0] +
                  RowDot(x, row, w, k * static_cast<size_t>(x.dims.back()), x.dims.back()));
    }
    return s;
  }
  std::vector<size_t> owner;  // class of each vector
  for (size_t k = 0; k < classes; ++k) owner.insert(owner.end(), static_cast<size_t>(counts[k]), k);
  for (size_t i = 0; i < classes; ++i) {
    for (size_t j = i + 1; j < classes; ++j) {
      double sum = rho[s.size()];
      for (size_t v = 0; v < owner.size(); ++v) {
        if (owner[v] == i) sum += w[(j - 1) * owner.size() + v] * PlainKernel(c, row, v);
        if (owner[v] == j) sum += w[i * owner.size() + v] * PlainKernel(c, row, v);
      }
      s.push_back(sum);
    }
  }
  return s;
}

size_t SvmWinner(const RandomCase& c, const std::vector<double>& s) {
  const size_t classes = IntsOr(c, "classlabels_ints", {}).size();
  std::vector<double> votes(classes);
  if (IntsOr(c, "vectors_per_class", {}).empty()) {
    votes = s;
  } else {
    size_t pair = 0;
    for (size_t i = 0; i < classes; ++i) {
      for (size_t j = i + 1; j < classes; ++j) ++votes[s[pair++] > 0 ? i : j];
    }
  }
  return static_cast<size_t>(std::max_element(votes.begin(), votes.end()) - votes.begin());
}

bool PlainSvmLabels(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  if (out->dims != Dims{RowsOf(x)}) return false;
  const Dims labels = IntsOr(c, "classlabels_ints", {});
  for (int64_t r = 0; r < RowsOf(x); ++r) {
    SetIntElement(out, r, labels[SvmWinner(c, SvmSums(c, r))]);
  }
  return true;
}

// p' Q p and Q p for the form whose least point the shares p are.
double PairForm(const std::vector<std::vector<double>>& q, const std::vector<double>& p,
                std::vector<double>* slope) {
  double form = 0;
  for (size_t t = 0; t < p.size(); ++t) {
    (*slope)[t] = 0;
    for (size_t j = 0; j < p.size(); ++j) (*slope)[t] += q[t][j] * p[j];
    form += p[t] * (*slope)[t];
  }
  return form;
}

// One share after the other is moved to where the form is least along it, and all are made to sum
// up to 1 again; everything is computed anew after each move.
std::vector<double> PlainShares(const RandomCase& c, const std::vector<double>& s) {
  const size_t n = IntsOr(c, "classlabels_ints", {}).size();
  const auto a = FloatsOr(c, "prob_a"), b = FloatsOr(c, "prob_b");
  std::vector<std::vector<double>> r(n, std::vector<double>(n, 0));
  size_t pair = 0;
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = i + 1; j < n; ++j, ++pair) {
      const double chance = PlainLogistic(-(s[pair] * a[pair] + b[pair]));
      r[i][j] = std::min(1 - 1e-7, std::max(1e-7, chance));
      r[j][i] = 1 - r[i][j];
    }
  }
  std::vector<std::vector<double>> q(n, std::vector<double>(n, 0));
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < n; ++j) {
      if (i == j) continue;
      q[i][i] += r[j][i] * r[j][i];
      q[i][j] = -r[i][j] * r[j][i];
    }
  }
  std::vector<double> p(n, 1 / static_cast<double>(n)), slope(n, 0);
  for (int round = 0; round < 100; ++round) {
    double form = PairForm(q, p, &slope), worst = 0;
    for (const double v : slope) worst = std::max(worst, std::fabs(v - form));
    if (worst < 0.005 / static_cast<double>(n)) break;
    for (size_t t = 0; t < n; ++t) {
      const double step = (form - slope[t]) / q[t][t];
      p[t] += step;
      for (double& v : p) v /= 1 + step;
      form = PairForm(q, p, &slope);
    }
  }
  return p;
}

bool PlainSvmScores(const RandomCase& c, size_t, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  const size_t classes = IntsOr(c, "classlabels_ints", {}).size();
  const bool chances = !FloatsOr(c, "prob_a").empty();
  for (int64_t r = 0; r < RowsOf(x); ++r) {
    auto s = SvmSums(c, r);
    if (chances) s = PlainShares(c, s);
    const std::string transform = TextOr(c, "post_transform", "NONE");
    if (classes == 2 && s.size() == 1) {
      s = PlainPair(transform, s[0]);
      if (transform == "NONE") s[0] = -s[1];
    } else {
      PlainTransform(transform, &s);
    }
    const auto columns = static_cast<int64_t>(s.size());
    if (out->dims != Dims{RowsOf(x), columns} || out->dtype != DType::kFloat) return false;
    for (int64_t k = 0; k < columns; ++k) {
      SetElement(out, r * columns + k, s[static_cast<size_t>(k)]);
    }
  }
  return true;
}

}  // namespace

// Probabilities are those of an iteration that ends when its gradient is level to 0.005 / classes.
GE_RANDOM_OP(onnx_ml_svm_classifier) = {"ai.onnx.ml.SVMClassifier",
                                        SvmClassifierCase,
                                        2e-6,
                                        Error::kOfTerms,
                                        PlainSvmLabels,
                                        PlainSvmScores};

}  // namespace ge::test
