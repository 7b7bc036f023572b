#include "plugins/units/onnx_ml/linear_model.h"

#include "plugins/units/parser.h"

namespace ge_engines {

bool SumsByLine(int64_t lines, int64_t features) {
  return lines == 1 || (lines < 8 && features >= 8 * lines);
}

namespace {

// Weights, offsets and transform of l->lines lines; rows and features are known.
bool ReadLines(const ge_node& n, LinearModel* l, Why* why) {
  const auto given = gp::AttrFloats(n, "coefficients"), plus = gp::AttrFloats(n, "intercepts");
  const auto lines = static_cast<uint64_t>(l->lines), features = static_cast<uint64_t>(l->features);
  if (!ReadPostTransform(n, &l->transform, why)) return false;
  // It grows the last digits of sums of float32, and of SOFTMAX_ZERO nearly nothing is left as it
  // is.
  if (l->transform == PostTransform::kProbit || l->transform == PostTransform::kSoftmaxZero) {
    return why->Say(GE_WHY_ATTRIBUTE, "PROBIT and SOFTMAX_ZERO");
  }
  if (given.size() % lines != 0 || given.size() / lines != features ||
      (plus.size() != 0 && plus.size() != lines)) {
    return ListsDiffer(why);
  }
  l->by_line = SumsByLine(l->lines, l->features);
  l->weights.resize(given.size());
  for (size_t k = 0; k < lines; ++k) {
    for (size_t f = 0; f < features; ++f) {
      l->weights[l->by_line ? k * features + f : f * lines + k] =
          static_cast<float>(given[k * features + f]);
    }
  }
  for (const double v : plus) l->offsets.push_back(static_cast<float>(v));
  return true;
}

bool ParseLinearRegressor(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  auto l = std::make_shared<LinearModel>();
  l->lines = gp::AttrInt(n, "targets", 1);
  if (l->lines < 1) return ListsDiffer(why);
  if (!RowsOf(g, n, &l->rows, &l->features, why) || !ReadLines(n, l.get(), why) ||
      !HasOut(g, n, 0, GE_F32, {l->rows, l->lines}, why)) {
    return false;
  }
  u->spec = LinearModelSpec{std::move(l)};
  return true;
}

bool ParseLinearClassifier(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  auto l = std::make_shared<LinearModel>();
  const auto labels = gp::AttrInts(n, "classlabels_ints");
  l->labels.assign(labels.begin(), labels.end());
  if (!RowsOf(g, n, &l->rows, &l->features, why)) return false;
  // Without intercepts the features tell how many lines there are, or else the labels.
  const auto weights = static_cast<int64_t>(gp::AttrFloats(n, "coefficients").size());
  l->lines = static_cast<int64_t>(gp::AttrFloats(n, "intercepts").size());
  if (l->lines == 0 && l->features > 0) l->lines = weights / l->features;
  const auto classes = static_cast<int64_t>(labels.size());
  if (l->lines < 1 || classes < 2 || (classes != l->lines && (l->lines != 1 || classes != 2))) {
    return ListsDiffer(why);
  }
  if (!ReadLines(n, l.get(), why) || !HasOut(g, n, 0, GE_I64, {l->rows}, why) ||
      !HasOut(g, n, 1, GE_F32, {l->rows, l->columns()}, why)) {
    return false;
  }
  u->spec = LinearModelSpec{std::move(l)};
  u->out.push_back(n.out[1]);
  return true;
}

constexpr Operator kLinearModelOperators[] = {
    {"ai.onnx.ml.LinearRegressor", ParseLinearRegressor, Types::kAny, 0},
    {"ai.onnx.ml.LinearClassifier", ParseLinearClassifier, Types::kAny, 0},
};
}  // namespace

const UnitKind LinearModelSpec::kKind = {.name = "linear_model",
                                         .operators = kLinearModelOperators};

}  // namespace ge_engines
