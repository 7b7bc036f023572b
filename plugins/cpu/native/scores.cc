#include "plugins/cpu/native/scores.h"

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

bool ReadTransform(const ge_node& n, ScoreTransform* how, Why* why) {
  static constexpr std::string_view kNames[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO",
                                                "PROBIT"};
  const auto* at =
      std::find(std::begin(kNames), std::end(kNames), gp::AttrString(n, "post_transform", "NONE"));
  if (at == std::end(kNames)) return why->Say(GE_WHY_ATTRIBUTE, "a post_transform not known");
  *how = static_cast<ScoreTransform>(at - std::begin(kNames));
  return true;
}

void TransformScores(ScoreTransform how, double* s, int64_t n) {
  switch (how) {
    case ScoreTransform::kNone:
      return;
    case ScoreTransform::kSoftmax:
    case ScoreTransform::kSoftmaxZero:
      if (n > 0) Softmax(s, n, how == ScoreTransform::kSoftmaxZero);
      return;
    case ScoreTransform::kLogistic:
      for (int64_t i = 0; i < n; ++i) s[i] = Logistic(s[i]);
      return;
    case ScoreTransform::kProbit:
      for (int64_t i = 0; i < n; ++i) s[i] = Probit(s[i]);
      return;
  }
}

void TransformTargets(ScoreTransform how, double* s, int64_t n) {
  if (n > 1 || how == ScoreTransform::kProbit) TransformScores(how, s, n);
}

void PairOfScore(ScoreTransform how, double score, double* s) {
  const bool sign = how == ScoreTransform::kLogistic;
  s[0] = sign ? -score : 1 - score, s[1] = score;
  if (sign || how == ScoreTransform::kProbit) TransformScores(how, s, 2);
}

double TransformNs(ScoreTransform how) { return how == ScoreTransform::kNone ? 0 : 8; }

bool ListsDiffer(Why* why) {
  return why->Say(GE_WHY_ATTRIBUTE, "lists that do not fit each other");
}

bool RowsOf(const Parser& g, const ge_node& n, int64_t* rows, int64_t* features, Why* why) {
  const Dims x = g.dims(n.in[0]);
  if (g.dtype(n.in[0]) != GE_F32) return why->Say(GE_WHY_DTYPE, "only float32 features");
  if (x.size() != 1 && x.size() != 2) return why->Say(GE_WHY_SHAPE, "only [N, C] and [C]");
  *rows = x.size() == 2 ? x[0] : 1;
  *features = x.back();
  return true;
}

bool HasOut(const Parser& g, const ge_node& n, uint32_t slot, int32_t dtype, const Dims& dims,
            Why* why) {
  if (slot >= n.n_out || n.out[slot] == 0) return why->Say(GE_WHY_OP, "an output is left out");
  if (g.dtype(n.out[slot]) != dtype) return why->Say(GE_WHY_DTYPE, "another type of output");
  return g.dims(n.out[slot]) == dims || why->Say(GE_WHY_SHAPE, "an output has other dims");
}

}  // namespace ge_engines::cpu::native
