#include <algorithm>

#include "plugins/ref/kernels/copy.h"

namespace ref {
namespace {

enum class Sampling : uint8_t { kNearest = 1, kLinear = 2, kCubic = 4 };  // taps along an axis
enum class Beyond : uint8_t { kZeros, kBorder, kReflection };

struct GridPlan {
  Sampling mode;
  Beyond pad;
  bool corners;  // -1 and 1 are the centres of the outermost elements, else their outer edges
  int axes;
  int64_t dim[kMaxRank], step[kMaxRank];
  int64_t batch, channels, area, places;  // places: of one image's output
};

// Elements along one axis that a result is made of; offset -1 = a zero.
struct GridTaps {
  int64_t offset[4];
  double weight[4];
};

// Folds x into [lo, hi] at both ends; where that is one point, and for NaN, to lo.
double Reflect(double x, double lo, double hi) {
  const double range = hi - lo, beyond = x < lo ? lo - x : x - hi;
  if (x >= lo && x <= hi) return x;
  if (!(range > 0) || !std::isfinite(x)) return std::max(lo, 0.0);
  const double m = std::fmod(beyond, 2 * range);
  const double r = m < range ? m : 2 * range - m;
  return x < lo ? lo + r : hi - r;
}

// Where element i of an axis is read: inside, or -1 for a zero.
int64_t ReadAt(const GridPlan& p, double i, double lo, double hi, int64_t dim) {
  const double last = static_cast<double>(dim - 1);
  if (p.pad == Beyond::kZeros && !(i >= 0 && i <= last)) return -1;
  if (p.pad == Beyond::kReflection) i = Reflect(i, lo, hi);
  return static_cast<int64_t>(std::clamp(i, 0.0, last));
}

void FillGridTaps(const GridPlan& p, double place, int axis, GridTaps* taps) {
  constexpr double kA = -0.75;  // of the cubic kernel
  const int64_t dim = p.dim[axis];
  const double size = static_cast<double>(dim);
  const double lo = p.corners ? 0 : -0.5, hi = p.corners ? size - 1 : size - 0.5;
  double x = p.corners ? (place + 1) / 2 * (size - 1) : ((place + 1) * size - 1) / 2;
  if (p.mode == Sampling::kNearest) x = std::nearbyint(x);
  if (!(x >= lo && x <= hi)) {
    if (p.pad == Beyond::kBorder) x = x > 0 ? size - 1 : 0;
    if (p.pad == Beyond::kReflection) x = Reflect(x, lo, hi);
  }
  const int count = static_cast<int>(p.mode);
  const double base = count == 1 ? x : std::floor(x), f = x - base;
  const double first = count == 4 ? base - 1 : base;
  if (!std::isfinite(x)) {  // zeros only: the other paddings have brought it inside
    for (int t = 0; t < count; ++t) taps->offset[t] = -1;
    return;
  }
  for (int t = 0; t < count; ++t) {
    const int64_t at = ReadAt(p, first + t, lo, hi, dim);
    taps->offset[t] = at < 0 ? -1 : at * p.step[axis];
    const double d = std::fabs(first + t - x);
    if (count == 1) taps->weight[t] = 1;
    if (count == 2) taps->weight[t] = t == 0 ? 1 - f : f;
    if (count != 4) continue;
    taps->weight[t] = d <= 1 ? ((kA + 2) * d - (kA + 3)) * d * d + 1
                             : ((kA * d - 5 * kA) * d + 8 * kA) * d - 4 * kA;
  }
}

// Visits the products of all axes' taps: f(offset, weight), zeros left out.
template <class F>
void ForEachProduct(const GridPlan& p, const GridTaps* taps, F&& f) {
  int at[kMaxRank] = {};
  const int count = static_cast<int>(p.mode);
  while (true) {
    int64_t offset = 0;
    double weight = 1;
    bool zero = false;
    for (int d = 0; d < p.axes; ++d) {
      zero |= taps[d].offset[at[d]] < 0;
      offset += taps[d].offset[at[d]];
      weight *= taps[d].weight[at[d]];
    }
    if (!zero) f(offset, weight);
    int d = p.axes - 1;
    for (; d >= 0 && ++at[d] == count; --d) at[d] = 0;
    if (d < 0) return;
  }
}

// f(place in the output's first channel, first channel of X, taps of every axis).
template <class F>
void ForEachPlace(const GridPlan& p, const Call& c, F&& f) {
  const Tensor grid = c.in(1);
  GridTaps taps[kMaxRank];
  for (int64_t b = 0; b < p.batch; ++b) {
    for (int64_t i = 0; i < p.places; ++i) {
      const int64_t at = (b * p.places + i) * p.axes;
      for (int d = 0; d < p.axes; ++d) {
        FillGridTaps(p, FloatAt(grid, at + p.axes - 1 - d), d, &taps[d]);
      }
      Spend(p.channels);
      f(b * p.channels * p.places + i, b * p.channels * p.area, static_cast<const GridTaps*>(taps));
    }
  }
}

template <class T>
ge_rc RunGridSample(const GridPlan& p, const Call& c) {
  const T* x = c.in(0).as<T>();
  T* y = c.out(0).as<T>();
  ForEachPlace(p, c, [&](int64_t to, int64_t from, const GridTaps* taps) {
    for (int64_t ch = 0; ch < p.channels; ++ch) {
      double sum = 0;
      ForEachProduct(p, taps, [&](int64_t offset, double weight) {
        sum += weight * static_cast<double>(Widen(Load(x, from + ch * p.area + offset)));
      });
      y[to + ch * p.places] = Narrow<T>(sum);
    }
  });
  return GE_OK;
}

// Moves elements of `size` bytes.
ge_rc RunGridNearest(const GridPlan& p, int64_t size, const Call& c) {
  const char* x = c.in(0).as<char>();
  const Tensor y = c.out(0);
  if (y.bytes != 0) std::memset(y.data, 0, y.bytes);
  ForEachPlace(p, c, [&](int64_t to, int64_t from, const GridTaps* taps) {
    ForEachProduct(p, taps, [&](int64_t offset, double) {
      for (int64_t ch = 0; ch < p.channels; ++ch) {
        std::memcpy(y.as<char>() + (to + ch * p.places) * size,
                    x + (from + ch * p.area + offset) * size, static_cast<size_t>(size));
      }
    });
  });
  return GE_OK;
}

bool PlanGridSample(const NodeView& n, GridPlan* p, Why* why) {
  if (!NeedPorts(n, 2, 2, why) || !NeedSameDType(n.in(0), n.out(0), why)) return false;
  const TensorType x = n.in(0), grid = n.in(1), y = n.out(0);
  if (!IsFloatDType(grid.dtype)) return NoDType(grid, why);
  p->axes = x.rank - 2;
  bool fits = x.rank >= 3 && grid.rank == x.rank && y.rank == x.rank &&
              grid.dims[x.rank - 1] == p->axes && grid.dims[0] == x.dims[0] &&
              y.dims[0] == x.dims[0] && y.dims[1] == x.dims[1];
  for (int d = 2; fits && d < x.rank; ++d) {
    fits = y.dims[d] == grid.dims[d - 1] && x.dims[d] < int64_t{1} << 30;
    p->dim[d - 2] = x.dims[d];
  }
  if (!fits) return why->Say(GE_WHY_SHAPE, "the grid's shape does not fit X and Y");
  p->batch = x.dims[0];
  p->channels = x.dims[1];
  p->area = PartCount(x.shape(), 2, x.rank);
  p->places = PartCount(y.shape(), 2, y.rank);
  if (y.count == 0) p->batch = 0;
  if (x.count == 0 && y.count != 0) return why->Say(GE_WHY_SHAPE, "X is empty, Y is not");
  DenseStrides({p->dim, static_cast<size_t>(p->axes)}, p->step);
  const std::string_view mode = n.Text("mode"), pad = n.Text("padding_mode");
  p->mode = mode == "nearest" ? Sampling::kNearest
            : mode == "cubic" ? Sampling::kCubic
                              : Sampling::kLinear;
  p->pad = pad == "border"       ? Beyond::kBorder
           : pad == "reflection" ? Beyond::kReflection
                                 : Beyond::kZeros;
  p->corners = n.Int("align_corners") != 0;
  const bool known = (p->mode != Sampling::kLinear || mode == "linear") &&
                     (p->pad != Beyond::kZeros || pad == "zeros");
  return known || why->Say(GE_WHY_ATTRIBUTE, "a mode of GridSample is not known");
}

std::unique_ptr<Prepared> PrepareGridSample(const NodeView& n, Why* why) {
  GridPlan p{};
  if (!PlanGridSample(n, &p, why)) return nullptr;
  std::unique_ptr<Prepared> made;
  const int32_t dtype = n.in(0).dtype;
  const int64_t size = ElementBytes(dtype);
  const auto make = [&](auto tag) {
    using T = typename decltype(tag)::type;
    made = Make([p](const Call& c) { return RunGridSample<T>(p, c); });
  };
  if (p.mode == Sampling::kNearest && size != 0) {
    made = Make([p, size](const Call& c) { return RunGridNearest(p, size, c); });
  } else if (dtype == GE_BOOL) {
    make(Tag<bool>());
  } else if (!VisitNumber(dtype, make)) {
    NoDType(n.in(0), why);
  }
  if (made != nullptr) made->const_align = 1;
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(grid_sample, "GridSample", PrepareGridSample)
