// Winograd's convolution F(m x n, 3 x 3): transforms of tiles with vectors of channels as pixels,
// and the products between them. Lavin and Gray, "Fast Algorithms for Convolutional Neural
// Networks", 2016. Points for two pixels: 0, 1, -1 and infinity; for four: 0, +-5/8, +-3/2 and
// infinity, with a fifth of the error of 0, +-1, +-2.
#include "hwy/cache_control.h"
#include "plugins/cpu/kit/simd/vector.h"

HWY_BEFORE_NAMESPACE();
namespace ge_engines::cpu {
namespace GE_SIMD_ISA {
namespace {

using V = hn::Vec<Full>;

constexpr float kA = kWinogradA, kB = kWinogradB;

GE_INLINE V Times(float f, V x) { return hn::Mul(hn::Set(Full(), f), x); }
GE_INLINE V AddTimes(V sum, float f, V x) { return hn::MulAdd(hn::Set(Full(), f), x, sum); }

// Rows of the transposed input matrix: the polynomials that vanish at all points but one.
GE_INLINE void Forward(const V (&d)[4], V (&t)[4]) {
  t[0] = hn::Sub(d[2], d[0]);
  t[1] = hn::Add(d[2], d[1]);
  t[2] = hn::Sub(d[2], d[1]);
  t[3] = hn::Sub(d[3], d[1]);
}
GE_INLINE void Forward(const V (&d)[6], V (&t)[6]) {
  constexpr float a2 = kA * kA, b2 = kB * kB;
  const V even_a = AddTimes(d[4], -b2, d[2]), odd_a = Times(kA, AddTimes(d[3], -b2, d[1]));
  const V even_b = AddTimes(d[4], -a2, d[2]), odd_b = Times(kB, AddTimes(d[3], -a2, d[1]));
  t[0] = AddTimes(AddTimes(d[4], -(a2 + b2), d[2]), a2 * b2, d[0]);
  t[1] = hn::Add(even_a, odd_a);
  t[2] = hn::Sub(even_a, odd_a);
  t[3] = hn::Add(even_b, odd_b);
  t[4] = hn::Sub(even_b, odd_b);
  t[5] = AddTimes(AddTimes(d[5], -(a2 + b2), d[3]), a2 * b2, d[1]);
}
// Values of the product's polynomial, as pixels.
GE_INLINE void Back(const V (&m)[4], V (&y)[2]) {
  y[0] = hn::Add(m[0], hn::Add(m[1], m[2]));
  y[1] = hn::Add(m[3], hn::Sub(m[1], m[2]));
}
GE_INLINE void Back(const V (&m)[6], V (&y)[4]) {
  constexpr float a2 = kA * kA, b2 = kB * kB;
  const V sum_a = hn::Add(m[1], m[2]), sum_b = hn::Add(m[3], m[4]);
  const V dif_a = hn::Sub(m[1], m[2]), dif_b = hn::Sub(m[3], m[4]);
  y[0] = hn::Add(m[0], hn::Add(sum_a, sum_b));
  y[1] = AddTimes(Times(kA, dif_a), kB, dif_b);
  y[2] = AddTimes(Times(a2, sum_a), b2, sum_b);
  y[3] = AddTimes(AddTimes(m[5], kA * a2, dif_a), kB * b2, dif_b);
}

template <int kH, int kW>
void Input(const float* x, int64_t row, int64_t column, float* v, int64_t position) {
  const Full d;
  V half[kH + 2][kW + 2];
  for (int j = 0; j < kW + 2; ++j) {
    V from[kH + 2], to[kH + 2];
    for (int i = 0; i < kH + 2; ++i) from[i] = hn::LoadU(d, x + i * row + j * column);
    Forward(from, to);
    for (int i = 0; i < kH + 2; ++i) half[i][j] = to[i];
  }
  for (int i = 0; i < kH + 2; ++i) {
    V to[kW + 2];
    Forward(half[i], to);
    for (int j = 0; j < kW + 2; ++j) hn::StoreU(to[j], d, v + (i * (kW + 2) + j) * position);
  }
}

// A sum of all pixels tells whether one of them is not finite, for one addition each: infinities
// and NaN stay such in any sum. (Pixels near the greatest float may look infinite together; the
// caller then does more than it needs to.)
template <int kH, int kW>
bool Output(const float* m, int64_t position, const float* bias, float* y, int64_t pixel) {
  const Full d;
  V half[kH][kW + 2];
  for (int j = 0; j < kW + 2; ++j) {
    V from[kH + 2], to[kH];
    for (int i = 0; i < kH + 2; ++i) from[i] = hn::LoadU(d, m + (i * (kW + 2) + j) * position);
    Back(from, to);
    for (int i = 0; i < kH; ++i) half[i][j] = to[i];
  }
  const V b = hn::LoadU(d, bias);
  V sum = hn::Zero(d);
  for (int i = 0; i < kH; ++i) {
    V to[kW];
    Back(half[i], to);
    for (int j = 0; j < kW; ++j) {
      sum = hn::Add(sum, to[j]);
      hn::StoreU(hn::Add(to[j], b), d, y + (i * kW + j) * pixel);
    }
  }
  return hn::AllTrue(d, hn::IsFinite(sum));
}

// Weights are read once for every group of tiles, the first time from memory: they are asked for
// kAhead floats early, and while one position is worked on, those of the next come into the second
// cache. Without the first 256 channels at 14 x 14 take 1.3 times as long, without both 1.7.
constexpr int64_t kAhead = 512;

// kTiles rows of the result, all of whose sums stay in registers: 6 by 4 of 32, 6 by 2 of 16. From
// `ahead` on, kLines cache lines a channel are asked for.
template <int kTiles, int kVectors, int kLines>
GE_INLINE void Tiles(const float* u, const float* v, float* m, int64_t channels,
                     const float* ahead) {
  const Full d;
  V sum[kTiles][kVectors];
  for (auto& row : sum) {
    for (V& s : row) s = hn::Zero(d);
  }
  for (int64_t c = 0; c < channels; c += kMaxLanes, v += kTiles * kMaxLanes) {
    const int64_t some = channels - c < kMaxLanes ? channels - c : kMaxLanes;
    for (int64_t k = 0; k < some; ++k, u += kVectors * kMaxLanes) {
      V w[kVectors];
      for (int j = 0; j < kVectors; ++j) w[j] = hn::LoadU(d, u + j * kMaxLanes);
      for (int j = 0; j < kVectors * kMaxLanes; j += 16) hwy::Prefetch(u + kAhead + j);
      for (int j = 0; j < kLines; ++j, ahead += 16) __builtin_prefetch(ahead, 0, 2);
      for (int i = 0; i < kTiles; ++i) {
        const V x = hn::Set(d, v[i * kMaxLanes + k]);
        for (int j = 0; j < kVectors; ++j) sum[i][j] = hn::MulAdd(x, w[j], sum[i][j]);
      }
    }
  }
  for (int i = 0; i < kTiles; ++i) {
    for (int j = 0; j < kVectors; ++j) {
      hn::StoreU(sum[i][j], d, m + (i * kVectors + j) * kMaxLanes);
    }
  }
}

template <int kVectors, int kLines>
GE_INLINE void Groups(const float* u, const float* v, float* m, int64_t tiles, int64_t channels) {
  const float* ahead = u + channels * kVectors * kMaxLanes;  // the next position's
  const int64_t blocks = (channels + kMaxLanes - 1) / kMaxLanes;
  int64_t at = 0;
  for (int64_t g = 0, n = WinogradGroups(tiles); g < n; ++g, ahead += channels * kLines * 16) {
    const int64_t some = WinogradGroup(tiles, g + 1) - at;
    if (some == 6) {
      Tiles<6, kVectors, kLines>(u, v, m, channels, ahead);
    } else if (some == 5) {
      Tiles<5, kVectors, kLines>(u, v, m, channels, ahead);
    } else if (some == 4) {
      Tiles<4, kVectors, kLines>(u, v, m, channels, ahead);
    } else if (some == 3) {
      Tiles<3, kVectors, kLines>(u, v, m, channels, ahead);
    } else if (some == 2) {
      Tiles<2, kVectors, kLines>(u, v, m, channels, ahead);
    } else {
      Tiles<1, kVectors, kLines>(u, v, m, channels, ahead);
    }
    v += some * blocks * kMaxLanes;
    m += some * kVectors * kMaxLanes;
    at += some;
  }
}

template <int kVectors>
GE_INLINE void Product(const float* u, const float* v, float* m, int64_t tiles, int64_t channels) {
  constexpr int kAll = kVectors * kMaxLanes / 16 > 0 ? kVectors * kMaxLanes / 16 : 1;
  const int64_t groups = WinogradGroups(tiles);
  if (groups == 1 || kAll == 1) {
    Groups<kVectors, kAll>(u, v, m, tiles, channels);
  } else if (groups <= 3) {
    Groups<kVectors, (kAll + 1) / 2>(u, v, m, tiles, channels);
  } else {
    Groups<kVectors, 1>(u, v, m, tiles, channels);
  }
}

}  // namespace

void WinogradInput(int h, int w, const float* x, int64_t row, int64_t column, float* value,
                   int64_t position) {
  if (h == 4) {
    w == 4 ? Input<4, 4>(x, row, column, value, position)
           : Input<4, 2>(x, row, column, value, position);
  } else {
    w == 4 ? Input<2, 4>(x, row, column, value, position)
           : Input<2, 2>(x, row, column, value, position);
  }
}

bool WinogradOutput(int h, int w, const float* m, int64_t position, const float* bias, float* y,
                    int64_t pixel) {
  if (h == 4) {
    return w == 4 ? Output<4, 4>(m, position, bias, y, pixel)
                  : Output<4, 2>(m, position, bias, y, pixel);
  }
  return w == 4 ? Output<2, 4>(m, position, bias, y, pixel)
                : Output<2, 2>(m, position, bias, y, pixel);
}

void WinogradProduct(const float* u, const float* value, float* m, int64_t tiles, int64_t channels,
                     int vectors) {
  switch (vectors) {
    case 1:
      return Product<1>(u, value, m, tiles, channels);
    case 2:
      return Product<2>(u, value, m, tiles, channels);
#if HWY_TARGET <= HWY_AVX3
    case 3:
      return Product<3>(u, value, m, tiles, channels);
    default:
      return Product<4>(u, value, m, tiles, channels);
#else
    default:
      return;  // WinogradPlan asks for 2 at most
#endif
  }
}

void CopyRows(const float* x, int64_t ldx, float* y, int64_t ldy, int64_t rows, int64_t n) {
  if (ldx == n && ldy == n) {
    n *= rows;
    rows = 1;
  }
  if (ldy == n && ldx >= n) {
    // Whole vectors, whose surplus the next rows overwrite.
    for (; rows * n >= n + kMaxLanes; --rows, x += ldx, y += ldy) {
      const Full d;
      for (int64_t i = 0; i < n; i += kMaxLanes) hn::StoreU(hn::LoadU(d, x + i), d, y + i);
    }
  }
  for (int64_t r = 0; r < rows; ++r, x += ldx, y += ldy) {
    ForEach(n, [=](auto d, int64_t i) GE_LAMBDA { hn::StoreU(hn::LoadU(d, x + i), d, y + i); });
  }
}

}  // namespace GE_SIMD_ISA
}  // namespace ge_engines::cpu
HWY_AFTER_NAMESPACE();
