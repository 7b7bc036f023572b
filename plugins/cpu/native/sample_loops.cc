#include "plugins/cpu/native/sample_loops.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/thresholds.h"

namespace ge_engines::cpu::native {
namespace {

class Weighed final : public Loop {
 public:
  Weighed(const Simd& simd, WeighPlan plan) : simd_(simd), plan_(std::move(plan)) {
    half_ = static_cast<int64_t>(plan_.room_floats() / 2);
  }
  void Run(float* const* p) const override {
    const float* x = p[1];
    for (size_t i = 0; i < plan_.passes.size(); ++i) {
      const bool last = i + 1 == plan_.passes.size();
      float* y = last ? p[0] : p[2] + (i % 2 == 0 ? 0 : half_);
      Pass(plan_.passes[i], x, y);
      x = y;
    }
  }

 private:
  void Pass(const WeighPlan::Pass& s, const float* x, float* y) const {
    const auto n = static_cast<int64_t>(s.axis.from.size());
    if (s.inner == 1) {
      return ForRange(s.outer * n > kParallel, s.outer,
                      [&](int64_t o) { Along(s.axis, x + o * s.dim, y + o * n, n); });
    }
    ForRange(s.outer * n * s.inner > kParallel, s.outer * n, [&](int64_t r) {
      const auto i = static_cast<size_t>(r % n);
      const int32_t first = s.axis.first[i], taps = s.axis.first[i + 1] - first;
      const float* from = x + (r / n * s.dim + s.axis.from[i]) * s.inner;
      simd_.thin_product(s.axis.w.data() + first, taps, from, s.inner, y + r * s.inner, s.inner, 1,
                         s.inner, taps);
    });
  }
  static void Along(const WeighedAxis& a, const float* x, float* y, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      const auto k = static_cast<size_t>(i);
      const float *w = a.w.data() + a.first[k], *from = x + a.from[k];
      const int32_t taps = a.first[k + 1] - a.first[k];
      if (taps == 4) {
        y[i] = (w[0] * from[0] + w[1] * from[1]) + (w[2] * from[2] + w[3] * from[3]);
        continue;
      }
      float sum = 0;
      for (int32_t t = 0; t < taps; ++t) sum += w[t] * from[t];
      y[i] = sum;
    }
  }

  const Simd& simd_;
  const WeighPlan plan_;
  int64_t half_ = 0;
};

// Folds x into [lo, hi] at both ends; where that is one point, and for NaN, to lo.
double Folded(double x, double lo, double hi) {
  if (x >= lo && x <= hi) return x;
  const double range = hi - lo;
  if (!(range > 0) || !std::isfinite(x)) return std::max(lo, 0.0);
  const double m = std::fmod(x < lo ? lo - x : x - hi, 2 * range);
  const double r = m < range ? m : 2 * range - m;
  return x < lo ? lo + r : hi - r;
}

// The two elements of an axis around a place, and the second's share; -1 is a zero.
struct Neighbours {
  int32_t at[2];
  double share;
};

// Places of one image follow each other whatever their row, and so do images of few places: by
// rows of seven (a correlation's window) a place took twice as long.
class Gridded final : public Loop {
 public:
  Gridded(const GridSpec& s, const Dims& x, const Dims& y)
      : spec_(s), batch_(y[0]), channels_(y[1]), places_(y[2] * y[3]), h_(x[2]), w_(x[3]) {}
  void Run(float* const* p) const override {
    if (h_ * w_ == 0) {
      std::fill_n(p[0], batch_ * channels_ * places_, 0.0f);
      return;
    }
    // Finding a place's neighbours takes as long as 32 elements of other loops.
    const bool parallel = batch_ * places_ * (32 + 4 * channels_) > kParallel;
    const int64_t tiles = (places_ + kTile - 1) / kTile;
    ForRange(parallel, batch_ * tiles, [&](int64_t job) {
      const int64_t at = job % tiles * kTile;
      Tile(p, job / tiles, at, std::min(kTile, places_ - at));
    });
  }

 private:
  static constexpr int64_t kTile = 64;  // places whose neighbours are found before the channels
  struct Places {
    int32_t from[kTile][4];
    float share[kTile][4];
  };

  Neighbours Around(double place, int64_t dim) const {
    const double size = static_cast<double>(dim);
    double x = spec_.corners ? (place + 1) / 2 * (size - 1) : ((place + 1) * size - 1) / 2;
    if (spec_.nearest) x = std::nearbyint(x);
    if (spec_.beyond == GridSpec::kZeros) {
      // Beyond the image by one or two all neighbours are zeros; NaN, too. No branch: windows lie
      // across the border as often as not.
      x = std::min(std::max(-2.0, x), size + 1);
    } else {
      const double lo = spec_.corners ? 0 : -0.5, hi = spec_.corners ? size - 1 : size - 0.5;
      if (!(x >= lo && x <= hi)) {
        if (spec_.beyond == GridSpec::kBorder) x = x > 0 ? size - 1 : 0;
        if (spec_.beyond == GridSpec::kReflection) x = Folded(x, lo, hi);
      }
      if (!std::isfinite(x)) return {{-1, -1}, 0};
    }
    // Within two of the image by now, so that whole numbers tell the floor.
    int32_t base = static_cast<int32_t>(x);
    base -= static_cast<double>(base) > x ? 1 : 0;
    return {{Read(base, dim), spec_.nearest ? -1 : Read(base + 1, dim)}, x - base};
  }
  int32_t Read(int32_t i, int64_t dim) const {
    const auto last = static_cast<int32_t>(dim - 1);
    if (spec_.beyond == GridSpec::kZeros) {
      return static_cast<uint32_t>(i) <= static_cast<uint32_t>(last) ? i : -1;
    }
    if (spec_.beyond == GridSpec::kReflection) {
      const double lo = spec_.corners ? 0 : -0.5;
      i = static_cast<int32_t>(Folded(i, lo, static_cast<double>(last) - lo));
    }
    return std::clamp(i, 0, last);
  }

  void Find(const float* grid, int64_t n, Places* to) const {
    for (int64_t i = 0; i < n; ++i) {
      const Neighbours x = Around(grid[2 * i], w_), y = Around(grid[2 * i + 1], h_);
      for (int k = 0; k < 4; ++k) {
        const int32_t down = y.at[k / 2], right = x.at[k % 2];
        const double part =
            (k / 2 != 0 ? y.share : 1 - y.share) * (k % 2 != 0 ? x.share : 1 - x.share);
        // -1, all bits, where one of them is.
        to->from[i][k] = (down * static_cast<int32_t>(w_) + right) | (down | right) >> 31;
        to->share[i][k] = static_cast<float>(part);
      }
    }
  }
  // What is no neighbour does not count: it may be an infinity.
  static float ElementAt(const float* x, int32_t from) {
    return std::bit_cast<float>(std::bit_cast<int32_t>(x[std::max(from, 0)]) & ~(from >> 31));
  }

  void Tile(float* const* p, int64_t image, int64_t at, int64_t n) const {
    Places places;
    Find(p[2] + (image * places_ + at) * 2, n, &places);
    for (int64_t c = 0; c < channels_; ++c) {
      const float* x = p[1] + (image * channels_ + c) * h_ * w_;
      float* y = p[0] + (image * channels_ + c) * places_ + at;
      for (int64_t i = 0; i < n; ++i) {
        float sum = 0;
        for (int k = 0; k < 4; ++k) sum += places.share[i][k] * ElementAt(x, places.from[i][k]);
        y[i] = sum;
      }
    }
  }

  const GridSpec spec_;
  const int64_t batch_, channels_, places_, h_, w_;
};

template <class T>
class CodePool final : public Loop {
 public:
  explicit CodePool(const PoolSpec& s) : s_(s) {
    const size_t axes = s.kernel.size();
    planes_ = s.src[0] * s.src[1];
    w_ = s.src.back(), out_w_ = s.dst.back();
    h_ = axes == 2 ? s.src[2] : 1, out_h_ = axes == 2 ? s.dst[2] : 1;
    kh_ = axes == 2 ? s.kernel[0] : 1, sh_ = axes == 2 ? s.stride[0] : 1;
    ph_ = axes == 2 ? s.pad_l[0] : 0;
    kw_ = s.kernel.back(), sw_ = s.stride.back(), pw_ = s.pad_l.back();
  }
  void Run(float* const* p) const override {
    const auto* x = reinterpret_cast<const T*>(p[1]);
    auto* y = reinterpret_cast<T*>(p[0]);
    ForRange(planes_ * h_ * w_ > kParallelCodes, planes_, [&](int64_t plane) {
      for (int64_t r = 0; r < out_h_; ++r) {
        Row(x + plane * h_ * w_, r, y + (plane * out_h_ + r) * out_w_);
      }
    });
  }

 private:
  static constexpr T kLeast = std::numeric_limits<T>::lowest();
  static constexpr int64_t kPiece = 512;  // results whose columns are folded at once

  // Codes may alias anything, these members as well: what a loop reads is brought into registers.
  void Row(const T* x, int64_t r, T* y) const {
    const int64_t top = std::max<int64_t>(0, r * sh_ - ph_), w = w_, out = out_w_;
    const int64_t end = std::min(h_, r * sh_ - ph_ + kh_), kw = kw_, sw = sw_;
    T folded[kPiece * 4];
    const int64_t fit = std::max<int64_t>(1, (kPiece * 4 - kw) / sw);
    for (int64_t at = 0; at < out; at += fit) {
      // Columns [from, from + wide) of x in rows top to end; beyond x the least code.
      const int64_t n = std::min(fit, out - at), from = at * sw - pw_, wide = (n - 1) * sw + kw;
      const int64_t a = std::max<int64_t>(0, -from), b = std::min(wide, w - from);
      if (a > 0 || b < wide || top >= end) std::fill_n(folded, wide, kLeast);
      if (top < end) std::copy_n(x + top * w + from + a, std::max<int64_t>(0, b - a), folded + a);
      for (int64_t i = top + 1; i < end; ++i) Fold(x + i * w + from, a, b, folded);
      Pick(folded, kw, sw, n, y + at);
    }
  }
  static void Fold(const T* __restrict row, int64_t a, int64_t b, T* __restrict folded) {
#pragma omp simd
    for (int64_t j = a; j < b; ++j) folded[j] = std::max(folded[j], row[j]);
  }
  static void Pick(const T* folded, int64_t kw, int64_t sw, int64_t n, T* y) {
    if (sw == 2 && kw == 2) return Every<2, 2>(folded, n, y);
    if (sw == 2 && kw == 3) return Every<2, 3>(folded, n, y);
    if (sw == 1 && kw == 3) return Every<1, 3>(folded, n, y);
    for (int64_t i = 0; i < n; ++i) y[i] = *std::max_element(folded + i * sw, folded + i * sw + kw);
  }
  // Windows that pools mostly have, by vectors.
  template <int kStride, int kWide>
  static void Every(const T* __restrict folded, int64_t n, T* __restrict y) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) {
      T best = folded[i * kStride];
      for (int k = 1; k < kWide; ++k) best = std::max(best, folded[i * kStride + k]);
      y[i] = best;
    }
  }

  const PoolSpec s_;
  int64_t planes_, h_, w_, out_h_, out_w_, kh_, kw_, sh_, sw_, ph_, pw_;
};

}  // namespace

WeighPlan::WeighPlan(const Dims& x, const WeighSpec& s) {
  Dims d = x;
  for (size_t k = d.size(); k-- > 0;) {
    if (s.axes[k].from.empty()) continue;
    const Dims front(d.begin(), d.begin() + static_cast<int64_t>(k));
    const Dims back(d.begin() + static_cast<int64_t>(k) + 1, d.end());
    passes.push_back({Product(front), d[k], Product(back), s.axes[k]});
    d[k] = static_cast<int64_t>(s.axes[k].from.size());
  }
}

uint64_t WeighPlan::room_floats() const {
  uint64_t most = 0;
  for (size_t i = 0; i + 1 < passes.size(); ++i) {
    const Pass& p = passes[i];
    most = std::max(most, static_cast<uint64_t>(p.outer * p.inner) * p.axis.from.size());
  }
  return 2 * most;
}

std::unique_ptr<Loop> WeighLoop(const Simd& simd, WeighPlan plan) {
  return std::make_unique<Weighed>(simd, std::move(plan));
}

std::unique_ptr<Loop> GridLoop(const GridSpec& s, const Dims& x, const Dims& result) {
  return std::make_unique<Gridded>(s, x, result);
}

std::unique_ptr<Loop> CodePoolLoop(const PoolSpec& s, bool is_signed) {
  if (is_signed) return std::make_unique<CodePool<int8_t>>(s);
  return std::make_unique<CodePool<uint8_t>>(s);
}

}  // namespace ge_engines::cpu::native
