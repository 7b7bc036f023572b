// Rows of gradients: of pooling, and of normalisation over channels.
#include "plugins/cpu/kit/simd/vector.h"

HWY_BEFORE_NAMESPACE();
namespace ge_cpu {
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

// Adds f(i) and g(i) over vectors of one row; what lies behind the last is 0 for both.
template <class Load>
GE_INLINE void TwoSums(int64_t n, float* first, float* second, Load load) {
  const Full d;
  V sum[2] = {hn::Zero(d), hn::Zero(d)}, more[2] = {hn::Zero(d), hn::Zero(d)};
  int64_t i = 0;
  for (; i + 2 * kMaxLanes <= n; i += 2 * kMaxLanes) {
    load(i, kMaxLanes, &sum[0], &sum[1]);
    load(i + kMaxLanes, kMaxLanes, &more[0], &more[1]);
  }
  for (; i < n; i += kMaxLanes) load(i, n - i < kMaxLanes ? n - i : kMaxLanes, &sum[0], &sum[1]);
  *first += hn::GetLane(hn::SumOfLanes(d, hn::Add(sum[0], more[0])));
  *second += hn::GetLane(hn::SumOfLanes(d, hn::Add(sum[1], more[1])));
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
    auto s = hn::LoadU(d, sum + i), q = hn::LoadU(d, square + i);
    const auto at = hn::LoadU(d, shift + i);
    for (int64_t r = 0; r < rows; ++r) {
      const auto v = hn::Sub(hn::LoadU(d, x + r * stride + i), at);
      s = hn::Add(s, v);
      q = hn::MulAdd(v, v, q);
    }
    hn::StoreU(s, d, sum + i);
    hn::StoreU(q, d, square + i);
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
    auto s = hn::LoadU(d, sum + i), q = hn::LoadU(d, product + i);
    const auto at = hn::LoadU(d, mean + i);
    for (int64_t r = 0; r < rows; ++r) {
      const auto g = hn::LoadU(d, dy + r * stride + i);
      s = hn::Add(s, g);
      q = hn::MulAdd(g, hn::Sub(hn::LoadU(d, x + r * stride + i), at), q);
    }
    hn::StoreU(s, d, sum + i);
    hn::StoreU(q, d, product + i);
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
}  // namespace ge_cpu
HWY_AFTER_NAMESPACE();
