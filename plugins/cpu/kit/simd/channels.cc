// Windows of pixels with channels as lanes: sums by a weight for each channel (depth-wise
// convolutions) and extremes. No window is copied; callers handle the borders.
#include <type_traits>
#include <utility>

#include "plugins/cpu/kit/simd/vector.h"

HWY_BEFORE_NAMESPACE();
namespace ge_engines::cpu {
namespace GE_SIMD_ISA {
namespace {

// Pixels of a block by vectors of channels: sums, a row of weights and what is being read fill
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

// Pixels [i, i + kCount), channels from c on.
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

// All channels of some pixels before the next pixels: what is read lies in a row, which is as fast
// again as a walk over pixels that are a power of two apart and so share their places in a cache.
template <class F>
GE_INLINE void AllChannels(int64_t channels, F f) {
  const Full d;
  int64_t c = 0;
  for (; c + kChannelVectors * kMaxLanes <= channels; c += kChannelVectors * kMaxLanes) {
    f(d, std::integral_constant<int, kChannelVectors>(), c);
  }
  if (c + kMaxLanes <= channels) {
    f(d, std::integral_constant<int, 1>(), c);
    c += kMaxLanes;
  }
  Rest<kMaxLanes / 2>(c, channels, [&](auto part, int64_t at) GE_LAMBDA {
    f(part, std::integral_constant<int, 1>(), at);
  });
}

template <class Kind, int kCount>
GE_INLINE void Pixels(const ChannelTaps& q, int64_t i) {
  AllChannels(q.channels, [&](auto d, auto wide, int64_t c) GE_LAMBDA {
    PixelBlock<Kind, kCount, decltype(wide)::value>(d, q, i, c);
  });
}

template <class Kind>
void AllPixels(const ChannelTaps& q, int64_t n) {
  int64_t i = 0;
  for (; i + kPixelsAtOnce <= n; i += kPixelsAtOnce) Pixels<Kind, kPixelsAtOnce>(q, i);
  for (; i < n; ++i) Pixels<Kind, 1>(q, i);
}

// f(0), f(1) ... f(kCount - 1), each number a type of its own.
template <int... kNumbers, class F>
GE_INLINE void EachNumberOf(std::integer_sequence<int, kNumbers...>, F f) {
  (f(std::integral_constant<int, kNumbers>()), ...);
}
template <int kCount, class F>
GE_INLINE void EachNumber(F f) {
  EachNumberOf(std::make_integer_sequence<int, kCount>(), f);
}

// Sums whose taps are rows of kRow neighbours, of windows kStride neighbours apart: what overlaps
// is read once for all pixels that it counts for. Each sum has its terms in the order of taps.
// Which weight meets which sum is settled by types: as a loop of ten reads with eight sums, which
// it does not unroll, GCC 12 took the third weight for the first at the third read.
template <int kRow, int kStride, int kCount, int kWide, class D>
GE_INLINE void RowBlock(D d, const ChannelTaps& q, int64_t i, int64_t c) {
  constexpr int kReads = (kCount - 1) * kStride + kRow;
  hn::Vec<D> sum[kWide][kCount];
  for (int v = 0; v < kWide; ++v) {
    const auto bias = hn::LoadU(d, q.bias + c + v * kLanesOf<D>);
    for (int p = 0; p < kCount; ++p) sum[v][p] = bias;
  }
  const int64_t apart = q.step / kStride;
  for (int64_t t = 0; t < q.taps; t += kRow) {
    const float* x = q.from[t] + i * q.step + c;
    hn::Vec<D> w[kWide][kRow];
    for (int k = 0; k < kRow; ++k) {
      for (int v = 0; v < kWide; ++v) w[v][k] = hn::LoadU(d, q.w[t + k] + c + v * kLanesOf<D>);
    }
    EachNumber<kReads>([&](auto r) GE_LAMBDA {
      EachNumber<kWide>([&](auto v) GE_LAMBDA {
        const auto read = hn::LoadU(d, x + r * apart + v * kLanesOf<D>);
        EachNumber<kCount>([&](auto p) GE_LAMBDA {
          constexpr int k = decltype(r)::value - decltype(p)::value * kStride;
          if constexpr (k >= 0 && k < kRow) sum[v][p] = hn::MulAdd(read, w[v][k], sum[v][p]);
        });
      });
    });
  }
  for (int p = 0; p < kCount; ++p) {
    for (int v = 0; v < kWide; ++v) {
      hn::StoreU(sum[v][p], d, q.y + (i + p) * q.channels + c + v * kLanesOf<D>);
    }
  }
}

template <int kRow, int kStride, int kCount>
GE_INLINE void RowPixels(const ChannelTaps& q, int64_t i) {
  AllChannels(q.channels, [&](auto d, auto wide, int64_t c) GE_LAMBDA {
    RowBlock<kRow, kStride, kCount, decltype(wide)::value>(d, q, i, c);
  });
}

template <int kRow, int kStride>
void AllRowPixels(const ChannelTaps& q, int64_t n) {
  int64_t i = 0;
  for (; i + kPixelsAtOnce <= n; i += kPixelsAtOnce) RowPixels<kRow, kStride, kPixelsAtOnce>(q, i);
  for (; i + 2 <= n; i += 2) RowPixels<kRow, kStride, 2>(q, i);
  for (; i < n; ++i) RowPixels<kRow, kStride, 1>(q, i);
}

// Whether the taps are rows of so many, `apart` floats from one to the next.
bool AreRows(const ChannelTaps& q, int64_t row, int64_t apart) {
  if (q.taps % row != 0) return false;
  for (int64_t t = 0; t < q.taps; ++t) {
    if (t % row != 0 && q.from[t] - q.from[t - 1] != apart) return false;
  }
  return true;
}

template <int kRow>
bool SumRows(const ChannelTaps& q, int64_t n) {
  if (AreRows(q, kRow, q.step)) return AllRowPixels<kRow, 1>(q, n), true;
  if (q.step % 2 == 0 && AreRows(q, kRow, q.step / 2)) return AllRowPixels<kRow, 2>(q, n), true;
  return false;
}

}  // namespace

void ChannelSums(const float* const* from, const float* const* w, int64_t taps, int64_t step,
                 const float* bias, float* y, int64_t n, int64_t channels) {
  const ChannelTaps q{from, w, taps, step, bias, 1, y, channels};
  if (n > 1 && taps > 0 && (SumRows<3>(q, n) || SumRows<5>(q, n))) return;
  AllPixels<WeighedSum>(q, n);
}

void ChannelPool(Reduce op, const float* const* from, int64_t taps, int64_t step, float scale,
                 float* y, int64_t n, int64_t channels) {
  const ChannelTaps q{from, nullptr, taps, step, nullptr, scale, y, channels};
  if (op == Reduce::kMax) {
    AllPixels<Greatest>(q, n);
  } else {
    AllPixels<MeanOfTaps>(q, n);
  }
}

}  // namespace GE_SIMD_ISA
}  // namespace ge_engines::cpu
HWY_AFTER_NAMESPACE();
