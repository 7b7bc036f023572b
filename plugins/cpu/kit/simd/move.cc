// Transposes, and linear interpolation of gathered elements and of rows.
#include "plugins/cpu/kit/simd/vector.h"
#include "plugins/cpu/kit/thresholds.h"

HWY_BEFORE_NAMESPACE();
namespace ge_engines::cpu {
namespace GE_SIMD_ISA {
namespace {

// Lanes 4i..4i+3 come from p + 4i * ld: four columns of as many rows as there are lanes, every
// fourth row from p on.
template <class D>
GE_INLINE hn::Vec<D> LoadQuads(D d, const float* p, int64_t ld) {
  if constexpr (kLanesOf<D> == 4) {
    return hn::LoadU(d, p);
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, LoadQuads(half, p + kLanesOf<D> / 2 * ld, ld), LoadQuads(half, p, ld));
  }
}

// As many rows as d has lanes, four columns.
template <class D>
GE_INLINE void Tile(D d, const float* x, int64_t ldx, float* y, int64_t ldy) {
  const hn::RepartitionToWide<D> wide;
  const auto a = LoadQuads(d, x, ldx), b = LoadQuads(d, x + ldx, ldx);
  const auto c = LoadQuads(d, x + 2 * ldx, ldx), e = LoadQuads(d, x + 3 * ldx, ldx);
  const auto ab0 = hn::BitCast(wide, hn::InterleaveLower(d, a, b));
  const auto ab1 = hn::BitCast(wide, hn::InterleaveUpper(d, a, b));
  const auto ce0 = hn::BitCast(wide, hn::InterleaveLower(d, c, e));
  const auto ce1 = hn::BitCast(wide, hn::InterleaveUpper(d, c, e));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(wide, ab0, ce0)), d, y);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(wide, ab0, ce0)), d, y + ldy);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(wide, ab1, ce1)), d, y + 2 * ldy);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(wide, ab1, ce1)), d, y + 3 * ldy);
}

// Columns [0, cols), cols >= 4, of one band of rows; the last tile may overlap the one before it.
template <class D>
GE_INLINE void Band(D d, const float* x, int64_t ldx, float* y, int64_t ldy, int64_t cols) {
  int64_t c = 0;
  for (; c + 4 <= cols; c += 4) Tile(d, x + c, ldx, y + c * ldy, ldy);
  if (c < cols) Tile(d, x + cols - 4, ldx, y + (cols - 4) * ldy, ldy);
}

// Few rows: they interleave in y. Few columns: they are dealt out of x.
GE_INLINE void FewRows(const float* x, int64_t ldx, float* y, int64_t ldy, int64_t rows,
                       int64_t cols) {
  const Full d;
  int64_t c = 0;
  if (rows == 1 && ldy == 1) {
    ForEach(cols, [=](auto p, int64_t i) GE_LAMBDA { hn::StoreU(hn::LoadU(p, x + i), p, y + i); });
    return;
  }
  if (rows == ldy) {
    for (; c + kMaxLanes <= cols && rows == 2; c += kMaxLanes) {
      hn::StoreInterleaved2(hn::LoadU(d, x + c), hn::LoadU(d, x + ldx + c), d, y + c * 2);
    }
    for (; c + kMaxLanes <= cols && rows == 3; c += kMaxLanes) {
      hn::StoreInterleaved3(hn::LoadU(d, x + c), hn::LoadU(d, x + ldx + c),
                            hn::LoadU(d, x + 2 * ldx + c), d, y + c * 3);
    }
  }
  for (; c < cols; ++c) {
    for (int64_t r = 0; r < rows; ++r) y[c * ldy + r] = x[r * ldx + c];
  }
}
GE_INLINE void FewColumns(const float* x, int64_t ldx, float* y, int64_t ldy, int64_t rows,
                          int64_t cols) {
  const Full d;
  int64_t r = 0;
  if (cols == ldx) {
    hn::Vec<Full> a, b, c;
    for (; r + kMaxLanes <= rows && cols == 2; r += kMaxLanes) {
      hn::LoadInterleaved2(d, x + r * 2, a, b);
      hn::StoreU(a, d, y + r);
      hn::StoreU(b, d, y + ldy + r);
    }
    for (; r + kMaxLanes <= rows && cols == 3; r += kMaxLanes) {
      hn::LoadInterleaved3(d, x + r * 3, a, b, c);
      hn::StoreU(a, d, y + r);
      hn::StoreU(b, d, y + ldy + r);
      hn::StoreU(c, d, y + 2 * ldy + r);
    }
  }
  for (; r < rows; ++r) {
    for (int64_t c = 0; c < cols; ++c) y[c * ldy + r] = x[r * ldx + c];
  }
}

float Lerp(float a, float b, float t) { return (1 - t) * a + t * b; }

}  // namespace

void Transpose(const float* x, int64_t ldx, float* y, int64_t ldy, int64_t rows, int64_t cols) {
  if (rows < 4) return FewRows(x, ldx, y, ldy, rows, cols);
  if (cols < 4) return FewColumns(x, ldx, y, ldy, rows, cols);
  // Blocks of columns, so that the lines of y which a band begins stay in the first cache until
  // the next band ends them.
  for (int64_t at = 0; at < cols;) {
    const int64_t left = cols - at;
    const int64_t n = left < kTransposeColumns + 4 ? left : kTransposeColumns;
    const float* p = x + at;
    float* q = y + at * ldy;
    const Full d;
    const Part<4> four;
    int64_t r = 0;
    for (; r + kMaxLanes <= rows; r += kMaxLanes) Band(d, p + r * ldx, ldx, q + r, ldy, n);
    for (; r + 4 <= rows; r += 4) Band(four, p + r * ldx, ldx, q + r, ldy, n);
    if (r < rows) Band(four, p + (rows - 4) * ldx, ldx, q + rows - 4, ldy, n);
    at += n;
  }
}

void WeighRows(const float* const* x, const float* w, int64_t rows, float* y, int64_t n) {
  ForEach(n, [=](auto d, int64_t i) GE_LAMBDA {
    auto sum = hn::Zero(d);
    for (int64_t r = 0; r < rows; ++r) {
      sum = hn::MulAdd(hn::Set(d, w[r]), hn::LoadU(d, x[r] + i), sum);
    }
    hn::StoreU(sum, d, y + i);
  });
}

// Where indices lie close together, as they do when a row grows, one load and two permutations make
// a vector. Otherwise lane by lane: gathers of these sets take as long or longer (AVX2: twice).
void GatherLerp(const float* x, [[maybe_unused]] int64_t width, const int32_t* i0,
                const int32_t* i1, const float* t, float* y, int64_t n) {
  int64_t i = 0;
#if HWY_TARGET <= HWY_AVX2
  const Full d;
  const IntsOf<Full> di;
  const hn::RebindToUnsigned<Full> du;
  for (; i + kMaxLanes <= n; i += kMaxLanes) {
    const int64_t last = width - kMaxLanes;  // where a whole vector can be loaded
    const int64_t base = i0[i] < last ? i0[i] : last;
    const auto rebase = hn::Set(di, static_cast<int32_t>(base));
    const auto p = hn::Sub(hn::LoadU(di, i0 + i), rebase);
    const auto q = hn::Sub(hn::LoadU(di, i1 + i), rebase);
    const auto span = hn::BitCast(du, hn::Or(p, q));
    const auto lanes = hn::Set(du, static_cast<uint32_t>(kMaxLanes));  // a power of two
    if (last < 0 || !hn::AllTrue(du, hn::Lt(span, lanes))) {
      for (int64_t k = i; k < i + kMaxLanes; ++k) y[k] = Lerp(x[i0[k]], x[i1[k]], t[k]);
      continue;
    }
    const auto v = hn::LoadU(d, x + base);
    const auto a = hn::TableLookupLanes(v, hn::IndicesFromVec(d, p));
    const auto b = hn::TableLookupLanes(v, hn::IndicesFromVec(d, q));
    const auto f = hn::LoadU(d, t + i);
    hn::StoreU(hn::MulAdd(f, b, hn::Mul(hn::Sub(hn::Set(d, 1.0f), f), a)), d, y + i);
  }
#endif
  for (; i < n; ++i) {
    y[i] = Lerp(x[i0[i]], x[i1[i]], t[i]);
  }
}

}  // namespace GE_SIMD_ISA
}  // namespace ge_engines::cpu
HWY_AFTER_NAMESPACE();
