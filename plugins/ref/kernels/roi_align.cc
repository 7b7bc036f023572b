#include <algorithm>

#include "plugins/ref/checks.h"

namespace ref {
namespace {

// Samples of one bin: more would be a damaged region.
constexpr double kMostSamples = 0x1p24;

struct RoiAlignPlan {
  int64_t rois, batch, channels, height, width, out_height, out_width;
  int64_t ratio;  // samples along each axis of a bin; 0 = by the region's size
  double scale;
  bool half_pixel, max;
};

// Bins of one region along one axis, in pixels.
struct BinAxis {
  double start, size;
  int64_t samples;
};

// Two neighbouring pixels and the weight of the second; `inside` is false more than a pixel off.
struct PixelPair {
  int64_t low, high;
  double share;
  bool inside;
};

PixelPair PairAt(double at, int64_t size) {
  if (!(at >= -1 && at <= static_cast<double>(size))) return {0, 0, 0, false};
  at = std::max(at, 0.0);
  const auto low = static_cast<int64_t>(at);
  if (low >= size - 1) return {size - 1, size - 1, 0, true};
  return {low, low + 1, at - static_cast<double>(low), true};
}

BinAxis BinsOf(const RoiAlignPlan& p, double from, double to, int64_t bins) {
  const double shift = p.half_pixel ? 0.5 : 0;
  double extent = (to * p.scale - shift) - (from * p.scale - shift);
  if (!p.half_pixel) extent = std::max(extent, 1.0);  // a region of nothing becomes a pixel
  const double size = extent / static_cast<double>(bins);
  const double wanted = p.ratio > 0 ? static_cast<double>(p.ratio) : std::ceil(size);
  const bool sane = wanted <= kMostSamples;  // false for NaN
  return {from * p.scale - shift, size,
          sane ? std::max<int64_t>(0, static_cast<int64_t>(wanted)) : -1};
}

double SampleAt(const BinAxis& b, int64_t bin, int64_t i) {
  return b.start + static_cast<double>(bin) * b.size +
         (static_cast<double>(i) + 0.5) * b.size / static_cast<double>(b.samples);
}

// Mean of the samples, or the greatest of their weighted pixels: ONNX's node test wants the
// maximum over the four products, not over their sum.
template <class T>
double BinValue(const RoiAlignPlan& p, const T* plane, const BinAxis& down, int64_t h,
                const BinAxis& across, int64_t w) {
  double sum = 0, most = -std::numeric_limits<double>::infinity();
  for (int64_t i = 0; i < down.samples; ++i) {
    const PixelPair row = PairAt(SampleAt(down, h, i), p.height);
    for (int64_t k = 0; k < across.samples; ++k) {
      const PixelPair column = PairAt(SampleAt(across, w, k), p.width);
      if (!row.inside || !column.inside) {
        most = std::max(most, 0.0);
        continue;
      }
      const double wy[2] = {1 - row.share, row.share}, wx[2] = {1 - column.share, column.share};
      for (int corner = 0; corner < 4; ++corner) {
        const int64_t y = corner / 2 == 0 ? row.low : row.high;
        const int64_t x = corner % 2 == 0 ? column.low : column.high;
        const double v = wy[corner / 2] * wx[corner % 2] * Widen(Load(plane, y * p.width + x));
        sum += v;
        most = std::max(most, v);
      }
    }
  }
  const int64_t count = down.samples * across.samples;
  if (count == 0) return 0;
  return p.max ? most : sum / static_cast<double>(count);
}

template <class T>
ge_rc RunRoiAlign(const RoiAlignPlan& p, const Call& c) {
  const T* x = c.in(0).as<T>();
  const Tensor rois = c.in(1);
  const int64_t* batch = c.in(2).as<int64_t>();
  T* y = c.out(0).as<T>();
  for (int64_t r = 0; r < p.rois; ++r) {
    const int64_t image = Load(batch, r);
    if (image < 0 || image >= p.batch) {
      return c.Fail(GE_INVALID_ARGUMENT, "region %lld is of image %lld, wanted 0 to %lld",
                    static_cast<long long>(r), static_cast<long long>(image),
                    static_cast<long long>(p.batch - 1));
    }
    const BinAxis across = BinsOf(p, FloatAt(rois, r * 4), FloatAt(rois, r * 4 + 2), p.out_width);
    const BinAxis down =
        BinsOf(p, FloatAt(rois, r * 4 + 1), FloatAt(rois, r * 4 + 3), p.out_height);
    if (across.samples < 0 || down.samples < 0 ||
        static_cast<double>(across.samples) * static_cast<double>(down.samples) > kMostSamples) {
      return c.Fail(GE_INVALID_ARGUMENT, "region %lld asks for more than 2^24 samples a bin",
                    static_cast<long long>(r));
    }
    for (int64_t ch = 0; ch < p.channels; ++ch) {
      const T* plane = x + (image * p.channels + ch) * p.height * p.width;
      for (int64_t h = 0; h < p.out_height; ++h) {
        for (int64_t w = 0; w < p.out_width; ++w) {
          Spend(down.samples * across.samples);
          *y++ = Narrow<T>(BinValue(p, plane, down, h, across, w));
        }
      }
    }
  }
  return GE_OK;
}

bool PlanRoiAlign(const NodeView& n, RoiAlignPlan* p, Why* why) {
  if (!NeedPorts(n, 3, 3, why) || !NeedSameDType(n.in(0), n.out(0), why)) return false;
  const TensorType x = n.in(0), rois = n.in(1), batch = n.in(2), y = n.out(0);
  if (!IsFloatDType(rois.dtype)) return NoDType(rois, why);
  if (batch.dtype != GE_I64) return NoDType(batch, why);
  if (x.rank != 4 || rois.rank != 2 || rois.dims[1] != 4 || y.rank != 4 ||
      y.dims[0] != rois.dims[0] || y.dims[1] != x.dims[1] || batch.count != rois.dims[0]) {
    return why->Say(GE_WHY_SHAPE,
                    "X [N, C, H, W], rois [R, 4], batch_indices [R] and Y [R, C, h, w] are wanted");
  }
  if (y.count != 0 && (x.dims[2] == 0 || x.dims[3] == 0)) {
    return why->Say(GE_WHY_SHAPE, "X is empty, Y is not");
  }
  const std::string_view mode = n.Text("mode");
  const std::string_view where = n.Text("coordinate_transformation_mode");
  if ((mode != "avg" && mode != "max") || (where != "half_pixel" && where != "output_half_pixel")) {
    return why->Say(GE_WHY_ATTRIBUTE, "a mode of RoiAlign is not known");
  }
  *p = {y.dims[0],
        x.dims[0],
        x.dims[1],
        x.dims[2],
        x.dims[3],
        y.dims[2],
        y.dims[3],
        n.Int("sampling_ratio"),
        n.Float("spatial_scale"),
        where == "half_pixel",
        mode == "max"};
  return p->ratio >= 0 || why->Say(GE_WHY_ATTRIBUTE, "sampling_ratio is negative");
}

std::unique_ptr<Prepared> PrepareRoiAlign(const NodeView& n, Why* why) {
  RoiAlignPlan p{};
  if (!PlanRoiAlign(n, &p, why)) return nullptr;
  std::unique_ptr<Prepared> made;
  if (!VisitFloat(n.in(0).dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        made = Make([p](const Call& c) { return RunRoiAlign<T>(p, c); });
        made->const_align = 1;
      })) {
    NoDType(n.in(0), why);
  }
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(roi_align, "RoiAlign", PrepareRoiAlign)
