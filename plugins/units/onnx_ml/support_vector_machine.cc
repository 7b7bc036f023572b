#include "plugins/units/onnx_ml/support_vector_machine.h"

#include <algorithm>
#include <iterator>

#include "plugins/units/parser.h"

namespace ge_engines {

namespace {

// Classes whose pairs' tables stay small; vectors whose kernels stay in a cache.
constexpr int64_t kMostClasses = 256;

std::vector<double> Reals(const ge_node& n, std::string_view name) {
  const auto list = gp::AttrFloats(n, name);
  return {list.begin(), list.end()};
}

// The kernel and the vectors, m.count of which are wanted.
bool ReadVectors(const Parser& g, const ge_node& n, SupportVectorMachine* m, Why* why) {
  static constexpr std::string_view kNames[] = {"LINEAR", "POLY", "RBF", "SIGMOID"};
  const auto* name =
      std::find(std::begin(kNames), std::end(kNames), gp::AttrString(n, "kernel_type", "LINEAR"));
  if (name == std::end(kNames)) return why->Say(GE_WHY_ATTRIBUTE, "a kernel_type not known");
  m->kernel = static_cast<VectorKernel>(name - std::begin(kNames));
  if (!RowsOf(g, n, &m->rows, &m->features, why)) return false;
  const std::vector<double> params = Reals(n, "kernel_params");
  if (params.size() == 3) {
    m->gamma = params[0];
    m->coef0 = params[1];
    m->degree = params[2];
  }
  const auto vectors = gp::AttrFloats(n, "support_vectors");
  if (m->count < 1) return why->Say(GE_WHY_ATTRIBUTE, "no support vectors");
  // Exponentials of float32 end at e^88, those of the operator do not.
  if (m->kernel == VectorKernel::kRbf && m->gamma < 0) {
    return why->Say(GE_WHY_ATTRIBUTE, "a negative gamma");
  }
  if ((params.size() != 3 && !params.empty()) ||
      vectors.size() != static_cast<uint64_t>(m->count) * static_cast<uint64_t>(m->features)) {
    return ListsDiffer(why);
  }
  m->vectors.resize(vectors.size());
  for (int64_t v = 0; v < m->count; ++v) {
    for (int64_t f = 0; f < m->features; ++f) {
      m->vectors[static_cast<size_t>(f * m->count + v)] =
          static_cast<float>(vectors[static_cast<size_t>(v * m->features + f)]);
    }
  }
  return true;
}

bool ParseSvmRegressor(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  auto m = std::make_shared<SupportVectorMachine>();
  m->count = gp::AttrInt(n, "n_supports");
  if (!ReadVectors(g, n, m.get(), why) || !HasOut(g, n, 0, GE_F32, {m->rows, 1}, why)) return false;
  m->coefficients = Reals(n, "coefficients");
  m->rho = Reals(n, "rho");
  if (m->coefficients.size() != static_cast<size_t>(m->count) || m->rho.size() != 1) {
    return ListsDiffer(why);
  }
  m->begin = {0, m->count};
  m->sign = gp::AttrInt(n, "one_class") != 0;
  u->spec = SupportVectorSpec{std::move(m)};
  return true;
}

bool ParseSvmClassifier(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  auto m = std::make_shared<SupportVectorMachine>();
  const auto labels = gp::AttrInts(n, "classlabels_ints");
  m->labels.assign(labels.begin(), labels.end());
  const auto classes = static_cast<int64_t>(labels.size());
  m->begin = {0};
  for (const int64_t count : gp::AttrInts(n, "vectors_per_class")) {
    if (count < 0 || count > INT32_MAX) return ListsDiffer(why);
    m->begin.push_back(m->begin.back() + count);
  }
  m->count = m->begin.back();
  if (classes < 2 || classes > kMostClasses) {
    return why->Say(GE_WHY_ATTRIBUTE, "only 2 to " + std::to_string(kMostClasses) + " classes");
  }
  if (!ReadVectors(g, n, m.get(), why) || !ReadPostTransform(n, &m->transform, why)) return false;
  // Near 0 and 1 it grows the last digits of the kernels, which are float32, a thousandfold.
  if (m->transform == PostTransform::kProbit) return why->Say(GE_WHY_ATTRIBUTE, "PROBIT");
  m->rho = Reals(n, "rho");
  m->prob_a = Reals(n, "prob_a");
  m->prob_b = Reals(n, "prob_b");
  const auto pairs = static_cast<size_t>(classes * (classes - 1) / 2);
  m->weights = classes - 1;
  const auto given = gp::AttrFloats(n, "coefficients");
  if (given.size() != static_cast<uint64_t>(m->count * m->weights) || m->rho.size() != pairs ||
      m->begin.size() != labels.size() + 1 || m->prob_a.size() != m->prob_b.size() ||
      (!m->prob_a.empty() && m->prob_a.size() != pairs)) {
    return ListsDiffer(why);
  }
  for (int64_t v = 0; v < m->count; ++v) {
    for (int64_t o = 0; o < m->weights; ++o) {
      m->coefficients.push_back(given[static_cast<size_t>(o * m->count + v)]);
    }
  }
  m->columns = !m->prob_a.empty() || classes == 2 ? classes : static_cast<int64_t>(pairs);
  if (!HasOut(g, n, 0, GE_I64, {m->rows}, why) ||
      !HasOut(g, n, 1, GE_F32, {m->rows, m->columns}, why)) {
    return false;
  }
  u->spec = SupportVectorSpec{std::move(m)};
  u->out.push_back(n.out[1]);
  return true;
}

constexpr Operator kSupportVectorMachineOperators[] = {
    {"ai.onnx.ml.SVMRegressor", ParseSvmRegressor, Types::kAny, 0},
    {"ai.onnx.ml.SVMClassifier", ParseSvmClassifier, Types::kAny, 0},
};
}  // namespace

const UnitKind SupportVectorSpec::kKind = {.name = "support_vector_machine",
                                           .operators = kSupportVectorMachineOperators};

}  // namespace ge_engines
