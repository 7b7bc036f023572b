// Running sums, places of extremes and the greatest k of index_loops.h.
#include <algorithm>
#include <cstring>
#include <functional>
#include <type_traits>

#include "ge/ge_plugin.hpp"
#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/thresholds.h"
#include "plugins/cpu/native/index_loops.h"

namespace ge_engines::cpu::native {
namespace {

template <class T>
using SumOf = std::conditional_t<std::is_same_v<T, float>, double, uint64_t>;

template <class T>
class CumSum final : public Loop {
 public:
  CumSum(const AxisCut& cut, const CumSumSpec& s) : cut_(cut), spec_(s) {}
  void Run(float* const* p) const override {
    const auto* x = reinterpret_cast<const T*>(p[1]);
    auto* y = reinterpret_cast<T*>(p[0]);
    const int64_t pieces = (cut_.inner + kWide - 1) / kWide;
    const int64_t all = cut_.outer * cut_.dim * cut_.inner;
    ForRange(all > kParallel, cut_.outer * pieces, [&](int64_t i) {
      const int64_t at = i % pieces * kWide, wide = std::min(kWide, cut_.inner - at);
      const int64_t first = i / pieces * cut_.dim * cut_.inner + at;
      if (wide == 1) return One(x + first, y + first);
      Columns(x + first, y + first, wide);
    });
  }

 private:
  static constexpr int64_t kWide = 64;  // columns that run side by side
  void One(const T* x, T* y) const {
    SumOf<T> sum = 0;
    const int64_t n = cut_.dim, step = spec_.reverse ? -cut_.inner : cut_.inner;
    int64_t at = spec_.reverse ? (n - 1) * cut_.inner : 0;
    for (int64_t k = 0; k < n; ++k, at += step) {
      const auto v = static_cast<SumOf<T>>(x[at]);
      y[at] = static_cast<T>(spec_.exclusive ? sum : sum + v);
      sum += v;
    }
  }
  void Columns(const T* x, T* y, int64_t wide) const {
    SumOf<T> sum[kWide] = {};
    for (int64_t k = 0; k < cut_.dim; ++k) {
      const int64_t at = (spec_.reverse ? cut_.dim - 1 - k : k) * cut_.inner;
      for (int64_t j = 0; j < wide; ++j) {
        const auto v = static_cast<SumOf<T>>(x[at + j]);
        y[at + j] = static_cast<T>(spec_.exclusive ? sum[j] : sum[j] + v);
        sum[j] += v;
      }
    }
  }

  const AxisCut cut_;
  const CumSumSpec spec_;
};

// NaN stands above every number and below it where the least is sought: it is found first.
template <class T>
class ArgOf final : public Loop {
 public:
  ArgOf(const AxisCut& cut, const ArgSpec& s) : cut_(cut), spec_(s) {}
  void Run(float* const* p) const override {
    const auto* x = reinterpret_cast<const T*>(p[1]);
    auto* y = reinterpret_cast<int64_t*>(p[0]);
    const int64_t pieces = (cut_.inner + kWide - 1) / kWide;
    const int64_t all = cut_.outer * cut_.dim * cut_.inner;
    ForRange(all > kParallel, cut_.outer * pieces, [&](int64_t i) {
      const int64_t at = i % pieces * kWide, o = i / pieces;
      const T* from = x + o * cut_.dim * cut_.inner + at;
      Columns(from, y + o * cut_.inner + at, std::min(kWide, cut_.inner - at));
    });
  }

 private:
  static constexpr int64_t kWide = 32;
  bool Better(T v, T best) const {
    if (best != best) return spec_.last && v != v;
    const bool beyond = v != v || (spec_.least ? v < best : v > best);
    return beyond || (spec_.last && v == best);
  }
  // Whether any of n elements takes a place from best[i * step]; without branches, since few do.
  bool Any(const T* x, const T* best, int64_t step, int64_t n) const {
    int any = 0;
    if (spec_.least) {
      for (int64_t j = 0; j < n; ++j) any |= !(x[j] > best[j * step]);
    } else {
      for (int64_t j = 0; j < n; ++j) any |= !(x[j] < best[j * step]);
    }
    return any != 0;
  }
  void Columns(const T* x, int64_t* y, int64_t wide) const {
    if (cut_.inner == 1) return Along(x, y);
    T best[kWide];
    int64_t at[kWide] = {};
    std::copy_n(x, wide, best);
    for (int64_t k = 1; k < cut_.dim; ++k) {
      const T* row = x + k * cut_.inner;
      if (!Any(row, best, 1, wide)) continue;
      for (int64_t j = 0; j < wide; ++j) {
        if (Better(row[j], best[j])) best[j] = row[j], at[j] = k;
      }
    }
    std::copy_n(at, wide, y);
  }
  void Along(const T* x, int64_t* y) const {
    T best = x[0];
    int64_t at = 0;
    for (int64_t k = 0; k < cut_.dim; k += kWide) {
      const int64_t n = std::min(kWide, cut_.dim - k);
      if (!Any(x + k, &best, 0, n)) continue;
      for (int64_t j = k; j < k + n; ++j) {
        if (j > 0 && Better(x[j], best)) best = x[j], at = j;
      }
    }
    *y = at;
  }

  const AxisCut cut_;
  const ArgSpec spec_;
};

// Keys of whole numbers whose order is that of the elements, NaN above all and -0 like 0.
uint64_t KeyOf(float v) {
  if (v != v) return UINT32_MAX;
  uint32_t bits;
  const float plain = v == 0 ? 0.0f : v;
  std::memcpy(&bits, &plain, sizeof(bits));
  return (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
}
uint64_t KeyOf(int32_t v) { return static_cast<uint32_t>(v) ^ 0x80000000u; }

// The first `taken` in order; a heap where few are wanted of many.
template <class P, class F>
void SortFirst(P* order, int64_t n, int64_t taken, F less) {
  if (taken < n && taken > n / 8) {
    std::nth_element(order, order + taken, order + n, less);
    std::sort(order, order + taken, less);
  } else if (taken < n) {
    std::partial_sort(order, order + taken, order + n, less);
  } else {
    std::sort(order, order + n, less);
  }
}

// A heap of the first so far, its last on top. Most others are beyond that, which is seen of 16 at
// once and without a branch.
template <class T, class F>
void FewOfMany(F key, const T* x, int64_t step, bool largest, uint64_t* heap, int64_t n,
               int64_t taken) {
  constexpr int64_t kBlock = 16;
  for (int64_t k = 0; k < taken; ++k) heap[k] = key(k);
  std::make_heap(heap, heap + taken);
  for (int64_t first = taken; first < n; first += kBlock) {
    const int64_t end = std::min(n, first + kBlock);
    if (step == 1 && end - first == kBlock) {
      const T last = x[heap[0] & UINT32_MAX], *block = x + first;
      int any = 0;  // an element that is no number may be wanted
      if (largest) {
        for (int64_t j = 0; j < kBlock; ++j) any |= !(block[j] <= last);
      } else {
        for (int64_t j = 0; j < kBlock; ++j) any |= !(block[j] >= last);
      }
      if (any == 0) continue;
    }
    for (int64_t k = first; k < end; ++k) {
      const uint64_t v = key(k);
      if (v > heap[0]) continue;
      std::pop_heap(heap, heap + taken);
      heap[taken - 1] = v;
      std::push_heap(heap, heap + taken);
    }
  }
  std::sort_heap(heap, heap + taken);
}

template <class T>
class TopK final : public Work {
 public:
  TopK(const AxisCut& cut, const TopKPlan& p) : cut_(cut), plan_(p) {}
  ge_rc Do(const Call& call) const override {
    int64_t asked = 0;
    std::memcpy(&asked, call.p[3], sizeof(asked));
    if (asked != plan_.taken) {
      return ge::plugin::Fail(call.err, GE_INVALID_ARGUMENT, call.node,
                              "K is %lld, the plan holds %lld", static_cast<long long>(asked),
                              static_cast<long long>(plan_.taken));
    }
    ForJobs(plan_.threads, cut_.outer * cut_.inner, call.p[4], TopKFloats(cut_),
            [&](int64_t r, float* room) { Row(call, r, reinterpret_cast<uint64_t*>(room)); });
    return GE_OK;
  }

 private:
  void Row(const Call& call, int64_t r, uint64_t* order) const {
    const int64_t o = r / cut_.inner, i = r % cut_.inner, n = cut_.dim, taken = plan_.taken;
    const T* x = reinterpret_cast<const T*>(call.p[2]) + o * n * cut_.inner + i;
    if constexpr (sizeof(T) == 4) {
      // Key above place: one comparison orders both.
      const auto key = [&](int64_t k) {
        const uint64_t v = KeyOf(x[k * cut_.inner]);
        return (plan_.largest ? UINT32_MAX - v : v) << 32 | static_cast<uint64_t>(k);
      };
      if (taken > 0 && taken <= n / 8) {
        FewOfMany(key, x, cut_.inner, plan_.largest, order, n, taken);
      } else {
        for (int64_t k = 0; k < n; ++k) order[k] = key(k);
        SortFirst(order, n, taken, std::less<>());
      }
      for (int64_t k = 0; k < taken; ++k) order[k] &= UINT32_MAX;
    } else {
      for (int64_t k = 0; k < n; ++k) order[k] = static_cast<uint64_t>(k);
      SortFirst(order, n, taken, [&](uint64_t a, uint64_t b) {
        const T u = x[static_cast<int64_t>(a) * cut_.inner];
        const T v = x[static_cast<int64_t>(b) * cut_.inner];
        return u != v ? (u > v) == plan_.largest : a < b;
      });
    }
    const int64_t first = o * taken * cut_.inner + i;
    for (int64_t k = 0; k < taken; ++k) {
      const int64_t to = first + k * cut_.inner, from = static_cast<int64_t>(order[k]);
      if (plan_.values) reinterpret_cast<T*>(call.p[0])[to] = x[from * cut_.inner];
      if (plan_.places) reinterpret_cast<int64_t*>(call.p[1])[to] = from;
    }
  }

  const AxisCut cut_;
  const TopKPlan plan_;
};

// make(T()) for the type of a dtype.
template <class Base, class F>
std::unique_ptr<Base> ForNumber(int32_t dtype, F make) {
  if (dtype == GE_F32) return make(float());
  if (dtype == GE_I32) return make(int32_t());
  return make(int64_t());
}

}  // namespace

std::unique_ptr<Loop> CumSumLoop(int32_t dtype, const AxisCut& cut, const CumSumSpec& s) {
  return ForNumber<Loop>(dtype, [&](auto t) -> std::unique_ptr<Loop> {
    return std::make_unique<CumSum<decltype(t)>>(cut, s);
  });
}

std::unique_ptr<Loop> ArgLoop(int32_t dtype, const AxisCut& cut, const ArgSpec& s) {
  return ForNumber<Loop>(dtype, [&](auto t) -> std::unique_ptr<Loop> {
    return std::make_unique<ArgOf<decltype(t)>>(cut, s);
  });
}

uint64_t TopKFloats(const AxisCut& cut) { return 2 * static_cast<uint64_t>(cut.dim); }

std::unique_ptr<Work> TopKWork(int32_t dtype, const AxisCut& cut, const TopKPlan& p) {
  return ForNumber<Work>(dtype, [&](auto t) -> std::unique_ptr<Work> {
    return std::make_unique<TopK<decltype(t)>>(cut, p);
  });
}

}  // namespace ge_engines::cpu::native
