// What random cases of the operators of ai.onnx.ml share: rows of features, lists of floats, and
// independent transforms of scores.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "tools/ge_test/oracle/plain.h"

namespace ge::test {

// Multiples of 1/4, whole for integers, so that thresholds are met exactly now and then.
inline double Quarter(CaseMaker& m) {
  const auto whole = static_cast<double>(m.r.Int(-8, 8));
  return IsFloat(m.dtype()) ? whole / 4 : whole;
}

// Floats as f32 holds them.
inline std::vector<double> FloatList(CaseMaker& m, int64_t n, double lo, double hi) {
  std::vector<double> v;
  for (int64_t i = 0; i < n; ++i) v.push_back(static_cast<float>(m.r.Between(lo, hi)));
  return v;
}

// Input 0: [N,C], or [C] as one row; some floats are NaN when asked for.
inline void AddFeatureRows(CaseMaker& m, int64_t features, bool missing = false) {
  // Kernels take rows in groups and blocks.
  const int64_t rows = m.r.Chance(0.08) ? 0 : m.r.Chance(0.1) ? m.r.Int(6, 150) : m.r.Int(1, 5);
  Dims dims = {rows, features};
  if (m.r.Chance(0.1)) dims = {features};
  std::vector<double> v;
  for (int64_t i = 0, n = dims.size() == 1 ? features : rows * features; i < n; ++i) {
    const bool none = missing && IsFloat(m.dtype()) && m.r.Chance(0.15);
    v.push_back(none ? std::numeric_limits<double>::quiet_NaN() : Quarter(m));
  }
  auto x = m.Floats(m.dtype(), dims, v);
  m.c.inputs.push_back({x, false});
}

// Few, or enough for whole vectors.
inline int64_t ManyOrFew(CaseMaker& m, int64_t few) {
  return m.r.Chance(0.2) ? m.r.Int(few, 90) : m.r.Int(1, few);
}

inline int64_t RowsOf(const HostTensor& x) { return x.dims.size() == 1 ? 1 : x.dims[0]; }

inline std::vector<double> FloatsOr(const RandomCase& c, std::string_view name) {
  const Attr* a = FindAttr(c, name);
  return a != nullptr ? std::get<std::vector<double>>(a->value) : std::vector<double>();
}

inline std::string TextOr(const RandomCase& c, std::string_view name, const char* absent) {
  const Attr* a = FindAttr(c, name);
  return a != nullptr ? std::get<std::string>(a->value) : absent;
}

inline const HostTensor* TensorAttrOf(const RandomCase& c, std::string_view name) {
  for (const auto& [known, tensor] : c.tensors) {
    if (known == name) return tensor.get();
  }
  return nullptr;
}

inline void MaybePostTransform(CaseMaker& m) {
  static const std::vector<std::string> kNames = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO",
                                                  "PROBIT"};
  if (m.r.Chance(0.7)) m.Set("post_transform", m.r.Pick(kNames));
}

inline double PlainLogistic(double v) { return 0.5 + std::tanh(v / 2) / 2; }

// ONNX's own definition, an approximation of the normal distribution's quantiles.
inline double PlainProbit(double p) {
  const double x = 2 * p - 1, w = std::log1p(-x * x);
  if (x == 1 || x == -1) return x * std::numeric_limits<double>::infinity();
  const double b = 2 / (std::acos(-1.0) * 0.147) + w / 2;
  return std::copysign(std::sqrt(2 * (std::sqrt(b * b - w / 0.147) - b)), x);
}

inline void PlainTransform(const std::string& name, std::vector<double>* s) {
  if (name == "LOGISTIC") {
    for (double& v : *s) v = PlainLogistic(v);
  } else if (name == "PROBIT") {
    for (double& v : *s) v = PlainProbit(v);
  } else if (name == "SOFTMAX" || name == "SOFTMAX_ZERO") {
    const double most = *std::max_element(s->begin(), s->end());
    double sum = 0;
    for (double& v : *s) {
      const bool zero = name == "SOFTMAX_ZERO" && v > -1e-7 && v < 1e-7;
      v = zero ? v / std::exp(most) : std::exp(v) / std::exp(most);
      sum += v;
    }
    for (double& v : *s) v = sum == 0 ? 0.5 : v / sum;
  }
}

// Two scores of one, of which LOGISTIC and PROBIT alone are transforms.
inline std::vector<double> PlainPair(const std::string& name, double score) {
  std::vector<double> s = {name == "LOGISTIC" ? -score : 1 - score, score};
  if (name == "LOGISTIC" || name == "PROBIT") PlainTransform(name, &s);
  return s;
}

// Scores of regressions: one score alone is changed by PROBIT only.
inline void PlainTargets(const std::string& name, std::vector<double>* s) {
  if (s->size() > 1 || name == "PROBIT") PlainTransform(name, s);
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
