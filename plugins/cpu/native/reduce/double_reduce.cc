// Reductions of float64.
#include "plugins/units/reduce/double_reduce.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/price.h"
#include "plugins/cpu/kit/thresholds.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/price.h"

namespace ge_engines::cpu::native {

namespace {

DoubleFold DoubleFoldOf(DoubleReduce reduce) {
  switch (reduce) {
    case DoubleReduce::kMax:
      return DoubleFold::kMax;
    case DoubleReduce::kMin:
      return DoubleFold::kMin;
    case DoubleReduce::kProd:
      return DoubleFold::kProduct;
    case DoubleReduce::kL1:
      return DoubleFold::kAbsSum;
    case DoubleReduce::kL2:
    case DoubleReduce::kSumSquare:
      return DoubleFold::kSquareSum;
    case DoubleReduce::kLogSumExp:
      return DoubleFold::kExpSum;
    default:
      return DoubleFold::kSum;
  }
}

// Of two folds: sums of magnitudes or squares are added up as they are.
void JoinFolds(DoubleFold fold, const double* from, double* acc, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const double a = acc[i], v = from[i];
    if (fold == DoubleFold::kProduct) {
      acc[i] = a * v;
    } else if (fold == DoubleFold::kMax) {
      acc[i] = v != v || v > a ? v : a;
    } else if (fold == DoubleFold::kMin) {
      acc[i] = v != v || v < a ? v : a;
    } else {
      acc[i] = a + v;
    }
  }
}

// Buffers: result, x. x is seen as axes that are kept and axes that are reduced, merged where they
// lie behind each other; the innermost is folded by vectors, or its columns are.
class DoubleReduction final : public Loop {
 public:
  DoubleReduction(const Simd& simd, DoubleReduce reduce, const Dims& x, const Dims& axes)
      : simd_(simd), reduce_(reduce), fold_(DoubleFoldOf(reduce)) {
    const Dims stride = StridesOf(x);
    std::vector<Axis> all;
    for (size_t k = 0; k < x.size(); ++k) {
      const bool reduced =
          std::find(axes.begin(), axes.end(), static_cast<int64_t>(k)) != axes.end();
      if (reduced) count_ *= x[k];
      if (x[k] == 1) continue;
      if (!all.empty() && all.back().reduced == reduced) {
        all.back() = {all.back().dim * x[k], stride[k], reduced};
      } else {
        all.push_back({x[k], stride[k], reduced});
      }
    }
    if (all.empty()) all.push_back({1, 1, true});
    inner_ = all.back();
    all.pop_back();
    for (const Axis& a : all) (a.reduced ? reduced_ : kept_).push_back(a);
    // Columns are folded along one reduced axis at a time.
    if (!inner_.reduced) {
      rows_ = reduced_.empty() ? Axis{1, 0, true} : reduced_.back();
      if (!reduced_.empty()) reduced_.pop_back();
    }
    for (const Axis& a : kept_) n_kept_ *= a.dim;
    for (const Axis& a : reduced_) n_reduced_ *= a.dim;
    total_ = Product(x);
  }

  void Run(float* const* p) const override {
    auto* y = reinterpret_cast<double*>(p[0]);
    const auto* x = reinterpret_cast<const double*>(p[1]);
    if (inner_.reduced) {
      if (n_kept_ * 4 < kPieces && n_reduced_ == 1 && inner_.dim >= kLong) return LongRows(x, y);
      ForRange(Parallel(), n_kept_, [&](int64_t k) { y[k] = Row(x + At(kept_, k), inner_.dim); });
      return;
    }
    const int64_t blocks = CeilDiv(inner_.dim, kColumns);
    if (n_kept_ * blocks * 4 < kPieces && n_reduced_ == 1 && total_ >= kLong &&
        rows_.dim >= kPieces && reduce_ != DoubleReduce::kLogSumExp) {
      return LongColumns(x, y);
    }
    ForRange(Parallel(), n_kept_ * blocks, [&](int64_t i) {
      const int64_t first = i % blocks * kColumns, n = std::min(kColumns, inner_.dim - first);
      Columns(x + At(kept_, i / blocks) + first, y + i / blocks * inner_.dim + first, n);
    });
  }

 private:
  struct Axis {
    int64_t dim = 1, stride = 0;
    bool reduced = false;
  };
  static constexpr int64_t kColumns = 128;  // that are folded at once
  // Folds that no other would share are cut into so many, whatever the threads: from this length
  // on.
  static constexpr int64_t kPieces = 16, kLong = 1 << 15;

  bool Parallel() const { return total_ * int64_t{sizeof(double)} > kParallelBytes; }

  // Where number k of these axes' places begins.
  static int64_t At(const std::vector<Axis>& axes, int64_t k) {
    int64_t at = 0;
    for (size_t i = axes.size(); i-- > 0; k /= axes[i].dim) at += k % axes[i].dim * axes[i].stride;
    return at;
  }

  double FoldAll(DoubleFold fold, const double* x, double shift, int64_t n) const {
    double acc = StartOfFold(fold);
    for (int64_t r = 0; r < n_reduced_; ++r) {
      acc = simd_.fold_doubles(fold, x + At(reduced_, r), shift, acc, n);
    }
    return acc;
  }

  double Row(const double* x, int64_t n) const {
    if (reduce_ != DoubleReduce::kLogSumExp) return Finished(FoldAll(fold_, x, 0, n));
    const double top = FoldAll(DoubleFold::kMax, x, 0, n);
    // Infinities and NaN decide alone.
    return std::isfinite(top) ? top + std::log(FoldAll(fold_, x, top, n)) : top;
  }

  // n <= kColumns columns.
  void Columns(const double* x, double* y, int64_t n) const {
    if (reduce_ != DoubleReduce::kLogSumExp) {
      FoldRows(fold_, x, nullptr, y, n);
      for (int64_t j = 0; j < n; ++j) y[j] = Finished(y[j]);
      return;
    }
    double top[kColumns], shift[kColumns];
    FoldRows(DoubleFold::kMax, x, nullptr, top, n);
    for (int64_t j = 0; j < n; ++j) shift[j] = std::isfinite(top[j]) ? top[j] : 0;
    FoldRows(fold_, x, shift, y, n);
    for (int64_t j = 0; j < n; ++j) y[j] = std::isfinite(top[j]) ? top[j] + std::log(y[j]) : top[j];
  }
  void FoldRows(DoubleFold fold, const double* x, const double* shift, double* acc,
                int64_t n) const {
    std::fill(acc, acc + n, StartOfFold(fold));
    for (int64_t r = 0; r < n_reduced_; ++r) {
      simd_.fold_double_rows(fold, x + At(reduced_, r), rows_.dim, rows_.stride, shift, acc, n);
    }
  }

  void LongRows(const double* x, double* y) const {
    const int64_t each = CeilDiv(inner_.dim, kPieces);
    const auto fold_pieces = [&](DoubleFold fold, const double* row, double shift) {
      double part[kPieces];
      ForRange(true, kPieces, [&](int64_t i) {
        const int64_t from = std::min(inner_.dim, i * each);
        part[i] = simd_.fold_doubles(fold, row + from, shift, StartOfFold(fold),
                                     std::min(each, inner_.dim - from));
      });
      double acc = part[0];
      for (int64_t i = 1; i < kPieces; ++i) JoinFolds(fold, part + i, &acc, 1);
      return acc;
    };
    for (int64_t k = 0; k < n_kept_; ++k) {
      const double* row = x + At(kept_, k);
      if (reduce_ != DoubleReduce::kLogSumExp) {
        y[k] = Finished(fold_pieces(fold_, row, 0));
        continue;
      }
      const double top = fold_pieces(DoubleFold::kMax, row, 0);
      y[k] = std::isfinite(top) ? top + std::log(fold_pieces(fold_, row, top)) : top;
    }
  }

  // Few columns of many rows.
  void LongColumns(const double* x, double* y) const {
    const int64_t each = CeilDiv(rows_.dim, kPieces);
    double part[kPieces][kColumns];
    for (int64_t k = 0; k < n_kept_; ++k) {
      for (int64_t first = 0; first < inner_.dim; first += kColumns) {
        const int64_t n = std::min(kColumns, inner_.dim - first);
        const double* from = x + At(kept_, k) + first;
        ForRange(true, kPieces, [&](int64_t i) {
          const int64_t row = std::min(rows_.dim, i * each);
          std::fill(part[i], part[i] + n, StartOfFold(fold_));
          simd_.fold_double_rows(fold_, from + row * rows_.stride, std::min(each, rows_.dim - row),
                                 rows_.stride, nullptr, part[i], n);
        });
        for (int64_t i = 1; i < kPieces; ++i) JoinFolds(fold_, part[i], part[0], n);
        for (int64_t j = 0; j < n; ++j) y[k * inner_.dim + first + j] = Finished(part[0][j]);
      }
    }
  }

  double Finished(double acc) const {
    switch (reduce_) {
      case DoubleReduce::kMean:
        return acc / static_cast<double>(count_);
      case DoubleReduce::kL2:
        return std::sqrt(acc);
      case DoubleReduce::kLogSum:
        return std::log(acc);
      default:
        return acc;
    }
  }

  const Simd& simd_;
  DoubleReduce reduce_;
  DoubleFold fold_;
  std::vector<Axis> kept_, reduced_;
  Axis inner_, rows_;
  int64_t n_kept_ = 1, n_reduced_ = 1, count_ = 1, total_ = 1;
};

class DoubleReduceKind final : public KindOf<DoubleReduceSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    const bool exponentials = SpecOf(unit).reduce == DoubleReduce::kLogSumExp;
    return LoopPrice(
        unit, parser, machine,
        exponentials ? ByIsa(machine, 0.45, 1, 3.2) : ByIsa(machine, 0.12, 0.12, 0.15));
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const DoubleReduceSpec& spec = SpecOf(u);
    b->AddPlain(u, "reduce float64",
                std::make_unique<DoubleReduction>(b->simd(), spec.reduce, b->parser().dims(u.in[0]),
                                                  spec.axes),
                {b->GetDense(u.in[0]).place});
  }
};

const DoubleReduceKind kDoubleReduceKind;
}  // namespace

GE_NATIVE_KINDS(double_reduce, &kDoubleReduceKind)

}  // namespace ge_engines::cpu::native
