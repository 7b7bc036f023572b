#include "plugins/cpu/native/onnx_ml/tree_ensemble.h"

#include <algorithm>
#include <cmath>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/price.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/onnx_ml/learned_step.h"
#include "plugins/cpu/native/onnx_ml/score_transform.h"
#include "plugins/cpu/native/price.h"

namespace ge_engines::cpu::native {
namespace {

// Rows that walk a tree side by side, and rows whose sums are made before the next: the trees are
// read once for a block, whose sums (64 KiB at most for up to 128 choices) stay in a cache.
constexpr int64_t kTogether = 8, kBlockRows = 64;

template <Branch kHow>
bool Holds(const TreeNode& t, float v) {
  switch (kHow == Branch::kMixed ? t.how : kHow) {
    case Branch::kLt:
      return v < t.value;
    case Branch::kGte:
      return v >= t.value;
    case Branch::kGt:
      return v > t.value;
    case Branch::kEq:
      return v == t.value;
    case Branch::kNeq:
      return v != t.value;
    default:
      return v <= t.value;
  }
}

// The leaves that kCount rows from x on reach.
template <Branch kHow, bool kMissing, int64_t kCount>
void Walk(const TreeEnsemble& f, size_t tree, const float* x, uint32_t* leaves) {
  const TreeNode* const nodes = f.nodes.data();
  const uint32_t root = f.roots[tree];
  uint32_t at[kCount];
  for (int64_t i = 0; i < kCount; ++i) at[i] = root;
  uint32_t open = 1;
  for (uint32_t level = f.levels[tree]; level > 0 && open != 0; --level) {
    open = 0;
    for (int64_t i = 0; i < kCount; ++i) {
      const TreeNode& t = nodes[at[i]];
      const float v = x[i * f.features + t.feature];
      uint32_t fails = Holds<kHow>(t, v) ? 0 : 1;
      if (kMissing) fails &= static_cast<uint32_t>(!(t.missing_yes & (v != v)));
      at[i] = t.next + (fails & t.branch);
      open |= t.branch;
    }
  }
  for (int64_t i = 0; i < kCount; ++i) leaves[i] = f.leaf[at[i]];
}

using Walker = void (*)(const TreeEnsemble&, size_t, const float*, uint32_t*);
template <Branch kHow, int64_t kCount>
Walker WalkerOf(bool missing) {
  return missing ? Walk<kHow, true, kCount> : Walk<kHow, false, kCount>;
}
template <int64_t kCount>
Walker WalkerOf(const TreeEnsemble& f) {
  switch (f.how) {
    case Branch::kLeq:
      return WalkerOf<Branch::kLeq, kCount>(f.missing);
    case Branch::kLt:
      return WalkerOf<Branch::kLt, kCount>(f.missing);
    default:
      return WalkerOf<Branch::kMixed, kCount>(f.missing);
  }
}

class Trees final : public Loop {
 public:
  Trees(std::shared_ptr<const TreeEnsemble> ensemble, int threads)
      : forest_(std::move(ensemble)),
        f_(*forest_),
        threads_(threads),
        one_(WalkerOf<1>(f_)),
        together_(WalkerOf<kTogether>(f_)) {}

  void Run(float* const* p) const override {
    const int64_t blocks = (f_.rows + kBlockRows - 1) / kBlockRows;
    ForJobs(threads_, blocks, p[3], TreeEnsembleFloats(f_), [&](int64_t b, float* own) {
      const int64_t row = b * kBlockRows, count = std::min(kBlockRows, f_.rows - row);
      auto* labels = reinterpret_cast<int64_t*>(p[1]);
      Block(p[2] + row * f_.features, count, p[0] + row * f_.choices,
            f_.labels.empty() ? nullptr : labels + row, reinterpret_cast<double*>(own));
    });
  }

 private:
  int64_t Stride() const { return std::max<int64_t>(f_.choices, 2); }

  void Block(const float* x, int64_t rows, float* y, int64_t* labels, double* sums) const {
    auto* has = reinterpret_cast<uint8_t*>(sums + kBlockRows * Stride());
    std::fill_n(sums, rows * Stride(), 0.0);
    std::fill_n(has, rows * f_.choices, uint8_t{!f_.full.empty()});
    for (size_t tree = 0; tree < f_.roots.size(); ++tree) {
      uint32_t leaves[kBlockRows];
      int64_t r = 0;
      for (; r + kTogether <= rows; r += kTogether) {
        together_(f_, tree, x + r * f_.features, leaves + r);
      }
      for (; r < rows; ++r) one_(f_, tree, x + r * f_.features, leaves + r);
      for (r = 0; r < rows; ++r) Count(leaves[r], sums + r * Stride(), has + r * f_.choices);
    }
    for (int64_t r = 0; r < rows; ++r) {
      double* s = sums + r * Stride();
      const int64_t label = Finish(s, has + r * f_.choices);
      if (labels != nullptr) labels[r] = label;
      for (int64_t k = 0; k < f_.choices; ++k) y[r * f_.choices + k] = static_cast<float>(s[k]);
    }
  }

  void Count(uint32_t leaf, double* s, uint8_t* has) const {
    if (!f_.full.empty()) {
      const double* w = f_.full.data() + static_cast<int64_t>(leaf) * f_.choices;
      for (int64_t k = 0; k < f_.choices; ++k) s[k] += w[k];
      return;
    }
    for (uint32_t i = f_.first[leaf]; i < f_.first[leaf + 1]; ++i) {
      const Vote& v = f_.votes[i];
      double& to = s[v.choice];
      if (has[v.choice] == 0) {
        to = v.weight;
      } else if (f_.sum == VoteSum::kMin || f_.sum == VoteSum::kMax) {
        to = f_.sum == VoteSum::kMin ? std::min(to, v.weight) : std::max(to, v.weight);
      } else {
        to += v.weight;
      }
      has[v.choice] = 1;
    }
  }

  // The row's scores of its sums; answers its label.
  int64_t Finish(double* s, const uint8_t* has) const {
    switch (f_.end) {
      case EnsembleEnd::kTargets:
        return FinishTargets(s);
      case EnsembleEnd::kOneOfTwo:
        return FinishOne(s);
      default:
        return f_.choices == 2 ? FinishTwo(s) : FinishClasses(s, has);
    }
  }

  void AddBase(double* s) const {
    for (size_t i = 0; i < f_.base.size(); ++i) s[i] += f_.base[i];
  }
  // Labels are those of the scores as they are handed out.
  static void RoundSums(double* s, int64_t n) {
    for (int64_t i = 0; i < n; ++i) s[i] = static_cast<float>(s[i]);
  }

  int64_t FinishTargets(double* s) const {
    if (f_.sum == VoteSum::kAverage) {
      const auto trees = static_cast<double>(std::max<size_t>(f_.roots.size(), 1));
      for (int64_t k = 0; k < f_.choices; ++k) s[k] /= trees;
    }
    AddBase(s);
    TransformTargets(f_.transform, s, f_.choices);
    return 0;
  }

  // All votes are for the first of two classes: a share of 1 where no weight is negative, else a
  // score whose sign decides.
  int64_t FinishOne(double* s) const {
    AddBase(s);
    RoundSums(s, 1);
    const double score = s[0];
    PairOfScore(f_.transform, score, s);
    if (!f_.positive && f_.transform != PostTransform::kLogistic) {
      s[0] = -score;
      s[1] = score;
      if (f_.transform == PostTransform::kProbit) TransformScores(f_.transform, s, 2);
    }
    return f_.labels[score > (f_.positive ? 0.5 : 0) ? 1 : 0];
  }

  int64_t FinishTwo(double* s) const {
    const bool alone = f_.end == EnsembleEnd::kSecondOfTwo && f_.base.size() != 2;
    if (!alone) AddBase(s);
    RoundSums(s, 2);
    const bool second = s[1] > (alone ? (f_.positive ? 0.5 : 0) : s[0]);
    TransformScores(f_.transform, s, 2);
    return f_.labels[second ? 1 : 0];
  }

  // A class without votes does not win with its 0. Of a class alone: whether it is that one.
  int64_t FinishClasses(double* s, const uint8_t* has) const {
    AddBase(s);
    RoundSums(s, f_.choices);
    int64_t best = -1;
    for (int64_t k = 0; k < f_.choices; ++k) {
      const bool counts = has[k] != 0 || !f_.base.empty();
      if (counts && (best < 0 || s[k] > s[best])) best = k;
    }
    const bool one = s[0] > 0;
    TransformTargets(f_.transform, s, f_.choices);
    if (f_.choices == 1) return one ? 1 : 0;
    return f_.labels[static_cast<size_t>(std::max<int64_t>(best, 0))];
  }

  const std::shared_ptr<const TreeEnsemble> forest_;
  const TreeEnsemble& f_;
  const int threads_;
  const Walker one_, together_;
};

}  // namespace

uint64_t TreeEnsembleFloats(const TreeEnsemble& ensemble) {
  const auto sums = static_cast<uint64_t>(kBlockRows * std::max<int64_t>(ensemble.choices, 2));
  return 2 * sums + (static_cast<uint64_t>(kBlockRows * ensemble.choices) + 7) / 8 * 2;
}

int TreeEnsembleThreads(const TreeEnsemble& ensemble, int threads) {
  constexpr double kWorthForking = 5000;  // ns: a fork takes some 600
  return ensemble.rows > kBlockRows && TreeEnsembleNs(ensemble) > kWorthForking ? threads : 1;
}

// Steps of rows that walk together hide each other's waits; trees beyond the second cache are read
// from the third or from memory.
double TreeEnsembleNs(const TreeEnsemble& ensemble) {
  const auto rows = static_cast<double>(ensemble.rows),
             trees = static_cast<double>(ensemble.roots.size());
  const double leaves = std::max<double>(1, static_cast<double>(ensemble.first.size()) - 1);
  const double votes =
      static_cast<double>(ensemble.full.empty() ? ensemble.votes.size() : ensemble.full.size());
  const double step =
      (ensemble.rows < kTogether ? 3.0 : 0.9) + (ensemble.nodes.size() > 65536 ? 2 : 0);
  const double walk = trees * (ensemble.depth + 1) * step;
  return rows * (walk + trees * (1 + votes / leaves * 0.5) +
                 static_cast<double>(ensemble.choices) * (2 + TransformNs(ensemble.transform)));
}

std::unique_ptr<Loop> TreeEnsembleLoop(std::shared_ptr<const TreeEnsemble> ensemble, int threads) {
  return std::make_unique<Trees>(std::move(ensemble), threads);
}

namespace {

class TreeEnsembleKind final : public KindOf<TreeEnsembleSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    return WorkPrice(unit, parser, machine,
                     {TreeEnsembleNs(*SpecOf(unit).ensemble) / machine.compute});
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const TreeEnsembleSpec& spec = SpecOf(u);
    const int threads = TreeEnsembleThreads(*spec.ensemble, b->machine().threads);
    AddLearned(b, u, "trees", TreeEnsembleLoop(spec.ensemble, threads),
               TreeEnsembleFloats(*spec.ensemble), threads);
  }
};

const TreeEnsembleKind kTreeEnsembleKind;
}  // namespace

GE_NATIVE_KINDS(tree_ensemble, &kTreeEnsembleKind)

}  // namespace ge_engines::cpu::native
