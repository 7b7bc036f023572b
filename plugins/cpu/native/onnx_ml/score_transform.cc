#include "plugins/cpu/native/onnx_ml/score_transform.h"

#include <algorithm>
#include <cmath>

namespace ge_engines::cpu::native {

namespace {

double Logistic(double x) {
  const double small = 1 / (1 + std::exp(std::fabs(x)));
  return x < 0 ? small : 1 - small;
}

// By Winitzki's inverse error function with a = 0.147, which the operators' definition means.
double Probit(double share) {
  constexpr double kA = 0.147, kPi = 3.14159265358979323846;
  const double x = 2 * share - 1, log = std::log((1 - x) * (1 + x));
  const double half = 2 / (kPi * kA) + log / 2;
  const double size = std::sqrt(2.0) * std::sqrt(std::sqrt(half * half - log / kA) - half);
  return x < 0 ? -size : size;
}

// Of kSoftmaxZero scores of nearly 0 stay as small as they are.
void Softmax(double* s, int64_t n, bool zero) {
  constexpr double kNearZero = 1e-7;
  const double most = *std::max_element(s, s + n);
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    const bool near = zero && std::fabs(s[i]) <= kNearZero;
    s[i] = near ? s[i] * std::exp(-most) : std::exp(s[i] - most);
    sum += s[i];
  }
  for (int64_t i = 0; i < n; ++i) s[i] = sum == 0 ? 0.5 : s[i] / sum;
}

}  // namespace

void TransformScores(PostTransform how, double* scores, int64_t n) {
  switch (how) {
    case PostTransform::kNone:
      return;
    case PostTransform::kSoftmax:
    case PostTransform::kSoftmaxZero:
      if (n > 0) Softmax(scores, n, how == PostTransform::kSoftmaxZero);
      return;
    case PostTransform::kLogistic:
      for (int64_t i = 0; i < n; ++i) scores[i] = Logistic(scores[i]);
      return;
    case PostTransform::kProbit:
      for (int64_t i = 0; i < n; ++i) scores[i] = Probit(scores[i]);
      return;
  }
}

void TransformTargets(PostTransform how, double* scores, int64_t n) {
  if (n > 1 || how == PostTransform::kProbit) TransformScores(how, scores, n);
}

void PairOfScore(PostTransform how, double score, double* scores) {
  const bool sign = how == PostTransform::kLogistic;
  scores[0] = sign ? -score : 1 - score;
  scores[1] = score;
  if (sign || how == PostTransform::kProbit) TransformScores(how, scores, 2);
}

double TransformNs(PostTransform how) { return how == PostTransform::kNone ? 0 : 8; }

}  // namespace ge_engines::cpu::native
