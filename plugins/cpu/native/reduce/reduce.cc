#include "plugins/cpu/native/reduce/reduce.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "plugins/cpu/kit/builder.h"
#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/loops.h"
#include "plugins/cpu/kit/price.h"
#include "plugins/cpu/kit/thresholds.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/price.h"
#include "plugins/units/reduce/reduce.h"

namespace ge_engines::cpu::native {

namespace {

class ReduceAxes final : public Loop {
 public:
  ReduceAxes(const Simd& simd, Reduce op, const Layout& x, const Dims& axes, const Layout& result)
      : simd_(simd), op_(op), padding_(result) {
    const Phys phys(x);
    for (const Phys::Axis& a : phys.axes) {
      if (a.dim == 1) continue;
      const bool reduced = std::find(axes.begin(), axes.end(), a.axis) != axes.end();
      const int64_t out = reduced ? 0 : a.inner ? 1 : result.stride[a.axis];
      if (reduced) count_ *= a.dim;
      total_ *= a.dim;
      if (!all_.empty() && all_.back().reduced == reduced &&
          all_.back().stride == a.stride * a.dim && (reduced || all_.back().out == out * a.dim)) {
        all_.back() = {all_.back().dim * a.dim, a.stride, out, reduced};
      } else {
        all_.push_back({a.dim, a.stride, out, reduced});
      }
    }
    if (all_.empty()) all_.push_back({1, 1, 1, false});
    inner_ = all_.back();
    all_.pop_back();
    for (const Axis& a : all_) (a.reduced ? reduced_ : kept_).push_back(a);
    // The kernel of a kept inner axis walks one reduced axis itself.
    if (!inner_.reduced && !reduced_.empty()) {
      rows_ = reduced_.back();
      reduced_.pop_back();
    }
    for (const Axis& a : kept_) n_kept_ *= a.dim;
    for (const Axis& a : reduced_) n_reduced_ *= a.dim;
  }

  void Run(float* const* p) const override {
    if (IsShort()) return RunShort(p);
    if (IsOneLongSum()) {
      LongSum(p[1], p[0]);
    } else {
      // Columns are shared, too: those of one matrix would keep one thread busy.
      const int64_t wide = inner_.reduced ? 1 : Columns();
      const int64_t blocks = inner_.reduced ? 1 : CeilDiv(inner_.dim, wide);
      ForRange(total_ > kParallel, n_kept_ * blocks, [&](int64_t k) {
        const auto [in, out] = Kept(k / blocks);
        One(p[1] + in, p[0] + out, k % blocks * wide, wide);
      });
    }
    padding_.Zero(p[0]);
  }

 private:
  struct Axis {
    int64_t dim = 1, stride = 0, out = 0;
    bool reduced = false;
  };

  // Sums of a few rows of a few numbers, along one axis: a call takes longer than the sums.
  bool IsShort() const {
    const bool sums = op_ == Reduce::kSum || op_ == Reduce::kMean;
    return sums && !inner_.reduced && reduced_.empty() && rows_.reduced && kept_.size() == 1 &&
           inner_.dim <= 4 && rows_.dim <= 16 && padding_.rows == 0;
  }
  void RunShort(float* const* p) const {
    const int64_t n = kept_[0].dim;
    ForRange(total_ > kParallel, CeilDiv(n, kShortRow), [&](int64_t i) {
      const int64_t first = i * kShortRow, end = std::min(n, first + kShortRow);
      switch (inner_.dim) {
        case 1:
          return SumShort<1>(p, first, end);
        case 2:
          return SumShort<2>(p, first, end);
        case 3:
          return SumShort<3>(p, first, end);
        default:
          return SumShort<4>(p, first, end);
      }
    });
  }
  template <int kWide>
  void SumShort(float* const* p, int64_t first, int64_t end) const {
    const double by = op_ == Reduce::kMean ? static_cast<double>(count_) : 1.0;
    for (int64_t k = first; k < end; ++k) {
      const float* x = p[1] + k * kept_[0].stride;
      double sum[kWide] = {};
      for (int64_t r = 0; r < rows_.dim; ++r, x += rows_.stride) {
        for (int j = 0; j < kWide; ++j) sum[j] += static_cast<double>(x[j]);
      }
      float* const y = p[0] + k * kept_[0].out;
      for (int j = 0; j < kWide; ++j) y[j] = static_cast<float>(sum[j] / by);
    }
  }

  // Where what is kept of number k begins: of x, of the result.
  std::pair<int64_t, int64_t> Kept(int64_t k) const {
    int64_t in = 0, out = 0;
    for (size_t i = kept_.size(); i-- > 0;) {
      in += k % kept_[i].dim * kept_[i].stride;
      out += k % kept_[i].dim * kept_[i].out;
      k /= kept_[i].dim;
    }
    return {in, out};
  }

  // Columns that one thread takes at once: fewer where there are more threads than such parts.
  int64_t Columns() const {
    int64_t wide = kColumns;
    while (wide > kFewColumns && n_kept_ * CeilDiv(inner_.dim, wide) < omp_get_max_threads()) {
      wide /= 2;
    }
    return wide;
  }

  // Means are divided in double, too: what 1 / n is rounded to would move all of them to one side.
  double By() const { return op_ == Reduce::kMean ? static_cast<double>(count_) : 1.0; }

  // Of columns, so many from the first on.
  void One(const float* x, float* y, int64_t first, int64_t wide) const {
    const int64_t n = inner_.reduced ? 1 : std::min(wide, inner_.dim - first);
    if (op_ == Reduce::kMax || op_ == Reduce::kMin) return Extremes(x + first, y + first, n);
    if (!inner_.reduced) return SumColumns(x, y, first, n);
    double sum = 0;
    ForReduced([&](int64_t in) { sum += SumRow(x + in, inner_.dim); });
    *y = static_cast<float>(sum / By());
  }

  // The sum of all that lies in one piece: shared by pieces whose number no thread count changes.
  bool IsOneLongSum() const {
    const bool sums = op_ == Reduce::kSum || op_ == Reduce::kMean;
    return sums && inner_.reduced && n_kept_ == 1 && n_reduced_ == 1 &&
           inner_.dim >= kLongSumPieces * kRowPiece;
  }
  void LongSum(const float* x, float* y) const {
    const int64_t each = CeilDiv(CeilDiv(inner_.dim, kLongSumPieces), kRowPiece) * kRowPiece;
    double sums[kLongSumPieces] = {};
    ForRange(total_ > kParallel, kLongSumPieces, [&](int64_t i) {
      const int64_t from = std::min(inner_.dim, i * each);
      const int64_t end = std::min(inner_.dim, from + each);
      if (from < end) sums[i] = SumRow(x + from, end - from);
    });
    double sum = 0;
    for (const double part : sums) sum += part;
    *y = static_cast<float>(sum / By());
  }

  template <class F>
  void ForReduced(F f) const {
    for (int64_t k = 0; k < n_reduced_; ++k) {
      int64_t in = 0, rest = k;
      for (size_t i = reduced_.size(); i-- > 0;) {
        in += rest % reduced_[i].dim * reduced_[i].stride;
        rest /= reduced_[i].dim;
      }
      f(in);
    }
  }

  // Short sums are formed in double, of long ones the sums of pieces are added so: either errs by
  // little more than the rounding of the result.
  double SumRow(const float* x, int64_t n) const {
    if (n <= kShortSum) return simd_.sum_double(x, n);
    double sum = 0;
    for (int64_t i = 0; i < n; i += kRowPiece) {
      sum += static_cast<double>(simd_.reduce(Reduce::kSum, x + i, std::min(kRowPiece, n - i)));
    }
    return sum;
  }
  // n <= kColumns columns from the first on.
  void SumColumns(const float* x, float* y, int64_t first, int64_t n) const {
    // In double or not as all columns near it: how many are taken at once changes no sum.
    const int64_t near = std::min(kColumns, inner_.dim - first / kColumns * kColumns);
    const bool few = rows_.dim <= kShortColumns / near;
    double sum[kColumns] = {};
    ForReduced([&](int64_t in) {
      const float* row = x + in + first;
      if (few) {
        for (int64_t r = 0; r < rows_.dim; ++r, row += rows_.stride) {
          for (int64_t j = 0; j < n; ++j) sum[j] += static_cast<double>(row[j]);
        }
        return;
      }
      for (int64_t r = 0; r < rows_.dim; r += kColumnPiece) {
        float part[kColumns] = {};
        simd_.reduce_rows(Reduce::kSum, row + r * rows_.stride,
                          std::min(kColumnPiece, rows_.dim - r), rows_.stride, part, n);
        for (int64_t j = 0; j < n; ++j) sum[j] += static_cast<double>(part[j]);
      }
    });
    for (int64_t j = 0; j < n; ++j) y[first + j] = static_cast<float>(sum[j] / By());
  }

  void Extremes(const float* x, float* y, int64_t n) const {
    if (inner_.reduced && reduced_.empty() && inner_.dim > 0) {
      *y = simd_.reduce(op_, x, inner_.dim);
      return;
    }
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    std::fill(y, y + n, op_ == Reduce::kMax ? -kInfinity : kInfinity);
    ForReduced([&](int64_t in) {
      if (inner_.reduced) {
        const float v = simd_.reduce(op_, x + in, inner_.dim);
        simd_.reduce_rows(op_, &v, 1, 1, y, 1);
      } else {
        simd_.reduce_rows(op_, x + in, rows_.dim, rows_.stride, y, n);
      }
    });
  }

  // Elements of a row, and of columns, that take little longer in double than the calls: 40 and 150
  // ns.
  static constexpr int64_t kShortSum = 256, kShortColumns = 1024;
  // Of a row, and of rows of so many columns: 4 to 8 additions in float32 one after another.
  static constexpr int64_t kRowPiece = 256, kColumnPiece = 32, kColumns = 128, kFewColumns = 32;
  static constexpr int64_t kLongSumPieces = 64;

  const Simd& simd_;
  Reduce op_;
  Padding padding_;
  std::vector<Axis> all_, kept_, reduced_;
  Axis inner_, rows_;
  int64_t n_kept_ = 1, n_reduced_ = 1, count_ = 1, total_ = 1;
};

}  // namespace

std::unique_ptr<Loop> ReduceLoop(const Simd& simd, Reduce op, const Layout& x, const Dims& axes,
                                 const Layout& result) {
  return std::make_unique<ReduceAxes>(simd, op, x, axes, result);
}

namespace {

class ReduceKind final : public KindOf<ReduceSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    return LoopPrice(unit, parser, machine, ByIsa(machine, 0.2, 0.2, 0.3));
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const ReduceSpec& spec = SpecOf(u);
    Rep x = b->Main(u.in[0]);
    const bool over_channels = std::find(spec.axes.begin(), spec.axes.end(), 1) != spec.axes.end();
    const bool usual = x.layout == Layout::Like(x.layout.dims(), x.layout);
    if ((x.layout.cblock > 0 && over_channels) || !usual || !spec.keep_dims)
      x = b->GetDense(u.in[0]);
    Dims kept = x.layout.dims();
    for (int64_t a : spec.axes) kept[static_cast<size_t>(a)] = 1;
    const Layout inside = Layout::Like(kept, x.layout);
    const Layout shown = inside.dense() ? Layout::Dense(u.dims) : inside;
    const Rep y = b->NewResult(u.out[0], shown);
    b->AddStep("reduce " + b->Sizes(x.layout.dims()),
               ReduceLoop(b->simd(), spec.reduce, x.layout, spec.axes, inside), {y.place, x.place});
    b->AddRep(u.out[0], y);
  }
};

const ReduceKind kReduceKind;
}  // namespace

GE_NATIVE_KINDS(reduce, &kReduceKind)

}  // namespace ge_engines::cpu::native
