#include "tools/ge_test/random/microsoft.h"

namespace ge::test {
namespace {

// Corners in sixteenths of an axis of 16 steps and crops of 1, 2, 3 or 5 elements, so that every
// place is exact.
void CropAndResizeCase(CaseMaker& m) {
  const int64_t batch = m.r.Int(1, 2), channels = m.r.Int(1, 3), rois = m.r.Int(0, 4);
  const std::vector<int64_t> sizes = {1, 2, 3, 5}, axes = {1, 5, 9, 17};
  const int64_t high = m.r.Pick(axes), wide = m.r.Pick(axes);
  m.Add(Signal(m, {batch, channels, high, wide}));
  std::vector<double> corners;
  for (int64_t i = 0; i < 4 * rois; ++i) {
    corners.push_back(static_cast<double>(m.r.Int(-4, 20)) / 16);
  }
  m.Add(m.Floats(m.dtype(), {rois, 4}, corners));
  m.Add(m.Numbers(DType::kInt32, {rois}, 0, static_cast<double>(batch - 1)));
  m.AddConstant(m.Ints(DType::kInt32, {2}, {m.r.Pick(sizes), m.r.Pick(sizes)}));
  if (m.r.Chance(0.6)) m.Set("mode", std::string(m.r.Chance(0.6) ? "nearest" : "bilinear"));
  if (m.r.Chance(0.6)) m.Set("extrapolation_value", 2.5);
}

// In pixels, beyond [0, size - 1] for what lies outside.
double CropPlaceOf(const RandomCase& c, int64_t roi, int64_t axis, int64_t size, int64_t out_size,
                   int64_t i) {
  const HostTensor& rois = *c.inputs[1].tensor;
  const double from = ElementAsDouble(rois, roi * 4 + axis),
               to = ElementAsDouble(rois, roi * 4 + 2 + axis);
  const double share =
      out_size > 1 ? static_cast<double>(i) / static_cast<double>(out_size - 1) : 0.5;
  return (from + (to - from) * share) * static_cast<double>(size - 1);
}

bool PlainCropAndResize(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  const HostTensor& sizes = *c.inputs[3].tensor;
  const Dims wanted = {c.inputs[1].tensor->dims[0], x.dims[1], ElementAsInt(sizes, 0),
                       ElementAsInt(sizes, 1)};
  if (out->dims != wanted) return false;
  const Attr* mode = FindAttr(c, "mode");
  const bool nearest = mode != nullptr && std::get<std::string>(mode->value) == "nearest";
  const int64_t high = x.dims[2], wide = x.dims[3];
  Index at(wanted);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    double y = CropPlaceOf(c, at.at[0], 0, high, wanted[2], at.at[2]);
    double w = CropPlaceOf(c, at.at[0], 1, wide, wanted[3], at.at[3]);
    if (y < 0 || w < 0 || y > static_cast<double>(high - 1) || w > static_cast<double>(wide - 1)) {
      SetElement(out, i, FloatOr(c, "extrapolation_value", 0));
      continue;
    }
    if (nearest) {
      y = std::floor(y + 0.5);
      w = std::floor(w + 0.5);
    }
    double sum = 0;
    for (int64_t k = 0; k < high * wide; ++k) {
      const double down = std::max(0.0, 1 - std::fabs(y - static_cast<double>(k / wide)));
      const double across = std::max(0.0, 1 - std::fabs(w - static_cast<double>(k % wide)));
      const int64_t image = ElementAsInt(*c.inputs[2].tensor, at.at[0]);
      sum += down * across * ElementAsDouble(x, (image * x.dims[1] + at.at[1]) * high * wide + k);
    }
    SetElement(out, i, sum);
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(microsoft_crop_and_resize) = {"com.microsoft.CropAndResize", CropAndResizeCase, 4e-6,
                                           Error::kOfTerms, PlainCropAndResize};

}  // namespace ge::test
