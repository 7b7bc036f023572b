#include "plugins/cpu/native/resample/roi_align.h"

#include <algorithm>
#include <cmath>

#include "ge/ge_plugin.hpp"
#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/price.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/price.h"
#include "plugins/units/resample/resize.h"

namespace ge_engines::cpu::native {
namespace {

constexpr double kMostSamples = 0x1p24;  // of one bin: more would be a damaged region
constexpr size_t kTaps = 512;            // pixels that are summed at once

// Bins of one region along one axis, in pixels.
struct Bins {
  double start, size;
  int64_t samples;  // along the axis, of one bin; -1: no sane number
};

// Two neighbouring pixels and the weight of the second; none a pixel off the image and more.
struct Pair {
  int64_t low = 0, high = 0;
  double share = 0;
  bool inside = false;
};

Pair PairAt(double at, int64_t size) {
  if (!(at >= -1 && at <= static_cast<double>(size))) return {};
  at = std::max(at, 0.0);
  const auto low = static_cast<int64_t>(at);
  if (low >= size - 1) return {size - 1, size - 1, 0, true};
  return {low, low + 1, at - static_cast<double>(low), true};
}

class RoiAligned final : public Kernel {
 public:
  RoiAligned(const Simd& simd, const RoiAlignSpec& spec, int threads)
      : simd_(simd), s_(spec), threads_(threads) {}

  ge_rc Do(const Call& call) const override {
    const auto* image = reinterpret_cast<const int64_t*>(call.p[3]);
    if (const ge_rc rc = Check(call, image); rc != GE_OK) return rc;
    ForJobs(threads_, s_.rois, call.p[4], RoiAlignFloats(s_), [&](int64_t r, float* own) {
      Region(call.p[1] + image[r] * s_.height * s_.width * s_.channels, call.p[2] + 4 * r,
             call.p[0] + r * s_.channels * s_.out_height * s_.out_width, own);
    });
    return GE_OK;
  }

 private:
  Bins BinsOf(double from, double to, int64_t bins) const {
    const double shift = s_.half_pixel ? 0.5 : 0;
    double extent = (to * s_.scale - shift) - (from * s_.scale - shift);
    if (!s_.half_pixel) extent = std::max(extent, 1.0);  // a region of nothing becomes a pixel
    const double size = extent / static_cast<double>(bins);
    const double wanted = s_.ratio > 0 ? static_cast<double>(s_.ratio) : std::ceil(size);
    const bool sane = wanted <= kMostSamples;  // false for NaN
    return {from * s_.scale - shift, size,
            sane ? std::max<int64_t>(0, static_cast<int64_t>(wanted)) : -1};
  }
  Bins Across(const float* roi) const { return BinsOf(roi[0], roi[2], s_.out_width); }
  Bins Down(const float* roi) const { return BinsOf(roi[1], roi[3], s_.out_height); }

  ge_rc Check(const Call& call, const int64_t* image) const {
    for (int64_t r = 0; r < s_.rois; ++r) {
      if (image[r] < 0 || image[r] >= s_.batch) {
        return ge::plugin::Fail(call.err, GE_INVALID_ARGUMENT, call.node,
                                "region %lld is of image %lld, wanted 0 to %lld",
                                static_cast<long long>(r), static_cast<long long>(image[r]),
                                static_cast<long long>(s_.batch - 1));
      }
      const float* roi = call.p[2] + 4 * r;
      const Bins x = Across(roi), y = Down(roi);
      const double all = static_cast<double>(x.samples) * static_cast<double>(y.samples);
      if (x.samples >= 0 && y.samples >= 0 && all <= kMostSamples) continue;
      return ge::plugin::Fail(call.err, GE_INVALID_ARGUMENT, call.node,
                              "region %lld asks for more than 2^24 samples a bin",
                              static_cast<long long>(r));
    }
    return GE_OK;
  }

  // Bins as rows of channels into `own`, then turned into the result.
  void Region(const float* x, const float* roi, float* y, float* own) const {
    const Bins across = Across(roi), down = Down(roi);
    float* row = own;
    for (int64_t h = 0; h < s_.out_height; ++h) {
      for (int64_t w = 0; w < s_.out_width; ++w, row += s_.channels) {
        Bin(x, down, h, across, w, row, own + Cells() * s_.channels);
      }
    }
    simd_.transpose(own, s_.channels, y, Cells(), Cells(), s_.channels);
  }

  int64_t Cells() const { return s_.out_height * s_.out_width; }

  static Pair Sample(const Bins& b, int64_t bin, int64_t i, int64_t size) {
    const double at = b.start + static_cast<double>(bin) * b.size +
                      (static_cast<double>(i) + 0.5) * b.size / static_cast<double>(b.samples);
    return PairAt(at, size);
  }

  void Bin(const float* x, const Bins& down, int64_t h, const Bins& across, int64_t w, float* y,
           float* more) const {
    Taps taps;
    const double count = static_cast<double>(down.samples * across.samples);
    bool begun = false;
    const auto flush = [&] {
      Sum(x, taps, begun ? more : y);
      if (begun) simd_.binary(Fn::kAdd, y, more, y, s_.channels);
      begun = true;
      taps.n = 0;
    };
    for (int64_t i = 0; i < down.samples; ++i) {
      const Pair row = Sample(down, h, i, s_.height);
      for (int64_t k = 0; row.inside && k < across.samples; ++k) {
        const Pair column = Sample(across, w, k, s_.width);
        if (!column.inside) continue;
        if (taps.n + 4 > kTaps) flush();
        taps.Add(s_, row.low, column.low, (1 - row.share) * (1 - column.share) / count);
        taps.Add(s_, row.low, column.high, (1 - row.share) * column.share / count);
        taps.Add(s_, row.high, column.low, row.share * (1 - column.share) / count);
        taps.Add(s_, row.high, column.high, row.share * column.share / count);
      }
    }
    if (taps.n > 0 || !begun) flush();
  }

  struct Taps {
    int64_t at[kTaps];
    float weight[kTaps];
    size_t n = 0;
    void Add(const RoiAlignSpec& s, int64_t row, int64_t column, double w) {
      at[n] = (row * s.width + column) * s.channels;
      weight[n++] = static_cast<float>(w);
    }
  };

  void Sum(const float* x, const Taps& taps, float* y) const {
    const float none = 0;
    const auto n = static_cast<int64_t>(taps.n);
    simd_.shifted_product(taps.weight, n, x, taps.at, &none, y, s_.channels, 1, s_.channels, n);
  }

  const Simd& simd_;
  const RoiAlignSpec s_;
  const int threads_;
};

}  // namespace

uint64_t RoiAlignFloats(const RoiAlignSpec& s) {
  return static_cast<uint64_t>((s.out_height * s.out_width + 1) * s.channels);
}

std::unique_ptr<Kernel> RoiAlignKernel(const Simd& simd, const RoiAlignSpec& spec, int threads) {
  return std::make_unique<RoiAligned>(simd, spec, threads);
}

namespace {

// A vector of each of four pixels for each sample, and x brought into channels last; regions that
// say how many samples they want only when they are there are taken for such of two along each
// axis.
double RoiAlignNs(const RoiAlignSpec& s, const Machine& m) {
  const double side = s.ratio > 0 ? static_cast<double>(s.ratio) : 2;
  const double bins = static_cast<double>(s.rois * s.out_height * s.out_width);
  const double vectors = static_cast<double>(s.channels) / ByIsa(m, 16, 8, 4);
  const double x = static_cast<double>(s.batch * s.channels * s.height * s.width);
  return (bins * side * side * (4 * vectors * 0.4 + 12) + x * 0.5) / m.compute;
}

class RoiAlignKind final : public KindOf<RoiAlignSpec> {
 public:
  bool Takes(const Unit& u, const Parser&, const Machine&, Why* why) const override {
    return SpecOf(u).channels % kRoiChannels == 0 ||
           why->Say(GE_WHY_SHAPE, "channels are no multiple of " + std::to_string(kRoiChannels));
  }
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    return WorkPrice(unit, parser, machine, {RoiAlignNs(SpecOf(unit), machine)});
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const RoiAlignSpec& spec = SpecOf(u);
    const int threads = spec.rois > 1 ? b->machine().threads : 1;
    b->NeedWorkspace(RoiAlignFloats(spec) * sizeof(float) * static_cast<uint64_t>(threads));
    b->AddPlain(u, "roi align", RoiAlignKernel(b->simd(), spec, threads),
                {b->Get(u.in[0], Layout::ChannelsLast(b->parser().dims(u.in[0]))).place,
                 b->GetDense(u.in[1]).place, b->GetDense(u.in[2]).place, b->Workspace()});
  }
};

const RoiAlignKind kRoiAlignKind;
}  // namespace

GE_NATIVE_KINDS(roi_align, &kRoiAlignKind)

}  // namespace ge_engines::cpu::native
