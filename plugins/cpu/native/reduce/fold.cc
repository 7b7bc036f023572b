// Reductions of integers, and those of float32 that are summed or multiplied in double.
#include "plugins/units/reduce/fold.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/price.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/price.h"

namespace ge_engines::cpu::native {

namespace {

constexpr int64_t kFoldColumns = 512;            // that are folded at once
constexpr int64_t kFoldRoom = kFoldColumns * 8;  // bytes of their accumulators

ColumnFold ColumnFoldOf(FoldOp op, int32_t dtype) {
  const bool real = dtype == GE_F32;
  switch (op) {
    case FoldOp::kMax:
      return ColumnFold::kMax;
    case FoldOp::kMin:
      return ColumnFold::kMin;
    case FoldOp::kProd:
      return ColumnFold::kProduct;
    case FoldOp::kL1:
      return ColumnFold::kAbsSum;
    case FoldOp::kL2:
      return real ? ColumnFold::kSquareSum : ColumnFold::kDoubleSquares;
    case FoldOp::kSumSquare:
      return ColumnFold::kSquareSum;
    case FoldOp::kLogSum:
      return real ? ColumnFold::kSum : ColumnFold::kDoubleSum;
    case FoldOp::kMean:
      return dtype == GE_I32 || dtype == GE_U32 ? ColumnFold::kWideSum : ColumnFold::kSum;
    case FoldOp::kSum:
      return ColumnFold::kSum;
  }
  return ColumnFold::kSum;
}

// The dtype of a fold's accumulators, and the fold that brings two of them together.
int32_t AccumulatorOf(ColumnFold fold, int32_t dtype) {
  if (fold == ColumnFold::kWideSum) return GE_I64;
  const bool real = fold == ColumnFold::kDoubleSum || fold == ColumnFold::kDoubleSquares;
  return real || dtype == GE_F32 ? int32_t{GE_F64} : dtype;
}
ColumnFold JoiningFold(ColumnFold fold) {
  const bool itself =
      fold == ColumnFold::kMax || fold == ColumnFold::kMin || fold == ColumnFold::kProduct;
  return itself ? fold : ColumnFold::kSum;
}

// use(T()) for the type of a dtype of accumulators or elements.
template <class Use>
void OfFoldType(int32_t dtype, Use use) {
  switch (dtype) {
    case GE_I8:
      return use(int8_t());
    case GE_U8:
    case GE_BOOL:
      return use(uint8_t());
    case GE_I32:
      return use(int32_t());
    case GE_U32:
      return use(uint32_t());
    case GE_I64:
      return use(int64_t());
    case GE_U64:
      return use(uint64_t());
    case GE_F32:
      return use(float());
    default:
      return use(double());
  }
}

template <class T>
T CutTo(double v) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(v);
  } else {
    if constexpr (std::is_same_v<T, uint64_t>) {
      if (v >= 0x1p63 && v < 0x1p64) return static_cast<uint64_t>(v);
    }
    const bool fits = v >= -0x1p63 && v < 0x1p63;
    const int64_t i = fits ? static_cast<int64_t>(v) : std::numeric_limits<int64_t>::min();
    return static_cast<T>(static_cast<uint64_t>(i));
  }
}

class FoldedAxes final : public Loop {
 public:
  FoldedAxes(const Simd& simd, const FoldSpec& spec, int32_t dtype, const Dims& x)
      : simd_(simd), op_(spec.op), dtype_(dtype), fold_(ColumnFoldOf(spec.op, dtype)) {
    acc_dtype_ = AccumulatorOf(fold_, dtype);
    size_ = static_cast<int>(gp::ElementBits(dtype) / 8);
    acc_size_ = static_cast<int>(gp::ElementBits(acc_dtype_) / 8);
    std::vector<FoldAxis> all;
    int64_t stride = Product(x);
    total_ = stride;
    for (size_t k = 0; k < x.size(); ++k) {
      stride /= x[k];
      const bool reduced =
          std::find(spec.axes.begin(), spec.axes.end(), static_cast<int64_t>(k)) != spec.axes.end();
      if (reduced) count_ *= x[k];
      if (x[k] == 1) continue;
      if (!all.empty() && all.back().reduced == reduced) {
        all.back() = {all.back().dim * x[k], stride, reduced};
      } else {
        all.push_back({x[k], stride, reduced});
      }
    }
    // Along the last axis: columns of one element.
    if (!all.empty() && !all.back().reduced) {
      columns_ = all.back().dim;
      all.pop_back();
    }
    for (const FoldAxis& a : all) (a.reduced ? reduced_ : kept_).push_back(a);
    if (!reduced_.empty()) {
      rows_ = reduced_.back();
      reduced_.pop_back();
    }
    for (const FoldAxis& a : kept_) n_kept_ *= a.dim;
    for (const FoldAxis& a : reduced_) n_reduced_ *= a.dim;
  }

  void Run(float* const* p) const override {
    const auto* x = reinterpret_cast<const char*>(p[1]);
    auto* y = reinterpret_cast<char*>(p[0]);
    const bool parallel = total_ * size_ > kParallelBytes;
    const int64_t blocks = CeilDiv(columns_, kFoldColumns), units = n_kept_ * blocks;
    const bool cut = units < kFewUnits && total_ * size_ > kParallelBytes && rows_.dim >= kCuts;
    ForRange(parallel && !cut, units, [&](int64_t i) {
      const int64_t first = i % blocks * kFoldColumns;
      const int64_t n = std::min(kFoldColumns, columns_ - first);
      const char* from = x + (At(kept_, i / blocks) + first) * size_;
      alignas(64) char acc[kFoldRoom];
      if (cut) {
        FoldCut(from, n, acc);
      } else {
        Start(acc, n);
        FoldAll(from, 0, rows_.dim, n, acc);
      }
      Finish(acc, y + (i / blocks * columns_ + first) * size_, n);
    });
  }

 private:
  struct FoldAxis {
    int64_t dim = 1, stride = 0;
    bool reduced = false;
  };
  // Folds that few share are cut into so many, whatever the threads.
  static constexpr int64_t kFewUnits = 8, kCuts = 16;
  static constexpr int64_t kNarrow = 32, kLanes = 64;

  static int64_t At(const std::vector<FoldAxis>& axes, int64_t k) {
    int64_t at = 0;
    for (size_t i = axes.size(); i-- > 0; k /= axes[i].dim) at += k % axes[i].dim * axes[i].stride;
    return at;
  }

  void Start(char* acc, int64_t n) const {
    OfFoldType(acc_dtype_, [&](auto t) {
      using A = decltype(t);
      A start = fold_ == ColumnFold::kProduct ? A(1) : A(0);
      if (fold_ == ColumnFold::kMax) start = std::numeric_limits<A>::lowest();
      if (fold_ == ColumnFold::kMin) start = std::numeric_limits<A>::max();
      std::fill_n(reinterpret_cast<A*>(acc), n, start);
    });
  }

  // The pieces of the rows side by side, then one after the other.
  void FoldCut(const char* x, int64_t n, char* acc) const {
    std::vector<char> parts(static_cast<size_t>(kCuts * n * acc_size_));
    const int64_t each = CeilDiv(rows_.dim, kCuts);
    ForRange(true, kCuts, [&](int64_t i) {
      alignas(64) char own[kFoldRoom];
      Start(own, n);
      const int64_t first = std::min(rows_.dim, i * each);
      FoldAll(x, first, std::min(rows_.dim, first + each), n, own);
      std::memcpy(parts.data() + i * n * acc_size_, own, static_cast<size_t>(n * acc_size_));
    });
    Start(acc, n);
    simd_.fold_columns(JoiningFold(fold_), acc_dtype_, parts.data(), kCuts, n, acc, n);
  }

  void FoldAll(const char* x, int64_t first, int64_t end, int64_t n, char* acc) const {
    for (int64_t r = 0; r < n_reduced_; ++r) {
      FoldRowsOf(x + (At(reduced_, r) + first * rows_.stride) * size_, end - first, n, acc);
    }
  }

  // Narrow rows without gaps are taken several at a time.
  void FoldRowsOf(const char* x, int64_t rows, int64_t n, char* acc) const {
    // Sums of doubles along a row would wait for each other.
    const bool row = n == 1 && acc_dtype_ != GE_F64 && acc_dtype_ == dtype_;
    if (rows_.stride != n || n >= kNarrow || rows < 2 || row) {
      return simd_.fold_columns(fold_, dtype_, x, rows, rows_.stride, acc, n);
    }
    const int64_t together = std::min(rows, kLanes / n), wide = together * n;
    const int64_t turns = rows / together, rest = rows % together * n;
    alignas(64) char own[kLanes * 8];
    Start(own, wide);
    simd_.fold_columns(fold_, dtype_, x, turns, wide, own, wide);
    simd_.fold_columns(fold_, dtype_, x + turns * wide * size_, 1, wide, own, rest);
    simd_.fold_columns(JoiningFold(fold_), acc_dtype_, own, together, n, acc, n);
  }

  void Finish(const char* acc, char* y, int64_t n) const {
    OfFoldType(dtype_, [&](auto t) {
      using T = decltype(t);
      OfFoldType(acc_dtype_, [&](auto a) {
        for (int64_t j = 0; j < n; ++j) {
          reinterpret_cast<T*>(y)[j] = Finished<T>(reinterpret_cast<const decltype(a)*>(acc)[j]);
        }
      });
    });
  }
  template <class T, class A>
  T Finished(A acc) const {
    if (dtype_ == GE_BOOL) return static_cast<T>(acc != A(0));
    if constexpr (std::is_floating_point_v<A>) {
      const double v = op_ == FoldOp::kL2       ? std::sqrt(acc)
                       : op_ == FoldOp::kLogSum ? std::log(acc)
                                                : acc;
      return CutTo<T>(v);
    } else {
      return static_cast<T>(op_ == FoldOp::kMean ? acc / static_cast<A>(count_) : acc);
    }
  }

  const Simd& simd_;
  FoldOp op_;
  int32_t dtype_, acc_dtype_ = 0;
  ColumnFold fold_;
  int size_ = 1, acc_size_ = 1;  // bytes of an element, of an accumulator
  std::vector<FoldAxis> kept_, reduced_;
  FoldAxis rows_{1, 0, true};
  int64_t columns_ = 1, n_kept_ = 1, n_reduced_ = 1, count_ = 1, total_ = 1;
};

class FoldKind final : public KindOf<FoldSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    const Dims x = parser.dims(unit.in[0]);
    const double n = static_cast<double>(Product(x)), y = static_cast<double>(Product(unit.dims));
    const int32_t dtype = parser.dtype(unit.in[0]);
    const ColumnFold fold = ColumnFoldOf(SpecOf(unit).op, dtype);
    const bool real = AccumulatorOf(fold, dtype) == GE_F64;
    const bool last = !SpecOf(unit).axes.empty() &&
                      SpecOf(unit).axes.back() + 1 == static_cast<int64_t>(x.size());
    const int size = parser.size(unit.in[0]);
    const double ns = real ? ByIsa(machine, 0.15, 0.25, 0.5)
                           : size * ByIsa(machine, 0.02, 0.025, size == 8 ? 0.1 : 0.05);
    return WorkPrice(unit, parser, machine, {n * ns + y * (last ? 60 : 1), {}, n});
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    b->AddPlain(u, "fold",
                std::make_unique<FoldedAxes>(b->simd(), SpecOf(u), b->parser().dtype(u.in[0]),
                                             b->parser().dims(u.in[0])),
                {b->GetDense(u.in[0]).place});
  }
};

const FoldKind kFoldKind;
}  // namespace

GE_NATIVE_KINDS(fold, &kFoldKind)

}  // namespace ge_engines::cpu::native
