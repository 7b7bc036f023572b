// Sums over windows of pixels with neighbouring channels, by groups of channels. A window is a list
// of addresses, so no pixel is copied; at borders it names a pixel of zeros.
#include "hwy/cache_control.h"
#include "plugins/cpu/kit/simd/vector.h"

HWY_BEFORE_NAMESPACE();
namespace ge_engines::cpu {
namespace GE_SIMD_ISA {
namespace {

constexpr int kGroupVectors = kManyRegisters ? 3 : 2;
// Rows of sums that fill the registers; with one vector a row, enough to hide the latency of a
// multiply-add.
constexpr int MostGroupRows(int vectors) { return vectors == 1 ? 12 : kManyRegisters ? 8 : 6; }

// Every column sums all `depth` channels.
struct WholeDepth {
  template <int kRows, int kVectors, class V>
  GE_INLINE const float* Tap(const GroupSums& q, const float* const (&x)[kRows], const float* w,
                             V (&sum)[kRows][kVectors]) {
    const Full d;
    constexpr int64_t kLine = 64 / sizeof(float), kAhead = 16;  // rows that are asked for early
    for (int64_t i = 0; i < q.depth; ++i, w += kVectors * kMaxLanes) {
      V row[kVectors];
      for (int v = 0; v < kVectors; ++v) row[v] = hn::LoadU(d, w + v * kMaxLanes);
      for (int64_t line = 0; line < kVectors * kMaxLanes; line += kLine) {
        hwy::Prefetch(w + kAhead * kVectors * kMaxLanes + line);
      }
      for (int r = 0; r < kRows; ++r) {
        const V one = hn::Set(d, x[r][i]);
        for (int v = 0; v < kVectors; ++v) sum[r][v] = hn::MulAdd(one, row[v], sum[r][v]);
      }
    }
    return w;
  }
};

// Column c sums the channels of its own group of kDepth: lanes of a vector of x, spread among
// their neighbours. Where not kWhole the pixel has fewer channels than the vector.
template <int kDepth, bool kWhole>
struct OwnGroup {
  template <int kPlace, class V>
  GE_INLINE V Pick(V x) {
    if constexpr (kDepth == 8) {
      alignas(64) static constexpr int32_t kLane[16] = {
          kPlace,     kPlace,     kPlace,     kPlace,     kPlace,     kPlace,
          kPlace,     kPlace,     kPlace + 8, kPlace + 8, kPlace + 8, kPlace + 8,
          kPlace + 8, kPlace + 8, kPlace + 8, kPlace + 8};
      const Full d;
      return hn::TableLookupLanes(x, hn::SetTableIndices(d, kLane));
    } else if constexpr (kDepth == 4) {
      return hn::Broadcast<kPlace>(x);
    } else if constexpr (kPlace == 0) {
      return hn::DupEven(x);
    } else {
      return hn::DupOdd(x);
    }
  }
  template <int kPlace, int kRows, class V>
  GE_INLINE void Places(const float* w, const V (&x)[kRows], V (&sum)[kRows][1]) {
    if constexpr (kPlace < kDepth) {
      const V row = hn::LoadU(Full(), w + kPlace * kMaxLanes);
      for (int r = 0; r < kRows; ++r) sum[r][0] = hn::MulAdd(Pick<kPlace>(x[r]), row, sum[r][0]);
      Places<kPlace + 1>(w, x, sum);
    }
  }
  template <int kRows, int kVectors, class V>
  GE_INLINE const float* Tap(const GroupSums& q, const float* const (&from)[kRows], const float* w,
                             V (&sum)[kRows][kVectors]) {
    const Full d;
    V x[kRows];
    for (int r = 0; r < kRows; ++r) {
      x[r] = kWhole ? hn::LoadU(d, from[r]) : LoadFirst(d, from[r], q.n, hn::Zero(d));
    }
    Places<0>(w, x, sum);
    return w + kDepth * kMaxLanes;
  }
};

// Pixels [first, first + kRows) of all columns.
template <class Depth, int kVectors, int kRows>
GE_INLINE void GroupRows(const GroupSums& q, int64_t first) {
  using V = hn::Vec<Full>;
  const Full d;
  V sum[kRows][kVectors];
  for (int v = 0; v < kVectors; ++v) {
    const V bias = hn::LoadU(d, q.bias + v * kMaxLanes);
    for (int r = 0; r < kRows; ++r) sum[r][v] = bias;
  }
  const float* const* const from = q.from + first * q.taps;
  const float* w = q.w;
  for (int64_t t = 0; t < q.taps; ++t) {
    const float* x[kRows];
    for (int r = 0; r < kRows; ++r) x[r] = from[r * q.taps + t] + q.at;
    w = Depth::template Tap<kRows, kVectors>(q, x, w, sum);
  }
  for (int v = 0; v < kVectors; ++v) {
    const int64_t left = q.n - v * kMaxLanes;
    for (int r = 0; r < kRows; ++r) {
      float* const to = q.to[first + r] + q.out + v * kMaxLanes;
      if (left >= kMaxLanes) {
        hn::StoreU(sum[r][v], d, to);
      } else {
        StoreFirst(d, sum[r][v], to, left);
      }
    }
  }
}

template <class Depth, int kVectors, int kRows = MostGroupRows(kVectors)>
GE_INLINE void CallGroupRows(int64_t rows, const GroupSums& q, int64_t first) {
  if (rows == kRows) {
    GroupRows<Depth, kVectors, kRows>(q, first);
  } else if constexpr (kRows > 1) {
    CallGroupRows<Depth, kVectors, kRows - 1>(rows, q, first);
  }
}

// All pixels, in blocks of about as many rows.
template <class Depth, int kVectors>
void GroupPixels(const GroupSums& q) {
  constexpr int64_t kMost = MostGroupRows(kVectors);
  const int64_t blocks = (q.pixels + kMost - 1) / kMost;
  for (int64_t i = 0, first = 0; i < blocks; ++i) {
    const int64_t end = q.pixels * (i + 1) / blocks;
    CallGroupRows<Depth, kVectors>(end - first, q, first);
    first = end;
  }
}

template <int kVectors = kGroupVectors>
void CallGroupVectors(const GroupSums& q) {
  if constexpr (kVectors > 1) {
    if (q.n <= (kVectors - 1) * kMaxLanes) return CallGroupVectors<kVectors - 1>(q);
  }
  GroupPixels<WholeDepth, kVectors>(q);
}

template <int kDepth>
void CallOwn(const GroupSums& q) {
  if constexpr (kDepth < kMaxLanes) {
    if (q.n == kMaxLanes) {
      GroupPixels<OwnGroup<kDepth, true>, 1>(q);
    } else {
      GroupPixels<OwnGroup<kDepth, false>, 1>(q);
    }
  }
}

}  // namespace

int64_t GroupColumns() { return kGroupVectors * kMaxLanes; }

void ChannelGroups(const GroupSums& sums) {
  if (!sums.own) return CallGroupVectors(sums);
  if (sums.depth == 2) return CallOwn<2>(sums);
  if (sums.depth == 4) return CallOwn<4>(sums);
  CallOwn<8>(sums);
}

}  // namespace GE_SIMD_ISA
}  // namespace ge_engines::cpu
HWY_AFTER_NAMESPACE();
