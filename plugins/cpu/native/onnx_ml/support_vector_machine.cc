#include "plugins/cpu/native/onnx_ml/support_vector_machine.h"

#include <algorithm>
#include <cmath>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/onnx_ml/learned_step.h"
#include "plugins/cpu/native/onnx_ml/score_transform.h"
#include "plugins/cpu/native/price.h"

namespace ge_engines::cpu::native {
namespace {

int64_t Classes(const SupportVectorMachine& m) { return static_cast<int64_t>(m.labels.size()); }
// Entries of a table of pairs, which only probabilities need.
int64_t Square(const SupportVectorMachine& m) {
  return m.prob_a.empty() ? 0 : Classes(m) * Classes(m);
}
int64_t Sums(const SupportVectorMachine& m) { return std::max<int64_t>(Classes(m), 1) * m.weights; }

// One row's numbers in a workspace.
struct Scratch {
  double *sums, *pairs, *scores, *votes, *chances, *q, *products;
  float* kernels;
  Scratch(const SupportVectorMachine& m, float* workspace) {
    sums = reinterpret_cast<double*>(workspace);
    pairs = sums + Sums(m);
    scores = pairs + m.rho.size();
    votes = scores + std::max<int64_t>(m.columns, 2);
    products = votes + Classes(m);
    chances = products + Classes(m);
    q = chances + Square(m);
    kernels = reinterpret_cast<float*>(q + Square(m));
  }
  static uint64_t Doubles(const SupportVectorMachine& m) {
    return static_cast<uint64_t>(Sums(m) + std::max<int64_t>(m.columns, 2) + 2 * Classes(m) +
                                 2 * Square(m)) +
           m.rho.size();
  }
};

class SupportVectorRows final : public Loop {
 public:
  SupportVectorRows(const Simd& simd, std::shared_ptr<const SupportVectorMachine> machine,
                    int threads)
      : simd_(simd), machine_(std::move(machine)), m_(*machine_), threads_(threads) {}

  void Run(float* const* p) const override {
    ForJobs(threads_, m_.rows, p[3], SupportVectorFloats(m_), [&](int64_t r, float* own) {
      const Scratch w(m_, own);
      Kernels(p[2] + r * m_.features, w.kernels);
      SumUp(w);
      if (m_.labels.empty()) {
        const double y = m_.rho[0] + w.sums[0];
        w.scores[0] = m_.sign ? (y > 0 ? 1 : -1) : y;
      } else {
        reinterpret_cast<int64_t*>(p[1])[r] = m_.labels[static_cast<size_t>(Classify(w))];
      }
      for (int64_t k = 0; k < m_.columns; ++k) {
        p[0][r * m_.columns + k] = static_cast<float>(w.scores[k]);
      }
    });
  }

 private:
  void Kernels(const float* x, float* k) const {
    const int64_t n = m_.count;
    if (m_.kernel == VectorKernel::kRbf) {
      Distances(x, k);
      const auto factor = static_cast<float>(-m_.gamma);
      for (int64_t j = 0; j < n; ++j) k[j] *= factor;
      simd_.unary(Fn::kExp, 0, 0, k, k, n);
      return;
    }
    simd_.thin_product(x, m_.features, m_.vectors.data(), n, k, n, 1, n, m_.features);
    if (m_.kernel == VectorKernel::kLinear) return;
    for (int64_t j = 0; j < n; ++j) {
      const double v = m_.gamma * k[j] + m_.coef0;
      k[j] = static_cast<float>(m_.kernel == VectorKernel::kPoly ? std::pow(v, m_.degree) : v);
    }
    if (m_.kernel == VectorKernel::kSigmoid) simd_.unary(Fn::kTanh, 0, 0, k, k, n);
  }

  // Squared, of differences: norms less products would lose the digits of near vectors.
  void Distances(const float* x, float* __restrict k) const {
    const int64_t n = m_.count;
    std::fill_n(k, n, 0.0f);
    int64_t f = 0;
    for (; f + 4 <= m_.features; f += 4) {
      const float* __restrict v = m_.vectors.data() + f * n;
      const float x0 = x[f], x1 = x[f + 1], x2 = x[f + 2], x3 = x[f + 3];
      for (int64_t j = 0; j < n; ++j) {
        const float a = x0 - v[j], b = x1 - v[n + j], c = x2 - v[2 * n + j], d = x3 - v[3 * n + j];
        k[j] += (a * a + b * b) + (c * c + d * d);
      }
    }
    for (; f < m_.features; ++f) {
      const float* __restrict v = m_.vectors.data() + f * n;
      for (int64_t j = 0; j < n; ++j) k[j] += (x[f] - v[j]) * (x[f] - v[j]);
    }
  }

  // Of each class its vectors' kernels, weighed against each other class.
  void SumUp(const Scratch& w) const {
    std::fill_n(w.sums, Sums(m_), 0.0);
    const double* c = m_.coefficients.data();
    for (size_t i = 0; i + 1 < m_.begin.size(); ++i) {
      double* const to = w.sums + static_cast<int64_t>(i) * m_.weights;
      for (int64_t v = m_.begin[i]; v < m_.begin[i + 1]; ++v, c += m_.weights) {
        const double k = w.kernels[v];
        for (int64_t o = 0; o < m_.weights; ++o) to[o] += c[o] * k;
      }
    }
  }

  // Fills the scores of a row; answers its class, for which most pairs vote.
  int64_t Classify(const Scratch& w) const {
    const int64_t n = Classes(m_);
    std::fill_n(w.votes, n, 0.0);
    int64_t pair = 0;
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = i + 1; j < n; ++j, ++pair) {
        w.pairs[pair] = m_.rho[static_cast<size_t>(pair)] + w.sums[i * m_.weights + j - 1] +
                        w.sums[j * m_.weights + i];
        ++w.votes[w.pairs[pair] > 0 ? i : j];
      }
    }
    const int64_t best = std::max_element(w.votes, w.votes + n) - w.votes;
    if (!m_.prob_a.empty()) {
      Chances(w);
      Shares(w);
    } else if (n == 2) {
      PairOfScore(m_.transform, w.pairs[0], w.scores);
      if (m_.transform == PostTransform::kNone) w.scores[0] = -w.pairs[0];
      return best;
    } else {
      std::copy_n(w.pairs, pair, w.scores);
    }
    TransformScores(m_.transform, w.scores, m_.columns);
    return best;
  }

  // chances[i][j]: of class i against j, by a sigmoid of the pair's score; none is certain.
  void Chances(const Scratch& w) const {
    constexpr double kLeast = 1e-7;
    const int64_t n = Classes(m_);
    size_t pair = 0;
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = i + 1; j < n; ++j, ++pair) {
        const double at = w.pairs[pair] * m_.prob_a[pair] + m_.prob_b[pair];
        const double chance = std::clamp(1 / (1 + std::exp(at)), kLeast, 1 - kLeast);
        w.chances[i * n + j] = chance;
        w.chances[j * n + i] = 1 - chance;
      }
    }
  }

  // Shares of the classes that agree best with all pairs' chances, by the second method of Wu, Lin
  // and Weng (2004): one after the other to where the quadratic form is least, until its gradient
  // is level to 0.005 / classes.
  void Shares(const Scratch& w) const {
    const int64_t n = Classes(m_);
    double* const share = w.scores;
    for (int64_t t = 0; t < n; ++t) {
      share[t] = 1 / static_cast<double>(n);
      double own = 0;
      for (int64_t j = 0; j < n; ++j) {
        const double back = j == t ? 0 : w.chances[j * n + t];
        own += back * back;
        w.q[t * n + j] = j == t ? 0 : -back * w.chances[t * n + j];
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
      for (int64_t t = 0; t < n; ++t) form = Lower(w, t, form);
    }
  }

  // Moves one share; answers the form's new value.
  double Lower(const Scratch& w, int64_t t, double form) const {
    const int64_t n = Classes(m_);
    const double* const q = w.q + t * n;
    const double step = (form - w.products[t]) / q[t], part = 1 / (1 + step);
    w.scores[t] += step;
    form = (form + step * (step * q[t] + 2 * w.products[t])) * part * part;
    for (int64_t j = 0; j < n; ++j) {
      w.products[j] = (w.products[j] + step * q[j]) * part;
      w.scores[j] *= part;
    }
    return form;
  }

  const Simd& simd_;
  const std::shared_ptr<const SupportVectorMachine> machine_;
  const SupportVectorMachine& m_;
  const int threads_;
};

}  // namespace

// Whole cache lines.
uint64_t SupportVectorFloats(const SupportVectorMachine& machine) {
  return (2 * Scratch::Doubles(machine) + static_cast<uint64_t>(machine.count) + 15) / 16 * 16;
}

int SupportVectorThreads(const SupportVectorMachine& machine, int threads) {
  constexpr double kWorthForking = 5000;  // ns: a fork takes some 600
  return machine.rows > 1 && SupportVectorNs(machine) > kWorthForking ? threads : 1;
}

// Of a vector an eighth of a nanosecond a feature, its function and its weights; of probabilities
// some rounds over all pairs.
double SupportVectorNs(const SupportVectorMachine& machine) {
  const auto count = static_cast<double>(machine.count),
             features = static_cast<double>(machine.features);
  const auto classes = static_cast<double>(machine.labels.size());
  const double function = machine.kernel == VectorKernel::kPoly ? 25 : 1;
  const double pairs = machine.prob_a.empty() ? 2 : 20;
  return static_cast<double>(machine.rows) *
         (50 + count * (features * 0.12 + function + 0.25 * static_cast<double>(machine.weights)) +
          classes * classes / 2 * pairs);
}

std::unique_ptr<Loop> SupportVectorLoop(const Simd& simd,
                                        std::shared_ptr<const SupportVectorMachine> machine,
                                        int threads) {
  return std::make_unique<SupportVectorRows>(simd, std::move(machine), threads);
}

namespace {

class SupportVectorMachineKind final : public KindOf<SupportVectorSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    return WorkPrice(unit, parser, machine,
                     {SupportVectorNs(*SpecOf(unit).machine) / machine.compute});
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const SupportVectorSpec& spec = SpecOf(u);
    const int threads = SupportVectorThreads(*spec.machine, b->machine().threads);
    AddLearned(b, u, "support vectors", SupportVectorLoop(b->simd(), spec.machine, threads),
               SupportVectorFloats(*spec.machine), threads);
  }
};

const SupportVectorMachineKind kSupportVectorMachineKind;
}  // namespace

GE_NATIVE_KINDS(support_vector_machine, &kSupportVectorMachineKind)

}  // namespace ge_engines::cpu::native
