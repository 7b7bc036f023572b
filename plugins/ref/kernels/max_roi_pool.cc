#include <algorithm>

#include "plugins/ref/checks.h"

namespace ref {
namespace {

struct RoiPoolPlan {
  int64_t rois, batch, channels, height, width, out_height, out_width;
  double scale;
};

// Bin `i` of `bins` over the pixels [start, start + extent), cut to [0, size).
struct Bin {
  int64_t first, end;
};
Bin BinOf(int64_t start, int64_t extent, int64_t i, int64_t bins, int64_t size) {
  const int64_t first = start + i * extent / bins;
  const int64_t end = start + ((i + 1) * extent + bins - 1) / bins;
  return {std::clamp<int64_t>(first, 0, size), std::clamp<int64_t>(end, 0, size)};
}

// The first and the last pixel of a region along one axis.
struct Span {
  int64_t start, extent;
};

// False when the numbers are no pixels.
bool PixelSpan(double from, double to, double scale, Span* s) {
  const double a = std::round(from * scale), b = std::round(to * scale);
  if (!(std::fabs(a) < 0x1p31) || !(std::fabs(b) < 0x1p31)) return false;
  s->start = static_cast<int64_t>(a);
  s->extent = std::max<int64_t>(1, static_cast<int64_t>(b) - s->start + 1);
  return true;
}

template <class T>
double MaxOf(const RoiPoolPlan& p, const T* plane, const Bin& rows, const Bin& columns) {
  if (rows.first >= rows.end || columns.first >= columns.end) return 0;
  double best = -std::numeric_limits<double>::infinity();
  for (int64_t h = rows.first; h < rows.end; ++h) {
    for (int64_t w = columns.first; w < columns.end; ++w) {
      const double v = Widen(Load(plane, h * p.width + w));
      if (v != v) return v;  // NaN wins
      best = std::max(best, v);
    }
  }
  return best;
}

template <class T>
ge_rc RunMaxRoiPool(const RoiPoolPlan& p, const Call& c) {
  const T* x = c.in(0).as<T>();
  const Tensor rois = c.in(1);
  T* y = c.out(0).as<T>();
  for (int64_t r = 0; r < p.rois; ++r) {
    const double image = FloatAt(rois, r * 5);
    if (!(image >= 0 && image < static_cast<double>(p.batch))) {
      return c.Fail(GE_INVALID_ARGUMENT, "region %lld is of image %g, wanted 0 to %lld",
                    static_cast<long long>(r), image, static_cast<long long>(p.batch - 1));
    }
    Span across, down;
    if (!PixelSpan(FloatAt(rois, r * 5 + 1), FloatAt(rois, r * 5 + 3), p.scale, &across) ||
        !PixelSpan(FloatAt(rois, r * 5 + 2), FloatAt(rois, r * 5 + 4), p.scale, &down)) {
      return c.Fail(GE_INVALID_ARGUMENT, "region %lld reaches beyond 2^31 pixels",
                    static_cast<long long>(r));
    }
    for (int64_t ch = 0; ch < p.channels; ++ch) {
      const int64_t plane = static_cast<int64_t>(image) * p.channels + ch;
      for (int64_t h = 0; h < p.out_height; ++h) {
        const Bin rows = BinOf(down.start, down.extent, h, p.out_height, p.height);
        for (int64_t w = 0; w < p.out_width; ++w) {
          const Bin columns = BinOf(across.start, across.extent, w, p.out_width, p.width);
          Spend((rows.end - rows.first) * (columns.end - columns.first));
          *y++ = Narrow<T>(MaxOf(p, x + plane * p.height * p.width, rows, columns));
        }
      }
    }
  }
  return GE_OK;
}

std::unique_ptr<Prepared> PrepareMaxRoiPool(const NodeView& n, Why* why) {
  if (!NeedPorts(n, 2, 2, why) || !NeedSameDType(n.in(0), n.out(0), why)) return nullptr;
  const TensorType x = n.in(0), rois = n.in(1), y = n.out(0);
  if (!IsFloatDType(rois.dtype)) return NoDType(rois, why), nullptr;
  if (x.rank != 4 || rois.rank != 2 || rois.dims[1] != 5 || y.rank != 4 ||
      y.dims[0] != rois.dims[0] || y.dims[1] != x.dims[1]) {
    why->Say(GE_WHY_SHAPE, "X [N, C, H, W], rois [R, 5] and Y [R, C, h, w] are wanted");
    return nullptr;
  }
  for (int d = 2; d < 4; ++d) {
    if (x.dims[d] >= int64_t{1} << 30 || y.dims[d] >= int64_t{1} << 30) {
      return why->Say(GE_WHY_SHAPE, "spatial dim %d is beyond 2^30", d - 2), nullptr;
    }
  }
  const RoiPoolPlan p{y.dims[0], x.dims[0], x.dims[1], x.dims[2],
                      x.dims[3], y.dims[2], y.dims[3], n.Float("spatial_scale")};
  std::unique_ptr<Prepared> made;
  if (!VisitFloat(x.dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        made = Make([p](const Call& c) { return RunMaxRoiPool<T>(p, c); });
        made->const_align = 1;
      })) {
    NoDType(x, why);
  }
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(max_roi_pool, "MaxRoiPool", PrepareMaxRoiPool)
