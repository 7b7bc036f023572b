#include <algorithm>

#include "plugins/ref/checks.h"

namespace ref {
namespace {

struct CropResizePlan {
  int64_t rois, batch, channels, height, width, out_height, out_width;
  double outside;
  bool nearest;
};

// The pixels of one axis that an element of a crop lies between, and the weight of the second.
struct CropPixels {
  int64_t low, high;
  double share;
  bool inside;
};

// The first and the last element lie just where the region begins and ends. Roundings are those of
// the element type, since a hair's breadth decides what lies outside.
template <class W>
CropPixels CropPlace(W begin, W end, int64_t size, int64_t out_size, int64_t i, bool nearest) {
  const W last = static_cast<W>(size - 1);
  W at = W(0.5) * (begin + end) * last;
  if (out_size > 1) {
    const W step = (end - begin) * last / static_cast<W>(out_size - 1);
    at = begin * last + static_cast<W>(i) * step;
    if (i == 0) at = begin * last;
    if (i == out_size - 1) at = end * last;
  }
  if (!(at >= 0 && at <= last)) return {0, 0, 0, false};
  if (nearest) {
    const auto pixel = static_cast<int64_t>(std::round(at));
    return {pixel, pixel, 0, true};
  }
  const auto low = static_cast<int64_t>(std::floor(at));
  return {low, static_cast<int64_t>(std::ceil(at)), static_cast<double>(at - std::floor(at)), true};
}

template <class T>
double CropValue(const T* plane, int64_t width, const CropPixels& y, const CropPixels& x) {
  const auto row = [&](int64_t i) {
    const double left = Widen(Load(plane, i * width + x.low));
    return x.share == 0 ? left : left + (Widen(Load(plane, i * width + x.high)) - left) * x.share;
  };
  const double top = row(y.low);
  return y.share == 0 ? top : top + (row(y.high) - top) * y.share;
}

template <class T>
ge_rc RunCropAndResize(const CropResizePlan& p, const Call& c) {
  using W = std::conditional_t<std::is_same_v<T, double>, double, float>;
  const T *x = c.in(0).as<T>(), *rois = c.in(1).as<T>();
  const int32_t* images = c.in(2).as<int32_t>();
  T* y = c.out(0).as<T>();
  const int64_t plane = p.height * p.width;
  for (int64_t r = 0; r < p.rois; ++r) {
    const int64_t image = Load(images, r);
    if (image < 0 || image >= p.batch) {
      return c.Fail(GE_INVALID_ARGUMENT, "region %lld is of image %lld, wanted 0 to %lld",
                    static_cast<long long>(r), static_cast<long long>(image),
                    static_cast<long long>(p.batch - 1));
    }
    const auto corner = [&](int64_t k) { return static_cast<W>(Widen(Load(rois, r * 4 + k))); };
    for (int64_t ch = 0; ch < p.channels; ++ch) {
      const T* from = x + (image * p.channels + ch) * plane;
      for (int64_t h = 0; h < p.out_height; ++h) {
        const auto row = CropPlace<W>(corner(0), corner(2), p.height, p.out_height, h, p.nearest);
        for (int64_t w = 0; w < p.out_width; ++w) {
          const auto column =
              CropPlace<W>(corner(1), corner(3), p.width, p.out_width, w, p.nearest);
          const bool inside = row.inside && column.inside;
          *y++ = Narrow<T>(inside ? CropValue(from, p.width, row, column) : p.outside);
        }
        Spend(4 * p.out_width);
      }
    }
  }
  return GE_OK;
}

bool PlanCropAndResize(const NodeView& n, CropResizePlan* p, Why* why) {
  if (!NeedPorts(n, 4, 4, why) || !NeedSameDType(n.in(0), n.in(1), why) ||
      !NeedSameDType(n.in(0), n.out(0), why)) {
    return false;
  }
  const TensorType x = n.in(0), rois = n.in(1), images = n.in(2), y = n.out(0);
  if (images.dtype != GE_I32) return NoDType(images, why);
  if (x.rank != 4 || rois.rank != 2 || rois.dims[1] != 4 || y.rank != 4 ||
      y.dims[0] != rois.dims[0] || y.dims[1] != x.dims[1] || images.count != rois.dims[0]) {
    return why->Say(GE_WHY_SHAPE,
                    "X [N, C, H, W], rois [R, 4], batch_indices [R] and Y [R, C, h, w] are wanted");
  }
  const std::string_view mode = n.Text("mode");
  if (mode != "bilinear" && mode != "nearest") {
    return why->Say(GE_WHY_ATTRIBUTE, "a mode of CropAndResize is not known");
  }
  *p = {y.dims[0],        x.dims[0], x.dims[1], x.dims[2],
        x.dims[3],        y.dims[2], y.dims[3], n.Float("extrapolation_value"),
        mode == "nearest"};
  return true;
}

std::unique_ptr<Prepared> PrepareCropAndResize(const NodeView& n, Why* why) {
  CropResizePlan p{};
  if (!PlanCropAndResize(n, &p, why)) return nullptr;
  std::unique_ptr<Prepared> made;
  if (!VisitFloat(n.in(0).dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        made = Make([p](const Call& c) { return RunCropAndResize<T>(p, c); });
        made->const_align = 1;
      })) {
    NoDType(n.in(0), why);
  }
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(microsoft_crop_and_resize, "com.microsoft.CropAndResize", PrepareCropAndResize)
