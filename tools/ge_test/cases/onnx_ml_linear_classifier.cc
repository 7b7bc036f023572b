#include "tools/ge_test/random/ml.h"

namespace ge::test {
namespace {

void LinearClassifierCase(CaseMaker& m) {
  const int64_t features = ManyOrFew(m, 5), lines = ManyOrFew(m, 4);
  AddFeatureRows(m, features);
  m.c.outputs = 2;
  m.Set("coefficients", FloatList(m, features * lines, -1, 1));
  if (m.r.Chance(0.8)) m.Set("intercepts", FloatList(m, lines, -1, 1));
  Dims labels;
  for (int64_t k = lines == 1 ? 2 : lines; k > 0; --k) {
    labels.push_back(m.r.Int(-9, 9) * 10 + k);
  }
  m.Set("classlabels_ints", labels);
  MaybePostTransform(m);
}

std::vector<double> LinearClassifierSums(const RandomCase& c, int64_t row) {
  const HostTensor& x = *c.inputs[0].tensor;
  const auto w = FloatsOr(c, "coefficients"), plus = FloatsOr(c, "intercepts");
  std::vector<double> s;
  for (size_t at = 0; at < w.size(); at += static_cast<size_t>(x.dims.back())) {
    s.push_back(RowDot(x, row, w, at, x.dims.back()) + (plus.empty() ? 0 : plus[s.size()]));
  }
  return s;
}

bool PlainLinearLabels(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  const Dims labels = IntsOr(c, "classlabels_ints", {});
  if (out->dims != Dims{RowsOf(x)}) return false;
  for (int64_t r = 0; r < RowsOf(x); ++r) {
    const auto s = LinearClassifierSums(c, r);
    const auto best = static_cast<size_t>(std::max_element(s.begin(), s.end()) - s.begin());
    const size_t second = s[0] > 0 ? 1 : 0;
    SetIntElement(out, r, labels[s.size() > 1 ? best : second]);
  }
  return true;
}

bool PlainLinearScores(const RandomCase& c, size_t, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  const auto columns = static_cast<int64_t>(IntsOr(c, "classlabels_ints", {}).size());
  if (out->dims != Dims{RowsOf(x), columns} || out->dtype != DType::kFloat) return false;
  for (int64_t r = 0; r < RowsOf(x); ++r) {
    auto s = LinearClassifierSums(c, r);
    const std::string transform = TextOr(c, "post_transform", "NONE");
    if (s.size() == 1) {
      s = PlainPair(transform, s[0]);
    } else {
      PlainTransform(transform, &s);
    }
    for (int64_t k = 0; k < columns; ++k) {
      SetElement(out, r * columns + k, s[static_cast<size_t>(k)]);
    }
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(onnx_ml_linear_classifier) = {"ai.onnx.ml.LinearClassifier",
                                           LinearClassifierCase,
                                           1e-6,
                                           Error::kOfTerms,
                                           PlainLinearLabels,
                                           PlainLinearScores};

}  // namespace ge::test
