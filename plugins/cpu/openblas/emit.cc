#include "plugins/cpu/openblas/emit.h"

#include <algorithm>
#include <climits>
#include <stdexcept>

#include "plugins/cpu/kit/conv_loop.h"
#include "plugins/cpu/kit/float_mode.h"
#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/thresholds.h"
#include "plugins/cpu/openblas/elimination.h"
#include "plugins/units/conv/conv.h"
#include "plugins/units/matmul/double_product.h"
#include "plugins/units/matmul/matmul.h"

namespace ge_engines::cpu::openblas {
namespace {

// Elements from the places to each product's matrices.
struct ProductAt {
  int64_t a = 0, b = 0, c = 0;
};

// Buffers: C, A, B. Several products of one shape.
template <class T>
class ProductWork final : public Loop {
 public:
  ProductWork(const Vendor& blas, const Product2<T>& shape, std::vector<ProductAt> each,
              int threads)
      : blas_(blas), shape_(shape), each_(std::move(each)), threads_(threads) {}

  void Run(float* const* p) const override {
    const auto n = static_cast<int64_t>(each_.size());
    // Two threads that share products lose less than two that share each one. Below this much a
    // fork does not pay: 64^3 multiply-adds take 3 us.
    const double macs = static_cast<double>(shape_.m) * shape_.n * shape_.k;
    const bool shared = threads_ > 1 && macs * static_cast<double>(n) > 64.0 * 64 * 64;
    if (shared && OnHostThreads()) return ShareOnHost(p, n, macs);
    if (shared && n >= threads_) return ShareProducts(p, n);
    for (int64_t i = 0; i < n; ++i) One(p, i);
  }

 private:
  // OpenBLAS sees that it is inside a region of libgomp's and uses one thread.
  void ShareProducts(float* const* p, int64_t n) const {
    OnThreads(threads_, [&] {
#pragma omp for schedule(static) nowait
      for (int64_t i = 0; i < n; ++i) One(p, i);
    });
  }

  // As many products for each thread, and of those that are left over (of three heads for two
  // threads the third) a strip each, where a strip is worth its packing.
  void ShareOnHost(float* const* p, int64_t n, double macs) const {
    const bool strips = n < threads_ || macs / threads_ > 64.0 * 64 * 16;
    const int64_t whole = strips ? n - n % threads_ : n;
    OnThreads(threads_, [&] {
#pragma omp for schedule(static) nowait
      for (int64_t i = 0; i < whole; ++i) One(p, i);
#pragma omp for schedule(static) nowait
      for (int64_t i = 0; i < (n - whole) * threads_; ++i) {
        const ProductAt& at = each_[static_cast<size_t>(whole + i / threads_)];
        shape_.RunStrip(blas_, static_cast<int>(i % threads_), threads_, Of(p[1]) + at.a,
                        Of(p[2]) + at.b, Of(p[0]) + at.c);
      }
    });
  }

  void One(float* const* p, int64_t i) const {
    const ProductAt& at = each_[static_cast<size_t>(i)];
    const T *a = Of(p[1]) + at.a, *b = Of(p[2]) + at.b;
    // The host's threads OpenBLAS does not know, and is told.
    OnHostThreads() ? shape_.RunAlone(blas_, a, b, Of(p[0]) + at.c)
                    : shape_.Run(blas_, a, b, Of(p[0]) + at.c);
  }

  static T* Of(float* place) { return reinterpret_cast<T*>(place); }

  const Vendor& blas_;
  Product2<T> shape_;
  std::vector<ProductAt> each_;
  int threads_;
};

// Buffers: y, c. y[i][j] = beta * c[i * row + j * column].
class Spread final : public Loop {
 public:
  Spread(int64_t m, int64_t n, double beta, int64_t row, int64_t column)
      : m_(m), n_(n), beta_(beta), row_(row), column_(column) {}
  void Run(float* const* p) const override {
    ForRange(m_ * n_ > kParallel, m_, [&](int64_t i) {
      double* y = reinterpret_cast<double*>(p[0]) + i * n_;
      const double* c = reinterpret_cast<const double*>(p[1]) + i * row_;
      for (int64_t j = 0; j < n_; ++j) y[j] = beta_ * c[j * column_];
    });
  }

 private:
  int64_t m_, n_;
  double beta_;
  int64_t row_, column_;
};

int ToInt(int64_t n) {
  if (n > INT_MAX) throw std::runtime_error("a matrix of more than 2^31 rows or columns");
  return static_cast<int>(n);
}

}  // namespace

void OpenblasBuilder::EmitMain(const Unit& unit) {
  if (const auto* conv = As<ConvSpec>(unit)) return EmitConv(unit, *conv);
  if (const auto* product = As<ProductSpec>(unit)) return EmitMatMul(unit, *product);
  if (const auto* product = As<DoubleProductSpec>(unit)) return EmitDoubles(unit, *product);
  if (const auto* spec = As<EliminationSpec>(unit)) return EmitElimination(unit, *spec);
  Builder::EmitMain(unit);
}

// ---- products ----------------------------------------------------------------------------------

bool OpenblasBuilder::Fits(const Side& side, int64_t rows, int64_t columns, bool* trans, int* ld) {
  auto plain = [](int64_t rows, int64_t columns, int64_t row, int64_t column) {
    return (column == 1 || columns == 1) && (row >= columns || rows == 1);
  };
  *trans = !plain(rows, columns, side.row, side.column);
  if (*trans && !plain(columns, rows, side.column, side.row)) return false;
  const int64_t inner = *trans ? rows : columns, outer = *trans ? columns : rows;
  const int64_t step = outer == 1 ? inner : *trans ? side.column : side.row;
  if (step > INT_MAX) return false;
  *ld = static_cast<int>(std::max(step, inner));
  return true;
}

OpenblasBuilder::Side OpenblasBuilder::Operand2(uint32_t value, bool transposed, bool fold,
                                                int64_t rows, int64_t columns, int rank) {
  for (const bool as_it_lies : {true, false}) {
    Side s;
    s.rep = as_it_lies ? Unblocked(value) : GetDense(value);
    Layout& l = s.rep.layout;
    if (!l.same_dims(Layout::Dense(p_.dims(value)))) continue;
    // 1s in front, so that batches line up.
    for (; l.rank < rank; ++l.rank) {
      std::copy_backward(l.dim, l.dim + l.rank, l.dim + l.rank + 1);
      std::copy_backward(l.stride, l.stride + l.rank, l.stride + l.rank + 1);
      l.dim[0] = 1;
      l.stride[0] = 0;
    }
    s.row = l.stride[l.rank - 2];
    s.column = l.stride[l.rank - 1];
    int64_t folded = l.dim[l.rank - 2];
    bool fits = true;
    for (int i = l.rank - 3; fold && i >= 0; --i) {
      if (l.dim[i] == 1) continue;
      if (folded == 1) s.row = l.stride[i];
      fits = fits && l.stride[i] == s.row * folded;
      folded *= l.dim[i];
    }
    if (transposed) std::swap(s.row, s.column);
    bool trans = false;
    int ld = 0;
    if (fits && Fits(s, rows, columns, &trans, &ld)) return s;
  }
  throw std::runtime_error("an operand that sgemm cannot read");
}

void OpenblasBuilder::EmitMatMul(const Unit& unit, const ProductSpec& product) {
  const Dims ad = p_.dims(unit.in[0]), bd = p_.dims(unit.in[1]);
  const int rank = static_cast<int>(unit.dims.size());
  const Dims batch_b(bd.begin(), bd.end() - 2);
  const bool fold = Product(batch_b) == 1 && !product.trans_a;
  Product2<float> s;
  const int64_t n = unit.dims.back(), k = bd[bd.size() - (product.trans_b ? 1 : 2)];
  const int64_t m = fold ? Product(unit.dims) / n : unit.dims[unit.dims.size() - 2];
  s.m = ToInt(m);
  s.n = ToInt(n);
  s.k = ToInt(k);
  s.ldc = s.n;
  const Side a = Operand2(unit.in[0], product.trans_a, fold, m, k, rank);
  const Side b = Operand2(unit.in[1], product.trans_b, false, k, n, rank);
  if (!Fits(a, m, k, &s.trans_a, &s.lda) || !Fits(b, k, n, &s.trans_b, &s.ldb)) {
    throw std::runtime_error("an operand that sgemm cannot read");
  }
  size_t from = 0;
  if (product.alpha != 1) {  // the parser's first post is this factor
    s.alpha = product.alpha;
    from = 1;
  }
  std::vector<ProductAt> each(1);
  if (!fold) {
    each.clear();
    const int64_t count = Product(unit.dims) / (m * n);
    for (int64_t i = 0; i < count; ++i) {
      ProductAt at;
      at.c = i * m * n;
      int64_t rest = i;
      for (int axis = rank - 3; axis >= 0; --axis) {
        const int64_t d = unit.dims[static_cast<size_t>(axis)], x = rest % d;
        rest /= d;
        if (a.rep.layout.dim[axis] != 1) at.a += x * a.rep.layout.stride[axis];
        if (b.rep.layout.dim[axis] != 1) at.b += x * b.rep.layout.stride[axis];
      }
      each.push_back(at);
    }
  }
  const BufferRef y = NewResult(unit.out[0], Layout::Dense(unit.dims)).place;
  const std::string label = "sgemm x" + std::to_string(each.size()) + " " + Sizes({m, n, k});
  AddStep(label, std::make_unique<ProductWork<float>>(vendor_, s, std::move(each), threads_),
          {y, a.rep.place, b.rep.place});
  FinishProduct(unit, from, y);
}

void OpenblasBuilder::EmitDoubles(const Unit& unit, const DoubleProductSpec& product) {
  const Dims ad = p_.dims(unit.in[0]), bd = p_.dims(unit.in[1]);
  ProductShape s = ShapeOfProduct(ad, bd, product);
  // Rows of a behind each other are one matrix, where all batches meet one b.
  if (Product(s.of_b) == 1 && !product.trans_a) {
    s.m *= Product(s.batch);
    s.batch.assign(s.batch.size(), 1);
  }
  Product2<double> one;
  one.trans_a = product.trans_a;
  one.trans_b = product.trans_b;
  one.m = ToInt(s.m);
  one.n = ToInt(s.n);
  one.k = ToInt(s.k);
  one.lda = product.trans_a ? one.m : one.k;
  one.ldb = product.trans_b ? one.k : one.n;
  one.ldc = one.n;
  one.alpha = product.alpha;
  std::vector<ProductAt> each;
  for (int64_t i = 0; i < Product(s.batch); ++i) {
    ProductAt at{0, 0, i * s.m * s.n};
    int64_t rest = i, step_a = s.m * s.k, step_b = s.k * s.n;
    for (size_t d = s.batch.size(); d-- > 0; rest /= s.batch[d]) {
      at.a += s.of_a[d] == 1 ? 0 : rest % s.batch[d] * step_a;
      at.b += s.of_b[d] == 1 ? 0 : rest % s.batch[d] * step_b;
      step_a *= s.of_a[d];
      step_b *= s.of_b[d];
    }
    each.push_back(at);
  }
  const BufferRef a = GetDense(unit.in[0]).place, b = GetDense(unit.in[1]).place;
  const Rep y = NewResult(unit.out[0], Plain(unit.out[0]));
  if (unit.in.size() > 2) {
    const Dims c = p_.dims(unit.in[2]);
    const int64_t columns = c.empty() ? 1 : c.back(), rows = c.size() < 2 ? 1 : c[0];
    AddStep("spread " + Sizes(c),
            std::make_unique<Spread>(s.m, s.n, product.beta, rows == 1 ? 0 : columns,
                                     columns == 1 ? 0 : 1),
            {y.place, GetDense(unit.in[2]).place});
    one.beta = 1;
  }
  AddStep("dgemm x" + std::to_string(each.size()) + " " + Sizes({s.m, s.n, s.k}),
          std::make_unique<ProductWork<double>>(vendor_, one, std::move(each), threads_),
          {y.place, a, b});
  AddRep(unit.out[0], y);
}

void OpenblasBuilder::EmitElimination(const Unit& unit, const EliminationSpec& spec) {
  const int threads = spec.count > 1 ? threads_ : 1;
  NeedWorkspace(EliminationBytes(spec) * static_cast<uint64_t>(threads));
  const BufferRef x = GetDense(unit.in[0]).place;
  const Rep y = NewResult(unit.out[0], Plain(unit.out[0]));
  const std::string what = spec.inverse ? "inverse x" : "determinant x";
  AddStep(what + std::to_string(spec.count) + " " + Sizes({spec.n, spec.n}),
          EliminationLoop(vendor_, spec, p_.dtype(unit.in[0]) == GE_F64, threads),
          {y.place, x, Workspace()});
  AddRep(unit.out[0], y);
}

// ---- convolutions ------------------------------------------------------------------------------

Im2colTiles Im2colTilesOf(const ConvShape& shape, int threads) {
  // What is gathered for a piece is read again at once, from the second cache (1.25 to 2 MiB on
  // today's servers) or from near there; below 128 columns OpenBLAS spends more than 8 % of its
  // time on bringing the weights in order, anew for each piece.
  return Im2colTiles(shape, threads, (2 << 20) / 4, 128);
}

bool CanConvolve(const ConvSpec& spec, int threads, Why* why) {
  const ConvShape s(spec);
  if (s.groups > 1 && s.in == 1) {
    return why->Say(GE_WHY_SHAPE, "depth-wise: a product of one channel is no product");
  }
  return s.how == ConvShape::kPlain || BuffersFit(Im2colTilesOf(s, threads).bytes(), threads, why);
}

void OpenblasBuilder::EmitConv(const Unit& unit, const ConvSpec& conv_spec) {
  const ConvShape s(conv_spec);
  const BufferRef w = GetDense(unit.in[1]).place;
  if (s.how != ConvShape::kPlain) {
    const char* label = s.how == ConvShape::kGather ? "im2col sgemm " : "sgemm col2im ";
    auto multiply = [vendor = &vendor_](const TileProduct& p, const float* a, const float* b,
                                        float* conv_spec) {
      Product2<float> one;
      one.trans_a = p.transposed;
      one.m = static_cast<int>(p.m);
      one.n = static_cast<int>(p.n);
      one.k = static_cast<int>(p.k);
      one.lda = static_cast<int>(p.lda);
      one.ldb = static_cast<int>(p.ldb);
      one.ldc = static_cast<int>(p.ldc);
      OnHostThreads() ? one.RunAlone(*vendor, a, b, conv_spec) : one.Run(*vendor, a, b, conv_spec);
    };
    EmitIm2col(unit, label, multiply, s, Im2colTilesOf(s, threads_), threads_, w, /*rows=*/false);
    return;
  }
  const BufferRef x = GetDense(unit.in[0]).place;
  const BufferRef y = NewResult(unit.out[0], Layout::Dense(unit.dims)).place;
  Product2<float> one;
  one.m = ToInt(s.out);
  one.n = ToInt(s.dst_pixels());
  one.k = ToInt(s.in);
  one.lda = one.k;
  one.ldb = one.n;
  one.ldc = one.n;
  std::vector<ProductAt> each;
  for (int64_t i = 0; i < s.images * s.groups; ++i) {
    each.push_back(
        {i % s.groups * s.out * s.in, i * s.in * s.dst_pixels(), i * s.out * s.dst_pixels()});
  }
  const std::string label = "conv sgemm x" + std::to_string(each.size()) + " " + Sizes(unit.dims);
  AddStep(label, std::make_unique<ProductWork<float>>(vendor_, one, std::move(each), threads_),
          {y, w, x});
  FinishProduct(unit, 0, y);
}

}  // namespace ge_engines::cpu::openblas
