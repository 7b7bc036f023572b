#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/layers.h"

namespace ge::test {
namespace {

void RoiAlignCase(CaseMaker& m) {
  const int64_t batch = m.r.Int(1, 2), rois = m.r.Chance(0.08) ? 0 : m.Size(4, 30);
  // native takes whole groups of 16 channels.
  const int64_t channels = m.r.Int(1, m.large ? 6 : 3) * (m.r.Chance(0.5) ? 16 : 1);
  const int64_t high = m.Size(8, 70), wide = m.Size(8, 70);
  // Of large ones so far that some boxes lie in the middle of the picture.
  const int64_t reach = m.large ? 8 * std::max(high, wide) : 40;
  m.Add(Signal(m, {batch, channels, high, wide}));
  std::vector<double> v;
  for (int64_t i = 0; i < rois; ++i) {
    // Some reach beyond the picture; sizes are odd eighths, so that none needs a whole number of
    // samples by a hair's breadth.
    const double x = static_cast<double>(m.r.Int(-8, reach)) / 8;
    const double y = static_cast<double>(m.r.Int(-8, reach)) / 8;
    const int64_t most = m.large ? reach / 4 : 24;
    v.insert(v.end(), {x, y, x + static_cast<double>(2 * m.r.Int(0, most) + 1) / 8,
                       y + static_cast<double>(2 * m.r.Int(0, most) + 1) / 8});
  }
  m.Add(m.Floats(m.dtype(), {rois, 4}, v));
  m.Add(m.Numbers(DType::kInt64, {rois}, 0, static_cast<double>(batch - 1)));
  m.Set("output_height", m.Size(4, 9));
  m.Set("output_width", m.Size(4, 9));
  // So many samples that native sums them in several goes.
  if (m.r.Chance(0.6)) m.Set("sampling_ratio", m.r.Chance(0.2) ? 12 : m.r.Int(0, 3));
  if (m.r.Chance(0.6)) m.Set("spatial_scale", m.r.Pick(std::vector<double>{0.5, 1, 2}));
  if (m.r.Chance(0.4)) m.Set("mode", std::string("max"));
  if (m.r.Chance(0.5)) {
    m.Set("coordinate_transformation_mode", std::string("output_half_pixel"));
  }
}

// Weight of a pixel for a sample at `at`, 0 where it has none.
double RoiAlignShare(double at, int64_t pixel, int64_t size) {
  if (at < -1 || at > static_cast<double>(size)) return 0;
  at = std::clamp(at, 0.0, static_cast<double>(size - 1));
  return std::max(0.0, 1 - std::fabs(at - static_cast<double>(pixel)));
}

struct RoiAlignAxis {
  double start, bin;
  int64_t samples;
};

RoiAlignAxis PlainRoiAlignAxis(const RandomCase& c, double from, double to, int64_t bins) {
  const bool old = FindAttr(c, "coordinate_transformation_mode") != nullptr;
  const double scale = FloatOr(c, "spatial_scale", 1);
  double size = (to - from) * scale;
  if (old) size = std::max(size, 1.0);
  RoiAlignAxis a{from * scale - (old ? 0 : 0.5), size / static_cast<double>(bins),
                 IntOr(c, "sampling_ratio", 0)};
  if (a.samples == 0) a.samples = static_cast<int64_t>(std::ceil(a.bin));
  return a;
}

bool PlainRoiAlign(const RandomCase& c, HostTensor* out) {
  const HostTensor &x = *c.inputs[0].tensor, &rois = *c.inputs[1].tensor;
  const int64_t height = IntOr(c, "output_height", 1), width = IntOr(c, "output_width", 1);
  if (out->dims != Dims{rois.dims[0], x.dims[1], height, width}) return false;
  const bool max = FindAttr(c, "mode") != nullptr;
  Index at(out->dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    const auto corner = [&](int64_t k) { return ElementAsDouble(rois, at.at[0] * 4 + k); };
    const RoiAlignAxis down = PlainRoiAlignAxis(c, corner(1), corner(3), height);
    const RoiAlignAxis across = PlainRoiAlignAxis(c, corner(0), corner(2), width);
    const int64_t image = ElementAsInt(*c.inputs[2].tensor, at.at[0]);
    const int64_t samples = down.samples * across.samples;
    double sum = 0, most = -1e300;
    for (int64_t s = 0; s < samples; ++s) {
      const auto place = [](const RoiAlignAxis& a, int64_t bin, int64_t k) {
        const double part = (static_cast<double>(k) + 0.5) / static_cast<double>(a.samples);
        return a.start + (static_cast<double>(bin) + part) * a.bin;
      };
      const double y = place(down, at.at[2], s / across.samples);
      const double w = place(across, at.at[3], s % across.samples);
      // Four pixels count, those of weight 0 among them.
      int64_t counted = 0;
      for (int64_t k = 0; k < x.dims[2] * x.dims[3]; ++k) {
        const double share =
            RoiAlignShare(y, k / x.dims[3], x.dims[2]) * RoiAlignShare(w, k % x.dims[3], x.dims[3]);
        const double v =
            share * ElementAsDouble(x, (image * x.dims[1] + at.at[1]) * x.dims[2] * x.dims[3] + k);
        sum += v;
        if (share == 0) continue;
        ++counted;
        most = std::max(most, v);
      }
      if (counted < 4) most = std::max(most, 0.0);
    }
    SetElement(out, i, samples == 0 ? 0 : max ? most : sum / static_cast<double>(samples));
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(roi_align) = {"RoiAlign", RoiAlignCase, 4e-6, Error::kOfTerms, PlainRoiAlign};

}  // namespace ge::test
