// Compiled for AVX512-VNNI; it uses no shared inline function, as in dot4_kernels_avx2.cc.
#include <immintrin.h>

#include <cstdint>

#include "plugins/cpu/kit/price.h"
#include "plugins/cpu/native/quantized/dot4_kernels.h"
#include "plugins/cpu/native/quantized/rows.h"

namespace ge_engines::cpu::native {
namespace {

#define GE_VNNI static inline __attribute__((always_inline))

// High words of fixed-point numbers are quantized values rounded down. kHalf moves them to the
// nearest, and kCodeNear steps beyond: scale, sum, product and conversion are off by 2.75 steps at
// most where a result is in range (2^24 steps by 2^-24 for the scale and for the sum, half a step
// for the product and a quarter for the conversion). So only a number without any low bit from 2
// kCodeNear on may round differently in doubles.
constexpr float kHalf = (1 << (kDot4Point - 1)) + kCodeNear;
// Beyond all quantized values: bounds for the conversion to integers, and for doubles.
constexpr float kBeyond = 32767.5F * (1 << kDot4Point), kBeyondExact = 32000;

// int8 results are made 128 greater, so that packing to uint8 clamps them.
GE_VNNI int MovedUp(const Dot4Finish& f) { return f.least < 0 ? 128 : 0; }

GE_VNNI __m256i ExactHalf(__m256i sum, const Dot4Finish& f, int64_t at) {
  __m512d v = _mm512_cvtepi32_pd(sum);
  if (f.bias != nullptr) v = _mm512_add_pd(v, _mm512_loadu_pd(f.bias + at));
  v = _mm512_mul_pd(v, _mm512_loadu_pd(f.exact + at));
  v = _mm512_max_pd(v, _mm512_set1_pd(-kBeyondExact));  // NaN becomes the least value
  v = _mm512_min_pd(v, _mm512_set1_pd(kBeyondExact));
  return _mm512_cvtpd_epi32(v);
}

// Factors of a tile's quantized values in registers: a store through a byte pointer may change f.
struct Finish {
  const float* scale;
  __mmask16 exact;  // not 0: doubles compute all values
  __m512 move;
  __m512i low, least, most, turn;
};

GE_VNNI Finish FinishOf(const Dot4Finish& f) {
  const int up = MovedUp(f);
  return {f.scale,
          static_cast<__mmask16>(f.bias != nullptr ? 1 : 0),
          _mm512_set1_ps(static_cast<float>((f.zero + up) << kDot4Point) + kHalf),
          _mm512_set1_epi32((1 << kDot4Point) - 2 * kCodeNear),
          _mm512_set1_epi8(static_cast<char>(f.least + up)),
          _mm512_set1_epi8(static_cast<char>(f.most + up)),
          _mm512_set1_epi8(static_cast<char>(up))};
}

// The bytes of lane group L of vector v are dword 4 L + v.
GE_VNNI __m512i Narrow(const __m512i (&fixed)[4], const Finish& f) {
  // High words side by side, a0 b0 a1 b1 ..., bytes of all, and those of four lanes of each.
  const auto pair = [](__m512i a, __m512i b) __attribute__((always_inline)) {
    return _mm512_mask_blend_epi16(0xaaaaaaaau, _mm512_srli_epi32(a, kDot4Point), b);
  };
  const __m512i several = _mm512_set4_epi32(0x0f0d0b09, 0x0e0c0a08, 0x07050301, 0x06040200);
  __m512i bytes = _mm512_packus_epi16(pair(fixed[0], fixed[1]), pair(fixed[2], fixed[3]));
  bytes = _mm512_shuffle_epi8(bytes, several);
  bytes = _mm512_min_epu8(_mm512_max_epu8(bytes, f.least), f.most);
  return _mm512_xor_si512(bytes, f.turn);
}

// Vectors that floats leave in doubt, until nothing else waits in registers: a call in the midst of
// a tile would have all of its sums live in memory.
constexpr int kMostLate = 32;
struct Late {
  __m512i sum[kMostLate][4];
  int64_t at[kMostLate];  // the row or pixel
  int n = 0;
};

// Quantizes kVectors vectors of sums in Narrow's order; kWide of them belong to one row.
template <int kVectors, int kWide = 4>
GE_VNNI __m512i Codes(const __m512i (&sum)[kVectors], const Finish& f, int64_t at, Late* late) {
  __m512i fixed[4];
  __mmask16 near = f.exact;
  for (int v = 0; v < 4; ++v) fixed[v] = _mm512_setzero_si512();
  for (int v = 0; v < kVectors; ++v) {
    const __m512 scale = _mm512_loadu_ps(f.scale + v % kWide * 16);
    __m512 x = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sum[v]), scale, f.move);
    x = _mm512_min_ps(x, _mm512_set1_ps(kBeyond));
    fixed[v] = _mm512_cvtps_epi32(x);  // the least integer where x is below
    near = _kor_mask16(near, _mm512_testn_epi32_mask(fixed[v], f.low));
  }
  if (__builtin_expect(!_kortestz_mask16_u8(near, near), 0)) {
#pragma GCC unroll 4  // or sums would lie in memory for a loop
    for (int v = 0; v < 4; ++v) {
      late->sum[late->n][v] = v < kVectors ? sum[v] : _mm512_setzero_si512();
    }
    late->at[late->n++] = at;
  }
  return Narrow(fixed, f);
}

// The same quantized values by doubles, rounded as ref rounds.
GE_VNNI __m512i ExactCodes(const __m512i (&sum)[4], int wide, const Dot4Finish& f) {
  const __m512i zero = _mm512_set1_epi32(f.zero + MovedUp(f));
  __m512i fixed[4];
  for (int v = 0; v < 4; ++v) {
    const int64_t at = v % wide * 16;
    const __m256i low = ExactHalf(_mm512_castsi512_si256(sum[v]), f, at);
    const __m256i high = ExactHalf(_mm512_extracti64x4_epi64(sum[v], 1), f, at + 8);
    const __m512i q = _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
    fixed[v] = _mm512_slli_epi32(_mm512_add_epi32(q, zero), kDot4Point);
  }
  return Narrow(fixed, FinishOf(f));
}

GE_VNNI __mmask64 FirstBytes(int64_t n) {
  return n >= 64 ? ~__mmask64{0} : (__mmask64{1} << n) - 1;
}

template <int kVectors>
GE_VNNI void StoreSums(const __m512i (&sum)[kVectors], int64_t columns, void* y) {
  for (int v = 0; v < kVectors; ++v) {
    const int64_t n = columns - v * 16;
    const auto mask = static_cast<__mmask16>(n >= 16 ? 0xffff : (1u << n) - 1);
    _mm512_mask_storeu_epi32(static_cast<int32_t*>(y) + v * 16, mask, sum[v]);
  }
}

// Quantizes rows of kVectors vectors from `row` on, as many rows as four vectors hold.
template <int kRows, int kVectors>
GE_VNNI void StoreCodes(__m512i codes, int64_t row, int64_t columns, void* const* y) {
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  codes = _mm512_permutexvar_epi32(order, codes);
  const __mmask64 mask = FirstBytes(columns);
  if constexpr (kVectors > 2) {
    _mm512_mask_storeu_epi8(y[row], mask, codes);
  } else {
    const __m256i low = _mm512_castsi512_si256(codes), high = _mm512_extracti64x4_epi64(codes, 1);
    if constexpr (kVectors == 2) {
      _mm256_mask_storeu_epi8(y[row], static_cast<__mmask32>(mask), low);
      if (row + 1 < kRows) _mm256_mask_storeu_epi8(y[row + 1], static_cast<__mmask32>(mask), high);
    } else {
      const auto few = static_cast<__mmask16>(mask);
      _mm_mask_storeu_epi8(y[row], few, _mm256_castsi256_si128(low));
      if (row + 1 < kRows) _mm_mask_storeu_epi8(y[row + 1], few, _mm256_extracti128_si256(low, 1));
      if (row + 2 < kRows) _mm_mask_storeu_epi8(y[row + 2], few, _mm256_castsi256_si128(high));
      if (row + 3 < kRows) _mm_mask_storeu_epi8(y[row + 3], few, _mm256_extracti128_si256(high, 1));
    }
  }
}

template <int kRows, int kVectors>
__attribute__((noinline)) void StoreLate(const Late& late, const Dot4Tile& t, const Dot4Finish& f) {
  for (int i = 0; i < late.n; ++i) {
    StoreCodes<kRows, kVectors>(ExactCodes(late.sum[i], kVectors > 2 ? 4 : kVectors, f), late.at[i],
                                t.columns, t.y);
  }
}

template <int kRows, int kVectors>
GE_VNNI void Store(const __m512i (&sum)[kRows][kVectors], const Dot4Finish& f, const Dot4Tile& t) {
  const int64_t columns = t.columns;
  if (f.scale == nullptr) {
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) StoreSums<kVectors>(sum[r], columns, t.y[r]);
    return;
  }
  const Finish finish = FinishOf(f);
  Late late;
  constexpr int kAtOnce = kVectors > 2 ? 1 : 4 / kVectors;
#pragma GCC unroll 8
  for (int r = 0; r < kRows; r += kAtOnce) {
    __m512i codes;
    if constexpr (kVectors > 2) {
      codes = Codes<kVectors>(sum[r], finish, r, &late);
    } else {
      __m512i four[4];
      for (int v = 0; v < 4; ++v) {
        const int row = r + v / kVectors;
        four[v] = row < kRows ? sum[row][v % kVectors] : _mm512_setzero_si512();
      }
      codes = Codes<4, kVectors>(four, finish, r, &late);
    }
    StoreCodes<kRows, kVectors>(codes, r, columns, t.y);
  }
  if (__builtin_expect(late.n > 0, 0)) StoreLate<kRows, kVectors>(late, t, f);
}

// The sum of each row of x.
__attribute__((noinline)) void SumRows(const Dot4Tile& t, int32_t* sums) {
  const __m512i ones = _mm512_set1_epi8(1);
  for (int64_t r = 0; r < t.rows; ++r) {
    __m512i sum = _mm512_setzero_si512();
    for (int64_t run = 0; run < t.runs; ++run) {
      const uint8_t* x = t.x[r] + t.at[run];
      for (int64_t k = 0; k < t.bytes; k += 64) {
        const __m512i codes = _mm512_maskz_loadu_epi8(FirstBytes(t.bytes - k), x + k);
        sum = _mm512_dpbusd_epi32(sum, codes, ones);
      }
    }
    sums[r] = _mm512_reduce_add_epi32(sum);
  }
}

// Sums whose weights have zero points.
template <int kRows, int kVectors>
__attribute__((noinline)) void StoreLess(__m512i (&sum)[kRows][kVectors], const Dot4Finish& f,
                                         const Dot4Tile& t) {
  int32_t sums[kMostDot4Rows];
  SumRows(t, sums);
  for (int v = 0; v < kVectors; ++v) {
    const __m512i less = _mm512_loadu_si512(f.less + v * 16);
    for (int r = 0; r < kRows; ++r) {
      const __m512i all = _mm512_mullo_epi32(_mm512_set1_epi32(sums[r]), less);
      sum[r][v] = _mm512_add_epi32(sum[r][v], all);
    }
  }
  Store<kRows, kVectors>(sum, f, t);
}

template <int kRows, int kVectors>
GE_VNNI void Tile(const Dot4Tile& t, const Dot4Finish& f) {
  __m512i sum[kRows][kVectors];  // in registers: no address of it may leave
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) sum[r][v] = _mm512_loadu_si512(f.add + v * 16);
  }
  const int8_t* w = t.w;
  const uint8_t* x[kRows];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) x[r] = t.x[r];
  for (int64_t run = 0; run < t.runs; ++run) {
    const int64_t at = t.at[run], end = at + 4 * t.quads;
    for (int64_t k = at; k < end; k += 4, w += kVectors * 64) {
      __m512i b[kVectors];
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) b[v] = _mm512_loadu_si512(w + v * 64);
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) {
        int quad;
        __builtin_memcpy(&quad, x[r] + k, sizeof quad);
        const __m512i a = _mm512_set1_epi32(quad);
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) sum[r][v] = _mm512_dpbusd_epi32(sum[r][v], a, b[v]);
      }
    }
  }
  if (__builtin_expect(f.less != nullptr, 0)) {
    __m512i copy[kRows][kVectors];
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) copy[r][v] = sum[r][v];
    }
    return StoreLess<kRows, kVectors>(copy, f, t);
  }
  Store<kRows, kVectors>(sum, f, t);
}

template <int kRows>
void Rows(const Dot4Tile& t, const Dot4Finish& f) {
  switch (t.vectors) {
    case 1:
      return Tile<kRows, 1>(t, f);
    case 2:
      return Tile<kRows, 2>(t, f);
    case 3:
      return Tile<kRows, 3>(t, f);
    default:
      if constexpr (kRows <= 6) return Tile<kRows, 4>(t, f);
  }
}

void Product(const Dot4Tile& t, const Dot4Finish& f) {
  switch (t.rows) {
    case 1:
      return Rows<1>(t, f);
    case 2:
      return Rows<2>(t, f);
    case 3:
      return Rows<3>(t, f);
    case 4:
      return Rows<4>(t, f);
    case 5:
      return Rows<5>(t, f);
    case 6:
      return Rows<6>(t, f);
    case 7:
      return Rows<7>(t, f);
    default:
      return Rows<8>(t, f);
  }
}

int64_t MostRows(int64_t vectors) { return vectors == 4 ? 6 : 8; }

void Lines(const Dot4Lines& s) {
  const __mmask64 mask = FirstBytes(s.channels);
  const __m512i bit = _mm512_set1_epi8(static_cast<char>(s.turn ? 0x80 : 0));
  const uint8_t *p0 = s.line[0], *p1 = s.line[1], *p2 = s.line[2], *p3 = s.line[3];
  uint8_t* to = s.to;
  for (int64_t i = 0; i < s.pixels; ++i, to += s.to_step) {
    const __m512i a = _mm512_xor_si512(_mm512_maskz_loadu_epi8(mask, p0), bit);
    const __m512i b = _mm512_xor_si512(_mm512_maskz_loadu_epi8(mask, p1), bit);
    const __m512i c = _mm512_xor_si512(_mm512_maskz_loadu_epi8(mask, p2), bit);
    const __m512i d = _mm512_xor_si512(_mm512_maskz_loadu_epi8(mask, p3), bit);
    const __m512i ab_low = _mm512_unpacklo_epi8(a, b), ab_high = _mm512_unpackhi_epi8(a, b);
    const __m512i cd_low = _mm512_unpacklo_epi8(c, d), cd_high = _mm512_unpackhi_epi8(c, d);
    _mm512_storeu_si512(to, _mm512_unpacklo_epi16(ab_low, cd_low));
    _mm512_storeu_si512(to + 64, _mm512_unpackhi_epi16(ab_low, cd_low));
    _mm512_storeu_si512(to + 128, _mm512_unpacklo_epi16(ab_high, cd_high));
    _mm512_storeu_si512(to + 192, _mm512_unpackhi_epi16(ab_high, cd_high));
    p0 += s.step[0];
    p1 += s.step[1];
    p2 += s.step[2];
    p3 += s.step[3];
  }
}

// Sums whose channels are in the order of vectors and lanes.
__attribute__((noinline)) void StorePixelSums(const __m512i (&sum)[4], int64_t channels, void* y) {
  alignas(64) int32_t lanes[16];
  for (int v = 0; v < 4; ++v) {
    _mm512_store_si512(lanes, sum[v]);
    for (int64_t l = 0; l < 16; ++l) {
      const int64_t channel = GE_DEPTHWISE_CHANNEL(v, l);
      if (channel < channels) static_cast<int32_t*>(y)[channel] = lanes[l];
    }
  }
}

// Packing in lanes of 16 bytes puts channels back into their order.
__attribute__((noinline)) void StoreLatePixels(const Late& late, const Dot4Taps& t,
                                               const Dot4Finish& f) {
  const __mmask64 mask = FirstBytes(t.channels);
  for (int i = 0; i < late.n; ++i) {
    _mm512_mask_storeu_epi8(static_cast<char*>(t.y) + late.at[i] * t.y_step, mask,
                            ExactCodes(late.sum[i], 4, f));
  }
}

// Sums of one pixel; kTaps > 0: so many taps of one quad, whose weights w are in registers.
template <int kTaps>
GE_VNNI void SumTaps(const uint8_t* x, const Dot4Taps& t, const __m512i (&w)[kTaps + 1][4],
                     const int32_t* add, __m512i (&sum)[4]) {
  for (int v = 0; v < 4; ++v) sum[v] = _mm512_loadu_si512(add + v * 16);
  for (int k = 0; k < kTaps; ++k) {
    for (int v = 0; v < 4; ++v) {
      sum[v] = _mm512_dpbusd_epi32(sum[v], _mm512_loadu_si512(x + k * t.tap + v * 64), w[k][v]);
    }
  }
  const int8_t* from = t.w;
  for (int64_t k = 0; kTaps == 0 && k < t.kw; ++k) {
    for (int64_t q = 0; q < t.quads; ++q, from += kDot4Depth) {
      for (int v = 0; v < 4; ++v) {
        sum[v] =
            _mm512_dpbusd_epi32(sum[v], _mm512_loadu_si512(x + k * t.tap + q * kDot4Depth + v * 64),
                                _mm512_loadu_si512(from + v * 64));
      }
    }
  }
}

// Pixels [from, end), kMostLate at most.
template <int kTaps>
GE_VNNI void Pixels(const Dot4Taps& taps, const Dot4Finish& f, int64_t from, int64_t end) {
  const Dot4Taps t = taps;
  __m512i w[kTaps + 1][4];
  for (int k = 0; k < kTaps; ++k) {
    for (int v = 0; v < 4; ++v) w[k][v] = _mm512_loadu_si512(t.w + k * kDot4Depth + v * 64);
  }
  const uint8_t* x = t.x + from * t.step;
  auto* y = static_cast<char*>(t.y) + from * t.y_step;
  if (f.scale == nullptr) {
    for (int64_t i = from; i < end; ++i, x += t.step, y += t.y_step) {
      __m512i sum[4];
      SumTaps<kTaps>(x, t, w, f.add, sum);
      StorePixelSums(sum, t.channels, y);
    }
    return;
  }
  const Finish finish = FinishOf(f);
  const __mmask64 mask = FirstBytes(t.channels);
  const int32_t* const add = f.add;
  Late late;
  for (int64_t i = from; i < end; ++i, x += t.step, y += t.y_step) {
    __m512i sum[4];  // in registers, since no address of it leaves
    SumTaps<kTaps>(x, t, w, add, sum);
    _mm512_mask_storeu_epi8(y, mask, Codes<4>(sum, finish, i, &late));
  }
  if (__builtin_expect(late.n > 0, 0)) StoreLatePixels(late, taps, f);
}

void Depthwise(const Dot4Taps& t, const Dot4Finish& f) {
  for (int64_t i = 0; i < t.pixels; i += kMostLate) {
    const int64_t end = i + kMostLate < t.pixels ? i + kMostLate : t.pixels;
    if (t.kw == 3 && t.quads == 1) {
      Pixels<3>(t, f, i, end);
    } else {
      Pixels<0>(t, f, i, end);
    }
  }
}

void Turn(const uint8_t* x, uint8_t* y, int64_t n) {
  const __m512i bit = _mm512_set1_epi8(static_cast<char>(0x80));
  int64_t i = 0;
  for (; i + 64 <= n; i += 64) {
    _mm512_storeu_si512(y + i, _mm512_xor_si512(_mm512_loadu_si512(x + i), bit));
  }
  for (; i < n; ++i) y[i] = x[i] ^ 0x80;
}

}  // namespace

const Dot4Kernels kDot4KernelsAvx512 = {MostRows, Product, Lines, Depthwise, Turn};

}  // namespace ge_engines::cpu::native
