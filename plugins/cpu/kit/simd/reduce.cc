// Sums, extremes, and softmax and normalization over them.
#include <algorithm>
#include <limits>

#include "plugins/cpu/kit/simd/vector.h"
#include "plugins/cpu/kit/thresholds.h"

HWY_BEFORE_NAMESPACE();
namespace ge_engines::cpu {
namespace GE_SIMD_ISA {
namespace {

using V = hn::Vec<Full>;

// Partial sums: at least 32 of them, so that a long row loses little, and enough to keep two adders
// of 4 cycles busy.
constexpr int64_t kWays = kMaxLanes == 4 ? 8 : 4;

// Sum over i of f(lanes of x), where f(fill) is 0.
template <class F>
GE_INLINE float SumOf(const float* x, int64_t n, float fill, F f) {
  const Full d;
  V part[kWays];
  for (V& p : part) p = hn::Zero(d);
  int64_t i = 0;
  for (; i + kWays * kMaxLanes <= n; i += kWays * kMaxLanes) {
    for (int64_t k = 0; k < kWays; ++k) part[k] = f(hn::LoadU(d, x + i + k * kMaxLanes), part[k]);
  }
  for (int64_t k = 0; i + kMaxLanes <= n; i += kMaxLanes, k = (k + 1) % kWays) {
    part[k] = f(hn::LoadU(d, x + i), part[k]);
  }
  if (i < n) part[kWays - 1] = f(LoadFirst(d, x + i, n - i, hn::Set(d, fill)), part[kWays - 1]);
  for (int64_t w = kWays / 2; w > 0; w /= 2) {
    for (int64_t k = 0; k < w; ++k) part[k] = hn::Add(part[k], part[k + w]);
  }
  return hn::GetLane(hn::SumOfLanes(d, part[0]));
}
GE_INLINE float Sum(const float* x, int64_t n) {
  return SumOf(x, n, 0.0f, [](V v, V sum) GE_LAMBDA { return hn::Add(sum, v); });
}

// f is Max or Min of x86, which forgets a NaN. Sums beside it do not, but inf - inf is one as well:
// when a sum is NaN the row is looked through.
template <class F>
GE_INLINE V ExtremeLanes(const float* x, int64_t n, F f) {
  const Full d;
  constexpr int kParts = 4;
  const V first = hn::Set(d, x[0]);
  V part[kParts] = {first, first, first, first};
  V sum[kParts] = {first, first, first, first};
  int64_t i = 0;
  for (; i + kParts * kMaxLanes <= n; i += kParts * kMaxLanes) {
    for (int64_t k = 0; k < kParts; ++k) {
      V v = hn::LoadU(d, x + i + k * kMaxLanes);
      __asm__("" : "+v"(v.raw));  // or GCC loads it twice
      part[k] = f(part[k], v);
      sum[k] = hn::Add(sum[k], v);
    }
  }
  for (; i < n; i += kMaxLanes) {
    const V v = n - i >= kMaxLanes ? hn::LoadU(d, x + i) : LoadFirst(d, x + i, n - i, first);
    part[0] = f(part[0], v);
    sum[0] = hn::Add(sum[0], v);
  }
  const V all = f(f(part[0], part[1]), f(part[2], part[3]));
  const V doubt = hn::Add(hn::Add(sum[0], sum[1]), hn::Add(sum[2], sum[3]));
  if (hn::AllFalse(d, hn::IsNaN(doubt))) return all;
  for (i = 0; i < n; ++i) {
    if (x[i] != x[i]) return hn::Set(d, x[i]);
  }
  return all;
}
GE_INLINE float Greatest(const float* x, int64_t n) {
  const Full d;
  const V v = ExtremeLanes(x, n, [](V p, V q) GE_LAMBDA { return hn::Max(p, q); });
  return hn::GetLane(hn::MaxOfLanes(d, v));
}
GE_INLINE float Least(const float* x, int64_t n) {
  const Full d;
  const V v = ExtremeLanes(x, n, [](V p, V q) GE_LAMBDA { return hn::Min(p, q); });
  return hn::GetLane(hn::MinOfLanes(d, v));
}

// kVectors columns of vectors stay in registers while `rows` rows go by; sums in four turns, so
// that one of many rows loses little.
template <int kVectors, bool kSum, class D, class F>
GE_INLINE void Strip(D d, const float* x, int64_t rows, int64_t stride, float* acc, F f) {
  constexpr int64_t kN = kLanesOf<D>;
  constexpr int kTurns = kSum ? 4 : 1;
  hn::Vec<D> part[kTurns][kVectors];
  for (int j = 0; j < kVectors; ++j) {
    for (int t = 0; t < kTurns; ++t) {
      part[t][j] = kSum ? hn::Zero(d) : hn::LoadU(d, acc + j * kN);
    }
  }
  int64_t r = 0;
  for (; r + kTurns <= rows; r += kTurns) {
    for (int t = 0; t < kTurns; ++t) {
      for (int j = 0; j < kVectors; ++j) {
        part[t][j] = f(part[t][j], hn::LoadU(d, x + (r + t) * stride + j * kN));
      }
    }
  }
  for (; r < rows; ++r) {
    for (int j = 0; j < kVectors; ++j) {
      part[0][j] = f(part[0][j], hn::LoadU(d, x + r * stride + j * kN));
    }
  }
  for (int j = 0; j < kVectors; ++j) {
    hn::Vec<D> all = part[0][j];
    if constexpr (kSum) {
      all = hn::Add(hn::Add(all, part[1][j]), hn::Add(part[2][j], part[3][j]));
      all = hn::Add(hn::LoadU(d, acc + j * kN), all);
    }
    hn::StoreU(all, d, acc + j * kN);
  }
}

template <bool kSum, class F>
GE_INLINE void Strips(const float* x, int64_t rows, int64_t stride, float* acc, int64_t n, F f) {
  // Sums keep 4 of these per vector; an extreme needs 8 to hide its three operations' latency.
  constexpr int kVectors = kSum ? 2 : 8;
  const Full d;
  int64_t i = 0;
  for (; i + kVectors * kMaxLanes <= n; i += kVectors * kMaxLanes) {
    Strip<kVectors, kSum>(d, x + i, rows, stride, acc + i, f);
  }
  for (; i + kMaxLanes <= n; i += kMaxLanes) {
    Strip<1, kSum>(d, x + i, rows, stride, acc + i, f);
  }
  Rest<kMaxLanes / 2>(i, n, [=](auto part, int64_t at) GE_LAMBDA {
    Strip<1, kSum>(part, x + at, rows, stride, acc + at, f);
  });
}

}  // namespace

float ReduceRow(Reduce op, const float* x, int64_t n) {
  if (op == Reduce::kMax) return Greatest(x, n);
  if (op == Reduce::kMin) return Least(x, n);
  return Sum(x, n);
}

double SumDouble(const float* x, int64_t n) {
  constexpr int64_t kLanes = HWY_LANES(double);
  const hn::Simd<double, HWY_LANES(double), 0> d;
  const hn::Rebind<float, decltype(d)> f;
  constexpr int kParts = 4;
  hn::Vec<decltype(d)> part[kParts];
  for (auto& p : part) p = hn::Zero(d);
  int64_t i = 0;
  for (; i + kParts * kLanes <= n; i += kParts * kLanes) {
    for (int k = 0; k < kParts; ++k) {
      part[k] = hn::Add(part[k], hn::PromoteTo(d, hn::LoadU(f, x + i + k * kLanes)));
    }
  }
  for (; i + kLanes <= n; i += kLanes) {
    part[0] = hn::Add(part[0], hn::PromoteTo(d, hn::LoadU(f, x + i)));
  }
  const auto all = hn::Add(hn::Add(part[0], part[1]), hn::Add(part[2], part[3]));
  double sum = hn::GetLane(hn::SumOfLanes(d, all));
  for (; i < n; ++i) sum += static_cast<double>(x[i]);
  return sum;
}

void ReduceRows(Reduce op, const float* x, int64_t rows, int64_t stride, float* acc, int64_t n) {
  if (op == Reduce::kMax) {
    return Strips<false>(x, rows, stride, acc, n,
                         [](auto a, auto v) GE_LAMBDA { return MaxNan(v, a); });
  }
  if (op == Reduce::kMin) {
    return Strips<false>(x, rows, stride, acc, n,
                         [](auto a, auto v) GE_LAMBDA { return MinNan(v, a); });
  }
  for (int64_t r = 0; r < rows; r += kSumRows) {
    const int64_t m = rows - r < kSumRows ? rows - r : kSumRows;
    Strips<true>(x + r * stride, m, stride, acc, n,
                 [](auto a, auto v) GE_LAMBDA { return hn::Add(a, v); });
  }
}

namespace {

// y[i] = e^(x[i] - top), and their sum. n > 0; y may be x.
GE_INLINE float Exponentials(const float* x, float* y, int64_t n, float greatest) {
  const Full d;
  V part[4];
  for (V& p : part) p = hn::Zero(d);
  float rest = 0;
  const V top = hn::Set(d, greatest);
  int64_t i = 0;
  for (; i + 4 * kMaxLanes <= n; i += 4 * kMaxLanes) {
    for (int64_t k = 0; k < 4; ++k) {
      const V e = Exp(d, hn::Sub(hn::LoadU(d, x + i + k * kMaxLanes), top));
      hn::StoreU(e, d, y + i + k * kMaxLanes);
      part[k] = hn::Add(part[k], e);
    }
  }
  for (; i + kMaxLanes <= n; i += kMaxLanes) {
    const V e = Exp(d, hn::Sub(hn::LoadU(d, x + i), top));
    hn::StoreU(e, d, y + i);
    part[0] = hn::Add(part[0], e);
  }
  Rest<kMaxLanes / 2>(i, n, [=, &rest](auto p, int64_t at) GE_LAMBDA {
    const auto e = Exp(p, hn::Sub(hn::LoadU(p, x + at), hn::Set(p, greatest)));
    hn::StoreU(e, p, y + at);
    rest += hn::GetLane(hn::SumOfLanes(p, e));
  });
  const V all = hn::Add(hn::Add(part[0], part[1]), hn::Add(part[2], part[3]));
  return hn::GetLane(hn::SumOfLanes(d, all)) + rest;
}

}  // namespace

void Softmax(const float* x, float* y, int64_t n) {
  if (n <= 0) return;
  const float scale = 1.0f / Exponentials(x, y, n, Greatest(x, n));
  ForEach(n, [=](auto p, int64_t at) GE_LAMBDA {
    hn::StoreU(hn::Mul(hn::LoadU(p, y + at), hn::Set(p, scale)), p, y + at);
  });
}

float SoftmaxMore(float* x, int64_t n, float* top, float* sum) {
  constexpr float kNothing = -std::numeric_limits<float>::infinity();
  const float here = Greatest(x, n), most = here <= *top ? *top : here;  // NaN is taken
  if (most == kNothing) {
    std::fill(x, x + n, 0.0f);
    return 1;
  }
  const float before = *top == most ? 1 : std::exp(*top - most);
  *top = most;
  *sum = *sum * before + Exponentials(x, x, n, most);
  return before;
}

void RmsNorm(const float* x, const float* gamma, float eps, float* y, int64_t n) {
  if (n <= 0) return;
  const float square =
      SumOf(x, n, 0.0f, [](V v, V sum) GE_LAMBDA { return hn::MulAdd(v, v, sum); });
  const float scale = 1.0f / __builtin_sqrtf(square / static_cast<float>(n) + eps);
  ForEach(n, [=](auto p, int64_t i) GE_LAMBDA {
    const auto v = hn::Mul(hn::LoadU(p, x + i), hn::Set(p, scale));
    hn::StoreU(gamma != nullptr ? hn::Mul(v, hn::LoadU(p, gamma + i)) : v, p, y + i);
  });
}

void LayerNorm(const float* x, const float* gamma, const float* beta, float eps, float* y,
               int64_t n) {
  if (n <= 0) return;
  const float inv_n = 1.0f / static_cast<float>(n);
  const float mean = Sum(x, n) * inv_n;
  const Full d;
  const V middle = hn::Set(d, mean);
  const float var = SumOf(x, n, mean, [=](V v, V sum) GE_LAMBDA {
    const V off = hn::Sub(v, middle);
    return hn::MulAdd(off, off, sum);
  });
  const float scale = 1.0f / __builtin_sqrtf(var * inv_n + eps);
  if (gamma != nullptr && beta != nullptr) {
    ForEach(n, [=](auto p, int64_t i) GE_LAMBDA {
      const auto v = hn::Mul(hn::Sub(hn::LoadU(p, x + i), hn::Set(p, mean)), hn::Set(p, scale));
      hn::StoreU(hn::MulAdd(v, hn::LoadU(p, gamma + i), hn::LoadU(p, beta + i)), p, y + i);
    });
    return;
  }
  ForEach(n, [=](auto p, int64_t i) GE_LAMBDA {
    auto v = hn::Mul(hn::Sub(hn::LoadU(p, x + i), hn::Set(p, mean)), hn::Set(p, scale));
    if (gamma != nullptr) v = hn::Mul(v, hn::LoadU(p, gamma + i));
    if (beta != nullptr) v = hn::Add(v, hn::LoadU(p, beta + i));
    hn::StoreU(v, p, y + i);
  });
}

namespace {

// p[0], p[stride] ... of the first n < lanes, or all, lanes. Strides of 1 and 2 read on behind
// them.
template <int64_t kStride, class D>
GE_INLINE hn::Vec<D> LoadStep(D d, const float* p, int64_t stride, int64_t n) {
  if constexpr (kStride == 1) return hn::LoadU(d, p);
  if constexpr (kStride == 2) {
    return hn::ConcatEven(d, hn::LoadU(d, p + kLanesOf<D>), hn::LoadU(d, p));
  }
  alignas(64) float room[kLanesOf<D>] = {};
  for (int64_t i = 0; i < n; ++i) room[i] = p[i * stride];
  return hn::Load(d, room);
}

// to[0, n) = rows of x one upon another, and what comes into a vector behind them.
template <class F>
GE_INLINE void FoldRows(const float* x, const int64_t* row, int64_t rows, int64_t n, float* to,
                        F f) {
  const Full d;
  for (int64_t i = 0; i < n; i += kMaxLanes) {
    const int64_t m = std::min(kMaxLanes, n - i);
    const auto load = [&](int64_t r) GE_LAMBDA {
      const float* p = x + row[r] + i;
      return m == kMaxLanes ? hn::LoadU(d, p) : LoadFirst(d, p, m, hn::Zero(d));
    };
    auto acc = load(0);
    for (int64_t r = 1; r < rows; ++r) acc = f(acc, load(r));
    hn::StoreU(acc, d, to + i);
  }
}

GE_INLINE void FillVectors(float* to, int64_t n, float value) {
  const Full d;
  for (int64_t i = 0; i < n; i += kMaxLanes) hn::StoreU(hn::Set(d, value), d, to + i);
}

// Results [begin, begin + n) of each line, of rows with what is `outside` of them in a buffer: what
// lies upon another is folded first, so that each element is read once and not once a window, and
// windows at the ends are as any other. As many lines at once as fit, since what was just written
// is slow to read at other borders. kStride is 1, 2 or 0 for any.
template <int64_t kStride, class F>
GE_INLINE void PoolLines(const float* x, const int64_t* row, const int64_t* first, int64_t lines,
                         const PoolSpan& p, int64_t begin, int64_t n, float outside, float* y,
                         F f) {
  const Full d;
  // Behind the last element there is room for the vectors that begin in front of it, and for the
  // rest of the vector that holds it.
  constexpr int64_t kBehind = 4 * kMaxLanes;
  const int64_t start = p.start + begin * p.stride;
  const int64_t span = (n - 1) * p.stride + (p.taps - 1) * p.dilation + 1;
  const int64_t before = std::min(span, std::max<int64_t>(0, -start));
  const int64_t from = std::max<int64_t>(0, start);
  const int64_t inside = std::max<int64_t>(0, std::min(p.dim - from, span - before));
  const int64_t pitch = span + kBehind;
  alignas(64) float room[kPoolRoom + kBehind];
  const int64_t at_once = (kPoolRoom + kBehind) / pitch;
  for (int64_t top = 0; top < lines; top += at_once) {
    const int64_t end = std::min(lines, top + at_once);
    for (int64_t l = top; l < end; ++l) {
      float* line = room + (l - top) * pitch;
      const int64_t rows = first[l + 1] - first[l], full = rows > 0 ? inside : 0;
      std::fill_n(line, before, outside);
      FoldRows(x + from, row + first[l], rows, full, line + before, f);
      FillVectors(line + before + full, span - before - full + 3 * kMaxLanes, outside);
    }
    for (int64_t l = top; l < end; ++l) {
      const float* line = room + (l - top) * pitch;
      float* to = y + l * p.n + begin;
      for (int64_t i = 0; i < n; i += kMaxLanes) {
        const int64_t m = std::min(kMaxLanes, n - i);
        const float* at = line + i * p.stride;
        auto acc = LoadStep<kStride>(d, at, p.stride, m);
        for (int64_t t = 1; t < p.taps; ++t) {
          acc = f(acc, LoadStep<kStride>(d, at + t * p.dilation, p.stride, m));
        }
        if (m == kMaxLanes) {
          hn::StoreU(acc, d, to + i);
        } else {
          StoreFirst(d, acc, to + i, m);
        }
      }
    }
  }
}

// By pieces whose elements fit the buffer.
template <class F>
GE_INLINE void PoolBy(const float* x, const int64_t* row, const int64_t* first, int64_t lines,
                      const PoolSpan& p, float outside, float* y, F f) {
  const int64_t piece = (kPoolRoom - (p.taps - 1) * p.dilation - 1) / p.stride + 1;
  for (int64_t i = 0; i < p.n; i += piece) {
    const int64_t n = std::min(piece, p.n - i);
    if (p.stride == 1) {
      PoolLines<1>(x, row, first, lines, p, i, n, outside, y, f);
    } else if (p.stride == 2) {
      PoolLines<2>(x, row, first, lines, p, i, n, outside, y, f);
    } else {
      PoolLines<0>(x, row, first, lines, p, i, n, outside, y, f);
    }
  }
}

}  // namespace

void PoolPlane(Reduce op, const float* x, const int64_t* row, const int64_t* first, int64_t lines,
               const PoolSpan& span, float* y) {
  if (op == Reduce::kMax) {
    return PoolBy(x, row, first, lines, span, -std::numeric_limits<float>::infinity(), y,
                  [](auto a, auto v) GE_LAMBDA { return MaxNan(v, a); });
  }
  PoolBy(x, row, first, lines, span, 0.0f, y,
         [](auto a, auto v) GE_LAMBDA { return hn::Add(a, v); });
}

}  // namespace GE_SIMD_ISA
}  // namespace ge_engines::cpu
HWY_AFTER_NAMESPACE();
