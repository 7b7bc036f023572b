// Shared by the kernels of ai.onnx.ml: rows of features of any number type, list attributes, and
// transforms of scores. Sums are doubles, rounded once. Pure; any thread.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

#include "plugins/ref/checks.h"

namespace ref {

// Element i of a tensor as a double.
using FeatureFn = double (*)(const void* p, int64_t i);
template <class T>
double FeatureAt(const void* memory, int64_t i) {
  return static_cast<double>(Widen(Load(static_cast<const T*>(memory), i)));
}
inline FeatureFn FeatureOf(int32_t dtype) {
  FeatureFn f = nullptr;
  VisitNumber(dtype, [&](auto tag) { f = FeatureAt<typename decltype(tag)::type>; });
  return f;
}

// Input 0 as rows of features: [N,C], or [C] as one row.
struct FeatureRows {
  int64_t rows = 0, features = 0;
  FeatureFn at = nullptr;
  void Load(const Tensor& x, int64_t row, double* to) const {
    for (int64_t i = 0; i < features; ++i) to[i] = at(x.data, row * features + i);
  }
};

inline bool OpenFeatureRows(const NodeView& n, FeatureRows* rows, Why* why) {
  const TensorType x = n.in(0);
  rows->at = FeatureOf(x.dtype);
  if (rows->at == nullptr) return NoDType(x, why);
  if (x.rank != 1 && x.rank != 2) return why->Say(GE_WHY_SHAPE, "X is neither [N, C] nor [C]");
  rows->rows = x.rank == 2 ? x.dims[0] : 1;
  rows->features = x.dims[x.rank - 1];
  return true;
}

// Whether output `i` is a tensor of this element type and shape.
inline bool NeedOut(const NodeView& n, uint32_t i, int32_t dtype,
                    std::initializer_list<int64_t> dims, Why* why) {
  if (!n.has_out(i)) return why->Say(GE_WHY_OP, "output %u is omitted", i);
  if (n.out(i).dtype != dtype) return NoDType(n.out(i), why);
  return SameDims(n.out(i).shape(), {dims.begin(), dims.size()}) ||
         why->Say(GE_WHY_SHAPE, "output %u has not the shape that the operator gives", i);
}

inline std::vector<double> RealList(const NodeView& n, std::string_view name) {
  const auto list = ge::plugin::AttrFloats(n.node(), name);
  return {list.begin(), list.end()};
}
inline std::vector<int64_t> WholeList(const NodeView& n, std::string_view name) {
  const Ints list = n.List(name);
  return {list.begin(), list.end()};
}
// Elements of a tensor attribute of any number type; empty when it is absent.
inline std::vector<double> TensorList(const NodeView& n, std::string_view name) {
  std::vector<double> out;
  const ge_attr* a = ge::plugin::FindAttr(n.node(), name, GE_ATTR_TENSOR);
  const FeatureFn at = a != nullptr ? FeatureOf(a->tensor_type.dtype) : nullptr;
  int64_t count = 0;
  if (at == nullptr || !ge::plugin::ElementCount(a->tensor_type, &count)) return out;
  for (int64_t i = 0; i < count; ++i) out.push_back(at(a->tensor, i));
  return out;
}
// The list `name` or the tensor `name`_as_tensor.
inline std::vector<double> RealListOrTensor(const NodeView& n, const std::string& name) {
  std::vector<double> list = RealList(n, name);
  return list.empty() ? TensorList(n, name + "_as_tensor") : list;
}

// By ONNX's numbers.
enum class ScoreTransform : uint8_t { kNone, kSoftmax, kLogistic, kSoftmaxZero, kProbit };

inline bool ReadScoreTransform(const NodeView& n, ScoreTransform* out, Why* why) {
  static constexpr std::string_view kNames[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO",
                                                "PROBIT"};
  const std::string_view name = n.Text("post_transform");
  for (uint8_t i = 0; i < 5; ++i) {
    if (name == kNames[i]) return *out = static_cast<ScoreTransform>(i), true;
  }
  return why->Say(GE_WHY_ATTRIBUTE, "post_transform is none of its five names");
}

inline double LogisticScore(double x) {
  const double small = 1 / (1 + std::exp(std::fabs(x)));
  return x < 0 ? small : 1 - small;
}

// The quantile of the normal distribution at `probability`, by the approximation of the inverse
// error function with a = 0.147 of ONNX's definition and its other runtimes, so that scores agree
// with theirs; it is off by up to 0.3 %.
inline double ProbitScore(double probability) {
  constexpr double kA = 0.147, kPi = 3.14159265358979323846;
  const double x = 2 * probability - 1;
  // -inf at 0, inf at 1, NaN beyond them.
  const double log = std::log((1 - x) * (1 + x)), half = 2 / (kPi * kA) + log / 2;
  const double magnitude = std::sqrt(2.0) * std::sqrt(std::sqrt(half * half - log / kA) - half);
  return x < 0 ? -magnitude : magnitude;
}

// With `zero`, scores of nearly 0 stay out of the sum and as small as they are.
inline void SoftmaxScores(double* scores, int64_t n, bool zero) {
  constexpr double kNearZero = 1e-7;
  const double most = *std::max_element(scores, scores + n);
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    const bool near = zero && std::fabs(scores[i]) <= kNearZero;
    scores[i] = near ? scores[i] * std::exp(-most) : std::exp(scores[i] - most);
    sum += scores[i];
  }
  for (int64_t i = 0; i < n; ++i) scores[i] = sum == 0 ? 0.5 : scores[i] / sum;
}

// Scores of one row, in place.
inline void TransformScores(ScoreTransform how, double* scores, int64_t n) {
  switch (how) {
    case ScoreTransform::kSoftmax:
    case ScoreTransform::kSoftmaxZero:
      if (n > 0) SoftmaxScores(scores, n, how == ScoreTransform::kSoftmaxZero);
      return;
    case ScoreTransform::kLogistic:
      for (int64_t i = 0; i < n; ++i) scores[i] = LogisticScore(scores[i]);
      return;
    case ScoreTransform::kProbit:
      for (int64_t i = 0; i < n; ++i) scores[i] = ProbitScore(scores[i]);
      return;
    default:
      return;
  }
}

// One score alone: only PROBIT changes it, as in the other runtimes of these operators.
inline void TransformTargets(ScoreTransform how, double* scores, int64_t n) {
  if (n > 1 || how == ScoreTransform::kProbit) TransformScores(how, scores, n);
}

// Makes two scores of one: for LOGISTIC -p and p, else 1 - p and p, whether p is a probability or
// not. (ONNX leaves it open; ONNX Runtime does this.)
inline void PairOfScore(ScoreTransform how, double score, double* scores) {
  const bool sign = how == ScoreTransform::kLogistic;
  scores[0] = sign ? -score : 1 - score;
  scores[1] = score;
  if (sign || how == ScoreTransform::kProbit) TransformScores(how, scores, 2);
}

inline void PutScores(const Tensor& y, int64_t row, const double* scores, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y.as<float>()[row * n + i] = static_cast<float>(scores[i]);
}

inline int64_t FirstGreatest(const double* scores, int64_t n) {
  return std::max_element(scores, scores + n) - scores;
}

inline uint64_t DoublesBytes(int64_t n) { return static_cast<uint64_t>(n) * sizeof(double); }

}  // namespace ref
