#include <algorithm>

#include "plugins/ref/kernels/copy.h"

namespace ref {
namespace {

enum class Mode : uint8_t { kNearest, kLinear, kCubic };
enum class Nearest : uint8_t { kPreferFloor, kPreferCeil, kFloor, kCeil };
enum class Coord : uint8_t {
  kHalfPixel,
  kHalfPixelSymmetric,
  kPytorchHalfPixel,
  kAlignCorners,
  kAsymmetric,
  kTfCrop
};
enum class Policy : uint8_t { kStretch, kNotLarger, kNotSmaller };

// Position of `text` in `names`, as the enum; false when it is none of them.
template <class E, size_t kCount>
bool Parse(std::string_view text, const std::string_view (&names)[kCount], E* out) {
  for (size_t i = 0; i < kCount; ++i) {
    if (text == names[i]) return *out = static_cast<E>(i), true;
  }
  return false;
}

struct ResizePlan {
  Mode mode;
  Nearest nearest;
  Coord coord;
  Policy policy;
  bool antialias, exclude_outside;
  double cubic_a, extrapolation;
  int rank;
  int named[kMaxRank];  // position of an axis in `axes`, or -1
  int n_named;
  int64_t max_taps[kMaxRank];  // room in the workspace
};

// One input element that a result is made of.
struct Tap {
  int64_t offset;  // of the element along its axis, in elements of the tensor
  double weight;
};

// What Run computes for one axis, in the workspace.
struct AxisTable {
  int64_t taps = 1;
  Tap* tap = nullptr;          // [out][taps]
  uint8_t* outside = nullptr;  // [out]: the result is extrapolation_value
};

struct AxisGeometry {
  double scale, roi_start, roi_end;
  int64_t in, out;
  bool by_size;  // scale is out / in
};

// x / scale, rounded once: a tie of nearest neighbours stays one.
double Unscaled(const AxisGeometry& g, double x) {
  return g.by_size ? x * static_cast<double>(g.in) / static_cast<double>(g.out) : x / g.scale;
}

// Where output coordinate i lies in the input's coordinates. Where the text of ONNX says
// length_resized, its own tests of align_corners take in * scale, which may be fractional.
double SourceOf(const ResizePlan& p, const AxisGeometry& g, int64_t i) {
  const double x = static_cast<double>(i), in = static_cast<double>(g.in);
  const double out = static_cast<double>(g.out), width = g.by_size ? out : g.scale * in;
  switch (p.coord) {
    case Coord::kAlignCorners:
      return width == 1 ? 0 : x * (in - 1) / (width - 1);
    case Coord::kAsymmetric:
      return Unscaled(g, x);
    case Coord::kTfCrop: {
      const double span = (g.roi_end - g.roi_start) * (in - 1);
      return g.roi_start * (in - 1) + (g.out == 1 ? span / 2 : x * span / (out - 1));
    }
    case Coord::kPytorchHalfPixel:
      return g.out == 1 ? 0 : Unscaled(g, x + 0.5) - 0.5;
    case Coord::kHalfPixelSymmetric:
      // in / 2 * (1 - out / width) + (x + 0.5) / scale - 0.5, with one division
      return g.by_size ? Unscaled(g, x + 0.5) - 0.5 : (in - 1) / 2 + (x + 0.5 - out / 2) / g.scale;
    case Coord::kHalfPixel:
      break;
  }
  return Unscaled(g, x + 0.5) - 0.5;
}

// The interpolation kernel at distance d >= 0.
double KernelAt(const ResizePlan& p, double d) {
  if (p.mode == Mode::kLinear) return std::max(0.0, 1 - d);
  const double a = p.cubic_a;
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

int64_t TapCount(const ResizePlan& p, double scale) {
  if (p.mode == Mode::kNearest) return 1;
  const double reach = p.mode == Mode::kLinear ? 1 : 2;
  const double shrink = p.antialias ? std::min(scale, 1.0) : 1.0;
  const double taps = 2 * std::ceil(reach / shrink);
  return taps < 0x1p40 ? static_cast<int64_t>(taps) : int64_t{1} << 40;
}

// `base` is the element to the left of x, or x's own left neighbour when x is whole: the distance
// x - base lies in (0, 1], and half of the taps lie at or before base.
void FillTaps(const ResizePlan& p, const AxisGeometry& g, double x, int64_t step, int64_t taps,
              Tap* out) {
  const double base = std::ceil(x) - 1, ratio = x - base, last = static_cast<double>(g.in - 1);
  const auto clamp = [&](double i) {
    return static_cast<int64_t>(std::clamp(i, 0.0, last)) * step;
  };
  if (p.mode == Mode::kNearest) {
    bool right = ratio == 1;
    if (p.nearest == Nearest::kPreferFloor) right = ratio > 0.5;
    if (p.nearest == Nearest::kPreferCeil) right = ratio >= 0.5;
    if (p.nearest == Nearest::kCeil) right = true;
    out[0] = {clamp(base + (right ? 1 : 0)), 1.0};
    return;
  }
  const double shrink = p.antialias ? std::min(g.scale, 1.0) : 1.0;
  double sum = 0;
  for (int64_t t = 0; t < taps; ++t) {
    const double i = base + static_cast<double>(t + 1 - taps / 2);
    const bool dropped = p.exclude_outside && (i < 0 || i > last);
    out[t] = {clamp(i), dropped ? 0 : KernelAt(p, std::fabs(x - i) * shrink)};
    sum += out[t].weight;
  }
  const bool normalise = (p.antialias || p.exclude_outside) && sum != 0;
  for (int64_t t = 0; normalise && t < taps; ++t) out[t].weight /= sum;
}

// Scale of every axis, from `scales` or `sizes`; 1 for an axis that is not named.
ge_rc ReadScales(const ResizePlan& p, const Call& c, double* scale) {
  const Tensor x = c.in(0);
  const bool has_scales = c.has_in(2) && c.in(2).count != 0;
  const bool has_sizes = c.has_in(3) && c.in(3).count != 0;
  if (has_scales == has_sizes) {
    return c.Fail(GE_INVALID_ARGUMENT, "give exactly one of scales and sizes");
  }
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (int d = 0; d < p.rank; ++d) {
    scale[d] = 1;
    if (p.named[d] < 0) continue;
    scale[d] = has_scales ? Load(c.in(2).as<float>(), p.named[d])
                          : static_cast<double>(IntAt(c.in(3), p.named[d])) /
                                static_cast<double>(x.dims[d]);
    if (!(scale[d] > 0)) {
      return c.Fail(GE_INVALID_ARGUMENT, "scale %g of axis %d is not positive", scale[d], d);
    }
    least = std::min(least, scale[d]);
    most = std::max(most, scale[d]);
  }
  if (has_sizes && p.policy != Policy::kStretch) {
    for (int d = 0; d < p.rank; ++d) {
      if (p.named[d] >= 0) scale[d] = p.policy == Policy::kNotLarger ? least : most;
    }
  }
  return GE_OK;
}

AxisGeometry GeometryOf(const ResizePlan& p, const Call& c, double scale, int d) {
  const bool by_scale = c.has_in(2) && c.in(2).count != 0;
  AxisGeometry g{scale, 0, 1, c.in(0).dims[d], c.out(0).dims[d], false};
  g.by_size = !by_scale && (p.policy == Policy::kStretch || p.named[d] < 0);
  if (p.coord == Coord::kTfCrop && p.named[d] >= 0) {
    g.roi_start = FloatAt(c.in(1), p.named[d]);
    g.roi_end = FloatAt(c.in(1), p.named[d] + p.n_named);
  }
  return g;
}

// Fills one axis; the caller has set the table's pointers.
ge_rc BuildAxis(const ResizePlan& p, const Call& c, const AxisGeometry& g, int d, int64_t step,
                AxisTable* table) {
  const bool same = g.in == g.out && std::fabs(g.scale - 1) < 1e-9 &&
                    std::fabs(g.roi_start) < 1e-9 && std::fabs(g.roi_end - 1) < 1e-9;
  table->taps = same ? 1 : TapCount(p, g.scale);
  if (table->taps > p.max_taps[d]) {
    return c.Fail(GE_INVALID_ARGUMENT, "scale %g of axis %d does not turn %lld into %lld", g.scale,
                  d, static_cast<long long>(g.in), static_cast<long long>(g.out));
  }
  const bool crop = p.coord == Coord::kTfCrop && p.named[d] >= 0 && !same;
  for (int64_t i = 0; i < g.out; ++i) {
    Tap* taps = table->tap + i * table->taps;
    table->outside[i] = 0;
    if (same) {
      taps[0] = {i * step, 1.0};
      continue;
    }
    const double at = SourceOf(p, g, i);
    if (!(std::fabs(at) < 0x1p52)) {
      return c.Fail(GE_INVALID_ARGUMENT, "element %lld of axis %d would be read at %g",
                    static_cast<long long>(i), d, at);
    }
    table->outside[i] = crop && (at < 0 || at > static_cast<double>(g.in - 1));
    FillTaps(p, g, at, step, table->taps, taps);
  }
  return GE_OK;
}

// Workspace: one output row of sums, the taps of every axis, the flags of every axis.
struct Scratch {
  double* row;
  AxisTable axis[kMaxRank];
};

uint64_t ScratchBytes(const ResizePlan& p, Ints out) {
  uint64_t bytes = static_cast<uint64_t>(out[out.size() - 1]) * sizeof(double);
  for (size_t d = 0; d < out.size(); ++d) {
    bytes +=
        static_cast<uint64_t>(out[d]) * (static_cast<uint64_t>(p.max_taps[d]) * sizeof(Tap) + 1);
  }
  return bytes;
}

ge_rc BuildTables(const ResizePlan& p, const Call& c, Scratch* s) {
  const Tensor y = c.out(0);
  double scale[kMaxRank];
  int64_t step[kMaxRank];
  if (const ge_rc rc = ReadScales(p, c, scale); rc != GE_OK) return rc;
  DenseStrides(c.in(0).shape(), step);
  s->row = static_cast<double*>(c.workspace());
  Tap* tap = reinterpret_cast<Tap*>(s->row + y.dims[p.rank - 1]);
  for (int d = 0; d < p.rank; ++d) {
    s->axis[d].tap = tap;
    tap += y.dims[d] * p.max_taps[d];
  }
  uint8_t* flag = reinterpret_cast<uint8_t*>(tap);
  for (int d = 0; d < p.rank; ++d) {
    s->axis[d].outside = flag;
    flag += y.dims[d];
    const ge_rc rc = BuildAxis(p, c, GeometryOf(p, c, scale[d], d), d, step[d], &s->axis[d]);
    if (rc != GE_OK) return rc;
  }
  return GE_OK;
}

// Visits the output row by row: f(row number, outside, index of the row in the outer axes).
template <class F>
void ForEachRow(const ResizePlan& p, const Tensor& y, const Scratch& s, F&& f) {
  int64_t at[kMaxRank] = {};
  const int64_t rows = PartCount(y.shape(), 0, p.rank - 1);
  for (int64_t r = 0; r < rows; ++r) {
    bool outside = false;
    for (int d = 0; d < p.rank - 1; ++d) outside |= s.axis[d].outside[at[d]] != 0;
    f(r, outside, static_cast<const int64_t*>(at));
    Spend(y.dims[p.rank - 1]);
    for (int d = p.rank - 2; d >= 0 && ++at[d] == y.dims[d]; --d) at[d] = 0;
  }
}

// Visits the products of the outer axes' taps: f(offset, weight), zero weights left out.
template <class F>
void ForEachOuterTap(const ResizePlan& p, const Scratch& s, const int64_t* at, F&& f) {
  int64_t t[kMaxRank] = {};
  while (true) {
    int64_t offset = 0;
    double weight = 1;
    for (int d = 0; d < p.rank - 1; ++d) {
      const Tap& tap = s.axis[d].tap[at[d] * s.axis[d].taps + t[d]];
      offset += tap.offset;
      weight *= tap.weight;
    }
    if (weight != 0) f(offset, weight);
    Spend(s.axis[p.rank - 1].taps * p.rank);
    int d = p.rank - 2;
    for (; d >= 0 && ++t[d] == s.axis[d].taps; --d) t[d] = 0;
    if (d < 0) return;
  }
}

// Interpolated integers are rounded to nearest even and clamped.
template <class T>
T Result(double v) {
  if constexpr (std::is_integral_v<T>) {
    if (!(v > static_cast<double>(std::numeric_limits<T>::lowest()))) {
      return std::numeric_limits<T>::lowest();
    }
    const double r = std::nearbyint(v);
    return r >= static_cast<double>(std::numeric_limits<T>::max()) ? std::numeric_limits<T>::max()
                                                                   : static_cast<T>(r);
  } else {
    return Narrow<T>(v);
  }
}

template <class T>
ge_rc RunWeighted(const ResizePlan& p, const Call& c) {
  const Tensor y = c.out(0);
  if (y.count == 0) return GE_OK;
  Scratch s;
  if (const ge_rc rc = BuildTables(p, c, &s); rc != GE_OK) return rc;
  const T* x = c.in(0).as<T>();
  const AxisTable& last = s.axis[p.rank - 1];
  const int64_t n = y.dims[p.rank - 1];
  ForEachRow(p, y, s, [&](int64_t r, bool outside, const int64_t* at) {
    std::fill(s.row, s.row + n, 0.0);
    ForEachOuterTap(p, s, at, [&](int64_t offset, double weight) {
      for (int64_t i = 0; i < n; ++i) {
        double sum = 0;
        for (int64_t t = 0; t < last.taps; ++t) {
          const Tap& tap = last.tap[i * last.taps + t];
          if (tap.weight != 0) {
            sum += tap.weight * static_cast<double>(Widen(Load(x, offset + tap.offset)));
          }
        }
        s.row[i] += weight * sum;
      }
    });
    T* out = y.as<T>() + r * n;
    for (int64_t i = 0; i < n; ++i) {
      out[i] = Result<T>(outside || last.outside[i] != 0 ? p.extrapolation : s.row[i]);
    }
  });
  return GE_OK;
}

// Nearest moves elements of kSize bytes; `fill` is extrapolation_value in their type.
struct Fill {
  char bytes[16] = {};
};
template <size_t kSize>
ge_rc RunNearest(const ResizePlan& p, const Fill& fill, const Call& c) {
  const Tensor y = c.out(0);
  if (y.count == 0) return GE_OK;
  Scratch s;
  if (const ge_rc rc = BuildTables(p, c, &s); rc != GE_OK) return rc;
  const char* x = c.in(0).as<char>();
  const AxisTable& last = s.axis[p.rank - 1];
  const int64_t n = y.dims[p.rank - 1], size = static_cast<int64_t>(kSize);
  ForEachRow(p, y, s, [&](int64_t r, bool outside, const int64_t* at) {
    int64_t offset = 0;
    for (int d = 0; d < p.rank - 1; ++d) offset += s.axis[d].tap[at[d]].offset;
    char* out = y.as<char>() + r * n * size;
    for (int64_t i = 0; i < n; ++i) {
      const char* from =
          outside || last.outside[i] != 0 ? fill.bytes : x + (offset + last.tap[i].offset) * size;
      std::memcpy(out + i * size, from, kSize);
    }
  });
  return GE_OK;
}

bool ReadAttributes(const NodeView& n, ResizePlan* p, Why* why) {
  static constexpr std::string_view kModes[] = {"nearest", "linear", "cubic"};
  static constexpr std::string_view kNearest[] = {"round_prefer_floor", "round_prefer_ceil",
                                                  "floor", "ceil"};
  static constexpr std::string_view kCoords[] = {"half_pixel",         "half_pixel_symmetric",
                                                 "pytorch_half_pixel", "align_corners",
                                                 "asymmetric",         "tf_crop_and_resize"};
  static constexpr std::string_view kPolicies[] = {"stretch", "not_larger", "not_smaller"};
  if (!Parse(n.Text("mode"), kModes, &p->mode) ||
      !Parse(n.Text("nearest_mode"), kNearest, &p->nearest) ||
      !Parse(n.Text("coordinate_transformation_mode"), kCoords, &p->coord) ||
      !Parse(n.Text("keep_aspect_ratio_policy"), kPolicies, &p->policy)) {
    return why->Say(GE_WHY_ATTRIBUTE, "a mode of Resize is not known");
  }
  p->antialias = n.Int("antialias") != 0;
  p->exclude_outside = n.Int("exclude_outside") != 0;
  p->cubic_a = n.Float("cubic_coeff_a");
  p->extrapolation = n.Float("extrapolation_value");
  if (p->antialias && p->mode == Mode::kNearest) {
    return why->Say(GE_WHY_ATTRIBUTE, "antialias is not defined for mode nearest");
  }
  const Ints axes = n.List("axes");
  p->n_named = axes.empty() ? p->rank : static_cast<int>(axes.size());
  if (axes.size() > static_cast<size_t>(p->rank)) {
    return why->Say(GE_WHY_ATTRIBUTE, "axes has more entries than X has dims");
  }
  for (int d = 0; d < p->rank; ++d) p->named[d] = axes.empty() ? d : -1;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t a = NormalAxis(axes[i], p->rank);
    if (a < 0 || p->named[a] >= 0) {
      return why->Say(GE_WHY_ATTRIBUTE, "axes[%zu] is out of range or repeated", i);
    }
    p->named[a] = static_cast<int>(i);
  }
  return true;
}

bool PlanResize(const NodeView& n, ResizePlan* p, Why* why) {
  const TensorType x = n.in(0), y = n.out(0);
  p->rank = x.rank;
  if (x.rank < 1 || y.rank != x.rank) return why->Say(GE_WHY_SHAPE, "rank 1 or more is wanted");
  if (!ReadAttributes(n, p, why)) return false;
  const int64_t want[4] = {0, 2 * p->n_named, p->n_named, p->n_named};
  for (uint32_t i = 1; i < 4; ++i) {
    const bool needed = i == 1 && p->coord == Coord::kTfCrop;
    if (!n.has_in(i) || n.in(i).count == 0) {
      if (needed) return why->Say(GE_WHY_SHAPE, "tf_crop_and_resize needs roi");
      continue;
    }
    const int32_t dtype = n.in(i).dtype;
    if (i == 1 ? !IsFloatDType(dtype) : dtype != (i == 2 ? GE_F32 : GE_I64)) {
      return NoDType(n.in(i), why);
    }
    if (n.in(i).count != want[i] && (needed || i != 1)) {
      return why->Say(GE_WHY_SHAPE, "input %u has %lld entries, %lld are wanted", i,
                      static_cast<long long>(n.in(i).count), static_cast<long long>(want[i]));
    }
  }
  // Room for taps: scales are known at run time only, but they must turn dim into dim, so that
  // 1 / scale is below twice the ratio of the dims (sizes are rounded by at most a half).
  for (int d = 0; d < p->rank; ++d) {
    if (x.dims[d] > (1 << 30) || y.dims[d] > (1 << 30)) {
      return why->Say(GE_WHY_SHAPE, "dim %d is beyond 2^30", d);
    }
    if (x.dims[d] == 0 && y.dims[d] != 0) return why->Say(GE_WHY_SHAPE, "X is empty, Y is not");
    if (p->named[d] < 0 && x.dims[d] != y.dims[d]) {
      return why->Say(GE_WHY_SHAPE, "dim %d is not among axes but changes", d);
    }
    const int64_t reach = p->mode == Mode::kCubic ? 2 : 1;
    const int64_t shrink = p->antialias ? 2 * x.dims[d] / std::max<int64_t>(1, y.dims[d]) + 2 : 1;
    p->max_taps[d] = p->mode == Mode::kNearest ? 1 : 2 * reach * shrink;
  }
  return true;
}

std::unique_ptr<Prepared> MakeNearest(const NodeView& n, const ResizePlan& p, Why* why) {
  const int64_t size = ElementBytes(n.in(0).dtype);
  Fill fill;
  const bool number = VisitNumber(n.in(0).dtype, [&](auto tag) {
    const auto v = Result<typename decltype(tag)::type>(p.extrapolation);
    std::memcpy(fill.bytes, &v, sizeof(v));
  });
  if (size == 0 || (!number && p.coord == Coord::kTfCrop)) return NoDType(n.in(0), why), nullptr;
  const auto make = [&](auto bytes) {
    constexpr size_t kSize = decltype(bytes)::value;
    return Make([p, fill](const Call& c) { return RunNearest<kSize>(p, fill, c); });
  };
  switch (size) {
    case 1:
      return make(std::integral_constant<size_t, 1>());
    case 2:
      return make(std::integral_constant<size_t, 2>());
    case 4:
      return make(std::integral_constant<size_t, 4>());
    case 8:
      return make(std::integral_constant<size_t, 8>());
    default:
      return make(std::integral_constant<size_t, 16>());
  }
}

std::unique_ptr<Prepared> PrepareResize(const NodeView& n, Why* why) {
  ResizePlan p{};
  if (!NeedPorts(n, 1, 4, why) || !NeedSameDType(n.in(0), n.out(0), why) ||
      !PlanResize(n, &p, why)) {
    return nullptr;
  }
  std::unique_ptr<Prepared> made;
  if (p.mode == Mode::kNearest) {
    made = MakeNearest(n, p, why);
  } else if (!VisitNumber(n.in(0).dtype, [&](auto tag) {
               using T = typename decltype(tag)::type;
               made = Make([p](const Call& c) { return RunWeighted<T>(p, c); });
             })) {
    NoDType(n.in(0), why);
  }
  if (made == nullptr) return nullptr;
  made->workspace = ScratchBytes(p, n.out(0).shape());
  made->const_align = 1;
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(resize, "Resize", PrepareResize)
