#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/layers.h"

namespace ge::test {
namespace {

// Regions lie on quarters, which every float holds and which no scale here brings to a tie.
void MaxRoiPoolCase(CaseMaker& m) {
  const int64_t batch = m.r.Int(1, 2), height = m.r.Int(1, 8), width = m.r.Int(1, 8);
  const int64_t rois = m.r.Chance(0.08) ? 0 : m.r.Int(1, 4);
  m.Add(Signal(m, {batch, m.r.Int(1, 3), height, width}));
  std::vector<double> v;
  for (int64_t i = 0; i < rois; ++i) {
    v.push_back(static_cast<double>(m.r.Int(0, batch - 1)));
    for (int64_t k = 0; k < 4; ++k) v.push_back(static_cast<double>(m.r.Int(-8, 40)) / 4 + 0.0625);
  }
  m.Add(m.Floats(m.dtype(), {rois, 5}, v));
  m.Set("pooled_shape", Dims{m.r.Int(1, 4), m.r.Int(1, 4)});
  if (m.r.Chance(0.6)) m.Set("spatial_scale", m.r.Pick(std::vector<double>{0.5, 1, 2}));
}

// The elements of bin i along one axis, as a predicate on a pixel.
bool InMaxRoiBin(double from, double to, int64_t i, int64_t bins, int64_t pixel) {
  const double extent = std::max(std::round(to) - std::round(from) + 1, 1.0);
  const double at = static_cast<double>(i), count = static_cast<double>(bins);
  const double p = static_cast<double>(pixel) - std::round(from);
  return p >= std::floor(at * extent / count) && p < std::ceil((at + 1) * extent / count);
}

bool PlainMaxRoiPool(const RandomCase& c, HostTensor* out) {
  const HostTensor &x = *c.inputs[0].tensor, &rois = *c.inputs[1].tensor;
  const Dims shape = IntsOr(c, "pooled_shape", {});
  if (out->dims != Dims{rois.dims[0], x.dims[1], shape[0], shape[1]}) return false;
  const double scale = FloatOr(c, "spatial_scale", 1);
  Index at(out->dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    const auto corner = [&](int64_t k) { return ElementAsDouble(rois, at.at[0] * 5 + k) * scale; };
    const auto image = static_cast<int64_t>(ElementAsDouble(rois, at.at[0] * 5));
    double most = 0;
    bool any = false;
    for (int64_t h = 0; h < x.dims[2]; ++h) {
      if (!InMaxRoiBin(corner(2), corner(4), at.at[2], shape[0], h)) continue;
      for (int64_t w = 0; w < x.dims[3]; ++w) {
        if (!InMaxRoiBin(corner(1), corner(3), at.at[3], shape[1], w)) continue;
        const double v = ElementAsDouble(x, Flat(x.dims, {image, at.at[1], h, w}));
        most = any ? std::max(most, v) : v;
        any = true;
      }
    }
    SetElement(out, i, most);
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(max_roi_pool) = {"MaxRoiPool", MaxRoiPoolCase, 0, Error::kOfElement, PlainMaxRoiPool};

}  // namespace ge::test
