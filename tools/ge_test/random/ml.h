// Shared by random cases of the operators of ai.onnx.ml: rows of features, lists of floats, and
// independent transforms of scores.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "tools/ge_test/oracle/plain.h"

namespace ge::test {

// Multiples of 1/4, whole for integers: some numbers equal a threshold exactly.
inline double Quarter(CaseMaker& maker) {
  const auto whole = static_cast<double>(maker.r.Int(-8, 8));
  return IsFloat(maker.dtype()) ? whole / 4 : whole;
}

// Floats as f32 holds them.
inline std::vector<double> FloatList(CaseMaker& maker, int64_t n, double lo, double hi) {
  std::vector<double> v;
  for (int64_t i = 0; i < n; ++i) v.push_back(static_cast<float>(maker.r.Between(lo, hi)));
  return v;
}

// Input 0: [N,C], or [C] as one row; some floats are NaN when asked for.
inline void AddFeatureRows(CaseMaker& maker, int64_t features, bool missing = false) {
  // Kernels take rows in groups and blocks.
  const int64_t rows = maker.r.Chance(0.08)  ? 0
                       : maker.r.Chance(0.1) ? maker.r.Int(6, 150)
                                             : maker.r.Int(1, 5);
  Dims dims = {rows, features};
  if (maker.r.Chance(0.1)) dims = {features};
  std::vector<double> v;
  for (int64_t i = 0, n = dims.size() == 1 ? features : rows * features; i < n; ++i) {
    const bool none = missing && IsFloat(maker.dtype()) && maker.r.Chance(0.15);
    v.push_back(none ? std::numeric_limits<double>::quiet_NaN() : Quarter(maker));
  }
  auto x = maker.Floats(maker.dtype(), dims, v);
  maker.c.inputs.push_back({x, false});
}

// Few, or enough for whole vectors.
inline int64_t ManyOrFew(CaseMaker& maker, int64_t few) {
  return maker.r.Chance(0.2) ? maker.r.Int(few, 90) : maker.r.Int(1, few);
}

inline int64_t RowsOf(const HostTensor& x) { return x.dims.size() == 1 ? 1 : x.dims[0]; }

inline std::vector<double> FloatsOr(const RandomCase& sample, std::string_view name) {
  const Attr* a = FindAttr(sample, name);
  return a != nullptr ? std::get<std::vector<double>>(a->value) : std::vector<double>();
}

inline const HostTensor* TensorAttrOf(const RandomCase& sample, std::string_view name) {
  for (const auto& [known, tensor] : sample.tensors) {
    if (known == name) return tensor.get();
  }
  return nullptr;
}

inline void MaybePostTransform(CaseMaker& maker) {
  static const std::vector<std::string> kNames = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO",
                                                  "PROBIT"};
  if (maker.r.Chance(0.7)) maker.Set("post_transform", maker.r.Pick(kNames));
}

inline double PlainLogistic(double value) { return 0.5 + std::tanh(value / 2) / 2; }

// ONNX's own definition, an approximation of the normal distribution's quantiles.
inline double PlainProbit(double probability) {
  const double x = 2 * probability - 1, w = std::log1p(-x * x);
  if (x == 1 || x == -1) return x * std::numeric_limits<double>::infinity();
  const double b = 2 / (std::acos(-1.0) * 0.147) + w / 2;
  return std::copysign(std::sqrt(2 * (std::sqrt(b * b - w / 0.147) - b)), x);
}

inline void PlainTransform(const std::string& name, std::vector<double>* scores) {
  if (name == "LOGISTIC") {
    for (double& v : *scores) v = PlainLogistic(v);
  } else if (name == "PROBIT") {
    for (double& v : *scores) v = PlainProbit(v);
  } else if (name == "SOFTMAX" || name == "SOFTMAX_ZERO") {
    const double most = *std::max_element(scores->begin(), scores->end());
    double sum = 0;
    for (double& v : *scores) {
      const bool zero = name == "SOFTMAX_ZERO" && v > -1e-7 && v < 1e-7;
      v = zero ? v / std::exp(most) : std::exp(v) / std::exp(most);
      sum += v;
    }
    for (double& v : *scores) v = sum == 0 ? 0.5 : v / sum;
  }
}

// Makes two scores of one; only LOGISTIC and PROBIT transform them.
inline std::vector<double> PlainPair(const std::string& name, double score) {
  std::vector<double> s = {name == "LOGISTIC" ? -score : 1 - score, score};
  if (name == "LOGISTIC" || name == "PROBIT") PlainTransform(name, &s);
  return s;
}

// Scores of regressions: one score alone is changed by PROBIT only.
inline void PlainTargets(const std::string& name, std::vector<double>* scores) {
  if (scores->size() > 1 || name == "PROBIT") PlainTransform(name, scores);
}

inline double RowDot(const HostTensor& x, int64_t row, const std::vector<double>& w, size_t from,
                     int64_t features) {
  double sum = 0;
  for (int64_t i = 0; i < features; ++i) {
    sum += ElementAsDouble(x, row * features + i) * w[from + static_cast<size_t>(i)];
  }
  return sum;
}

}  // namespace ge::test
