// Windows of pixels whose channels are the lanes: sums by a weight for each channel (depth-wise
// convolutions) and extremes. No window is copied; borders are the caller's affair.
#include "plugins/cpu/kit/simd/vector.h"

HWY_BEFORE_NAMESPACE();
namespace ge_cpu {
namespace GE_SIMD_ISA {
namespace {

// AllPixels of a block by vectors of channels: sums, a row of weights and what is being read fill
// the registers, and each weight that is read serves all pixels of the block.
constexpr int kPixelsAtOnce = kManyRegisters ? 8 : 4;
constexpr int kChannelVectors = 2;

struct ChannelTaps {
  const float* const* from;  // of each tap: where the first pixel reads
  const float* const* w;     // of each tap: weights by channel; not of extremes
  int64_t taps, step;        // floats from a pixel's reads to the next's
  const float* bias;         // by channel, not of extremes
  float scale;               // of extremes and sums without weights
  float* y;
  int64_t channels;  // floats from a pixel of y to the next
};

struct WeighedSum {
  static constexpr bool kWeighed = true;
  template <class D>
  static hn::Vec<D> Begin(D d, const ChannelTaps& q, int64_t c) {
    return hn::LoadU(d, q.bias + c);
  }
  template <class V>
  static V Step(V sum, V x, V w) {
    return hn::MulAdd(x, w, sum);
  }
  template <class D>
  static hn::Vec<D> End(D, const ChannelTaps&, hn::Vec<D> sum) {
    return sum;
  }
};
struct Greatest {
  static constexpr bool kWeighed = false;
  template <class D>
  static hn::Vec<D> Begin(D d, const ChannelTaps&, int64_t) {
    return hn::Set(d, -std::numeric_limits<float>::infinity());
  }
  template <class V>
  static V Step(V sum, V x, V) {
    return MaxNan(sum, x);
  }
  template <class D>
  static hn::Vec<D> End(D, const ChannelTaps&, hn::Vec<D> sum) {
    return sum;
  }
};
struct MeanOfTaps {
  static constexpr bool kWeighed = false;
  template <class D>
  static hn::Vec<D> Begin(D d, const ChannelTaps&, int64_t) {
    return hn::Zero(d);
  }
  template <class V>
  static V Step(V sum, V x, V) {
    return hn::Add(sum, x);
  }
  template <class D>
  static hn::Vec<D> End(D d, const ChannelTaps& q, hn::Vec<D> sum) {
    return hn::Mul(sum, hn::Set(d, q.scale));
  }
};

// AllPixels [i, i + kCount), channels from c on.
template <class Kind, int kCount, int kWide, class D>
GE_INLINE void PixelBlock(D d, const ChannelTaps& q, int64_t i, int64_t c) {
  hn::Vec<D> sum[kCount][kWide];
  for (int v = 0; v < kWide; ++v) {
    const auto begin = Kind::Begin(d, q, c + v * kLanesOf<D>);
    for (int p = 0; p < kCount; ++p) sum[p][v] = begin;
  }
  for (int64_t t = 0; t < q.taps; ++t) {
    const float* x = q.from[t] + i * q.step + c;
    hn::Vec<D> w[kWide];
    for (int v = 0; v < kWide; ++v) {
      w[v] = hn::Zero(d);
      if constexpr (Kind::kWeighed) w[v] = hn::LoadU(d, q.w[t] + c + v * kLanesOf<D>);
    }
    for (int p = 0; p < kCount; ++p) {
      for (int v = 0; v < kWide; ++v) {
        sum[p][v] = Kind::Step(sum[p][v], hn::LoadU(d, x + p * q.step + v * kLanesOf<D>), w[v]);
      }
    }
  }
  for (int p = 0; p < kCount; ++p) {
    float* y = q.y + (i + p) * q.channels + c;
    for (int v = 0; v < kWide; ++v) {
      hn::StoreU(Kind::End(d, q, sum[p][v]), d, y + v * kLanesOf<D>);
    }
  }
}

// All n pixels of the channels from c on.
template <class Kind, int kWide, class D>
GE_INLINE void AllPixels(D d, const ChannelTaps& q, int64_t n, int64_t c) {
  int64_t i = 0;
  for (; i + kPixelsAtOnce <= n; i += kPixelsAtOnce)
    PixelBlock<Kind, kPixelsAtOnce, kWide>(d, q, i, c);
  for (; i < n; ++i) PixelBlock<Kind, 1, kWide>(d, q, i, c);
}

template <class Kind>
void AllChannels(const ChannelTaps& q, int64_t n) {
  const Full d;
  int64_t c = 0;
  for (; c + kChannelVectors * kMaxLanes <= q.channels; c += kChannelVectors * kMaxLanes) {
    AllPixels<Kind, kChannelVectors>(d, q, n, c);
  }
  if (c + kMaxLanes <= q.channels) {
    AllPixels<Kind, 1>(d, q, n, c);
    c += kMaxLanes;
  }
  Rest<kMaxLanes / 2>(c, q.channels,
                      [&](auto part, int64_t at) { AllPixels<Kind, 1>(part, q, n, at); });
}

}  // namespace

void ChannelSums(const float* const* from, const float* const* w, int64_t taps, int64_t step,
                 const float* bias, float* y, int64_t n, int64_t channels) {
  AllChannels<WeighedSum>({from, w, taps, step, bias, 1, y, channels}, n);
}

void ChannelPool(Reduce op, const float* const* from, int64_t taps, int64_t step, float scale,
                 float* y, int64_t n, int64_t channels) {
  const ChannelTaps q{from, nullptr, taps, step, nullptr, scale, y, channels};
  if (op == Reduce::kMax) {
    AllChannels<Greatest>(q, n);
  } else {
    AllChannels<MeanOfTaps>(q, n);
  }
}

}  // namespace GE_SIMD_ISA
}  // namespace ge_cpu
HWY_AFTER_NAMESPACE();
