// Rows of gradients: of pooling, and of normalisation over channels.
#include "plugins/cpu/kit/simd/vector.h"

HWY_BEFORE_NAMESPACE();
namespace ge_engines::cpu {
namespace GE_SIMD_ISA {
namespace {

using V = hn::Vec<Full>;

// Whether v is the greatest of its window, m, in which a NaN is greater than all.
template <class D, class W>
GE_INLINE auto IsGreatest(D, W v, W m) {
  return hn::Or(hn::Eq(v, m), hn::IsNaN(v));
}

}  // namespace

void PoolGradPairs(const float* x0, const float* x1, const float* dy, float* dx0, float* dx1,
                   int64_t n) {
  ForEach(n, [=](auto d, int64_t i) GE_LAMBDA {
    using W = hn::Vec<decltype(d)>;
    W a, b, c, e;
    hn::LoadInterleaved2(d, x0 + 2 * i, a, b);
    hn::LoadInterleaved2(d, x1 + 2 * i, c, e);
    const W m = MaxNan(MaxNan(a, b), MaxNan(c, e)), g = hn::LoadU(d, dy + i);
    const auto is_a = IsGreatest(d, a, m), is_b = IsGreatest(d, b, m), is_c = IsGreatest(d, c, m);
    const W ga = hn::IfThenElseZero(is_a, g), rest_a = hn::IfThenZeroElse(is_a, g);
    const W gb = hn::IfThenElseZero(is_b, rest_a), rest_b = hn::IfThenZeroElse(is_b, rest_a);
    const W gc = hn::IfThenElseZero(is_c, rest_b), ge = hn::IfThenZeroElse(is_c, rest_b);
    hn::StoreInterleaved2(ga, gb, d, dx0 + 2 * i);
    hn::StoreInterleaved2(gc, ge, d, dx1 + 2 * i);
  });
}

namespace {

// Images are summed in one order, however they lie: element i of a row is added to sum
// i % (2 kMaxLanes), those behind the last whole 2 kMaxLanes to sum i % kMaxLanes, and sums are
// then added up by halves. So a net that is computed again in another layout gives the same bits.
constexpr int64_t kRowSums = 2 * kMaxLanes;

GE_INLINE float ByHalves(V v) {
  const Full d;
  alignas(64) float sums[kMaxLanes];
  hn::Store(v, d, sums);
  for (int64_t half = kMaxLanes / 2; half > 0; half /= 2) {
    for (int64_t i = 0; i < half; ++i) sums[i] += sums[i + half];
  }
  return sums[0];
}

// Adds f(i) and g(i) over vectors of one row; what lies behind the last is 0 for both.
template <class Load>
GE_INLINE void TwoSums(int64_t n, float* first, float* second, Load load) {
  const Full d;
  V sum[2] = {hn::Zero(d), hn::Zero(d)}, more[2] = {hn::Zero(d), hn::Zero(d)};
  int64_t i = 0;
  for (; i + kRowSums <= n; i += kRowSums) {
    load(i, kMaxLanes, &sum[0], &sum[1]);
    load(i + kMaxLanes, kMaxLanes, &more[0], &more[1]);
  }
  for (; i < n; i += kMaxLanes) load(i, n - i < kMaxLanes ? n - i : kMaxLanes, &sum[0], &sum[1]);
  *first += ByHalves(hn::Add(sum[0], more[0]));
  *second += ByHalves(hn::Add(sum[1], more[1]));
}

// The same by column of rows: add(r, s, q) adds what a row brings to its two sums.
template <class D, class Add>
GE_INLINE void TwoSumsOfRows(D d, int64_t rows, float* first, float* second, Add add) {
  using W = hn::Vec<D>;
  constexpr int64_t kStep = kLanesOf<D>;
  alignas(64) float sums[2][kRowSums * kStep] = {};
  const auto to = [&](int64_t r, int64_t way) GE_LAMBDA {
    float *const a = sums[0] + way * kStep, *const b = sums[1] + way * kStep;
    W s = hn::Load(d, a), q = hn::Load(d, b);
    add(r, &s, &q);
    hn::Store(s, d, a);
    hn::Store(q, d, b);
  };
  int64_t r = 0;
  for (; r + kRowSums <= rows; r += kRowSums) {
    for (int64_t k = 0; k < kRowSums; ++k) to(r + k, k);
  }
  for (int64_t k = 0; r + k < rows; ++k) to(r + k, k % kMaxLanes);
  for (float* const of : {sums[0], sums[1]}) {
    for (int64_t half = kRowSums / 2; half > 0; half /= 2) {
      for (int64_t i = 0; i < half * kStep; i += kStep) {
        hn::Store(hn::Add(hn::Load(d, of + i), hn::Load(d, of + i + half * kStep)), d, of + i);
      }
    }
  }
  hn::StoreU(hn::Add(hn::LoadU(d, first), hn::Load(d, sums[0])), d, first);
  hn::StoreU(hn::Add(hn::LoadU(d, second), hn::Load(d, sums[1])), d, second);
}

GE_INLINE V LoadSome(const float* p, int64_t n, V fill) {
  const Full d;
  return n == kMaxLanes ? hn::LoadU(d, p) : LoadFirst(d, p, n, fill);
}

}  // namespace

void MomentSums(const float* x, float shift, int64_t n, float* sum, float* square) {
  const Full d;
  const V at = hn::Set(d, shift);
  TwoSums(n, sum, square, [=](int64_t i, int64_t lanes, V* s, V* q) GE_LAMBDA {
    const V v = hn::Sub(LoadSome(x + i, lanes, at), at);
    *s = hn::Add(*s, v);
    *q = hn::MulAdd(v, v, *q);
  });
}

void MomentRows(const float* x, int64_t rows, int64_t stride, const float* shift, float* sum,
                float* square, int64_t n) {
  ForEach(n, [=](auto d, int64_t i) GE_LAMBDA {
    using W = hn::Vec<decltype(d)>;
    const W at = hn::LoadU(d, shift + i);
    TwoSumsOfRows(d, rows, sum + i, square + i, [=](int64_t r, W* s, W* q) GE_LAMBDA {
      const W v = hn::Sub(hn::LoadU(d, x + r * stride + i), at);
      *s = hn::Add(*s, v);
      *q = hn::MulAdd(v, v, *q);
    });
  });
}

void SlopeSums(const float* dy, const float* x, float mean, int64_t n, float* sum, float* product) {
  const Full d;
  const V at = hn::Set(d, mean), zero = hn::Zero(d);
  TwoSums(n, sum, product, [=](int64_t i, int64_t lanes, V* s, V* q) GE_LAMBDA {
    const V g = LoadSome(dy + i, lanes, zero), v = LoadSome(x + i, lanes, at);
    *s = hn::Add(*s, g);
    *q = hn::MulAdd(g, hn::Sub(v, at), *q);
  });
}

void SlopeRows(const float* dy, const float* x, int64_t rows, int64_t stride, const float* mean,
               float* sum, float* product, int64_t n) {
  ForEach(n, [=](auto d, int64_t i) GE_LAMBDA {
    using W = hn::Vec<decltype(d)>;
    const W at = hn::LoadU(d, mean + i);
    TwoSumsOfRows(d, rows, sum + i, product + i, [=](int64_t r, W* s, W* q) GE_LAMBDA {
      const W g = hn::LoadU(d, dy + r * stride + i), v = hn::LoadU(d, x + r * stride + i);
      *s = hn::Add(*s, g);
      *q = hn::MulAdd(g, hn::Sub(v, at), *q);
    });
  });
}

void BlendRow(const float* p, const float* q, float a, float b, float c, float* y, int64_t n) {
  ForEach(n, [=](auto d, int64_t i) GE_LAMBDA {
    const auto v = hn::MulAdd(hn::LoadU(d, q + i), hn::Set(d, b), hn::Set(d, c));
    hn::StoreU(hn::MulAdd(hn::LoadU(d, p + i), hn::Set(d, a), v), d, y + i);
  });
}

void BlendRows(const float* p, const float* q, int64_t rows, int64_t stride, const float* a,
               const float* b, const float* c, float* y, int64_t n) {
  ForEach(n, [=](auto d, int64_t i) GE_LAMBDA {
    const auto av = hn::LoadU(d, a + i), bv = hn::LoadU(d, b + i), cv = hn::LoadU(d, c + i);
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t at = r * stride + i;
      const auto v = hn::MulAdd(hn::LoadU(d, q + at), bv, cv);
      hn::StoreU(hn::MulAdd(hn::LoadU(d, p + at), av, v), d, y + at);
    }
  });
}

}  // namespace GE_SIMD_ISA
}  // namespace ge_engines::cpu
HWY_AFTER_NAMESPACE();
