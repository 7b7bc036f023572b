#include "plugins/cpu/native/resample/grid_sample.h"

#include <algorithm>
#include <cmath>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/thresholds.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/price.h"

namespace ge_engines::cpu::native {

namespace {

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

}  // namespace

std::unique_ptr<Loop> GridLoop(const GridSpec& spec, const Dims& x, const Dims& result) {
  return std::make_unique<Gridded>(spec, x, result);
}

namespace {

class GridSampleKind final : public KindOf<GridSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    const double n = static_cast<double>(Product(unit.dims));
    return WorkPrice(unit, parser, machine,
                     {(n / static_cast<double>(unit.dims[1]) * 25 + n * 2.5) / machine.compute});
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const GridSpec& spec = SpecOf(u);
    b->AddPlain(u, "grid sample", GridLoop(spec, b->parser().dims(u.in[0]), u.dims),
                {b->GetDense(u.in[0]).place, b->GetDense(u.in[1]).place});
  }
};

const GridSampleKind kGridSampleKind;
}  // namespace

GE_NATIVE_KINDS(grid_sample, &kGridSampleKind)

}  // namespace ge_engines::cpu::native
