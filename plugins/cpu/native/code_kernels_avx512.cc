// Compiled for AVX512-VNNI, and so without any inline function that another file may have, too.
#include <immintrin.h>

#include "plugins/cpu/native/code_kernels.h"

namespace ge_native {
namespace {

#define GE_VNNI static inline __attribute__((always_inline))

// Rounded by floats where that is surely what doubles would give: their error is below 1e-4 at
// codes' size, so only sums that near the middle between two codes are looked at again.
constexpr float kSurely = 0.4999f;
// Beyond all codes, within 16 bits and what floats hold.
constexpr float kBeyond = 32000;

GE_VNNI __m256i ExactHalf(__m256i sum, const CodeFinish& f, int64_t at) {
  __m512d v = _mm512_cvtepi32_pd(sum);
  if (f.bias != nullptr) v = _mm512_add_pd(v, _mm512_loadu_pd(f.bias + at));
  v = _mm512_mul_pd(v, _mm512_loadu_pd(f.exact + at));
  v = _mm512_max_pd(v, _mm512_set1_pd(-kBeyond));  // NaN becomes the least code
  v = _mm512_min_pd(v, _mm512_set1_pd(kBeyond));
  return _mm512_cvtpd_epi32(v);
}

__attribute__((noinline)) void Exact(const __m512i* sum, int vectors, int wide, const CodeFinish& f,
                                     __m512i* q) {
  for (int v = 0; v < vectors; ++v) {
    const int64_t at = v % wide * 16;
    const __m256i low = ExactHalf(_mm512_castsi512_si256(sum[v]), f, at);
    const __m256i high = ExactHalf(_mm512_extracti64x4_epi64(sum[v], 1), f, at + 8);
    q[v] = _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
  }
}

// Codes of kVectors vectors of sums, of which kWide are of one row: the bytes of lane group L of
// vector v are dword 4 L + v.
template <int kVectors, int kWide = 4>
GE_VNNI __m512i Codes(const __m512i (&sum)[kVectors], const CodeFinish& f) {
  __m512i q[4];
  __m512 off = _mm512_setzero_ps();
  for (int v = 0; v < 4; ++v) q[v] = _mm512_setzero_si512();
  for (int v = 0; v < kVectors; ++v) {
    __m512 x = _mm512_mul_ps(_mm512_cvtepi32_ps(sum[v]), _mm512_loadu_ps(f.scale + v % kWide * 16));
    x = _mm512_min_ps(_mm512_set1_ps(kBeyond), x);  // NaN stays, and becomes the least code
    // The greatest distance from a whole number.
    off = _mm512_range_ps(off, _mm512_reduce_ps(x, 8), 11);
    q[v] = _mm512_cvtps_epi32(x);
  }
  const bool unsure =
      _mm512_cmp_ps_mask(off, _mm512_set1_ps(kSurely), _CMP_GT_OQ) != 0 || f.bias != nullptr;
  if (__builtin_expect(unsure, 0)) {
    // Copies, so that what is in registers stays there.
    __m512i from[kVectors], to[kVectors];
    for (int v = 0; v < kVectors; ++v) from[v] = sum[v];
    Exact(from, kVectors, kWide, f, to);
    for (int v = 0; v < kVectors; ++v) q[v] = to[v];
  }
  const __m512i zero = _mm512_set1_epi16(f.zero), least = _mm512_set1_epi16(f.least),
                most = _mm512_set1_epi16(f.most), byte = _mm512_set1_epi16(255);
  const auto clamp = [&](__m512i a, __m512i b) __attribute__((always_inline)) {
    const __m512i code = _mm512_adds_epi16(_mm512_packs_epi32(a, b), zero);
    return _mm512_and_si512(_mm512_min_epi16(_mm512_max_epi16(code, least), most), byte);
  };
  const __m512i low = clamp(q[0], q[1]);
  return _mm512_packus_epi16(low, kVectors > 2 ? clamp(q[2], q[3]) : _mm512_setzero_si512());
}

GE_VNNI __mmask64 FirstBytes(int64_t n) {
  return n >= 64 ? ~__mmask64{0} : (__mmask64{1} << n) - 1;
}

template <int kVectors>
GE_VNNI void Store(const __m512i (&sum)[kVectors], const CodeFinish& f, int64_t columns, void* y) {
  if (f.scale == nullptr) {
    for (int v = 0; v < kVectors; ++v) {
      const int64_t n = columns - v * 16;
      const auto mask = static_cast<__mmask16>(n >= 16 ? 0xffff : (1u << n) - 1);
      _mm512_mask_storeu_epi32(static_cast<int32_t*>(y) + v * 16, mask, sum[v]);
    }
    return;
  }
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  _mm512_mask_storeu_epi8(y, FirstBytes(columns),
                          _mm512_permutexvar_epi32(order, Codes<kVectors>(sum, f)));
}

// Rows of one or two vectors, four vectors at once.
template <int kRows, int kVectors>
GE_VNNI void StoreSeveral(const __m512i (&sum)[kRows][kVectors], const CodeFinish& f,
                          const CodeTile& t) {
  constexpr int kAtOnce = 4 / kVectors;
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  const auto mask = static_cast<__mmask32>(FirstBytes(t.columns));
#pragma GCC unroll 8
  for (int r = 0; r < kRows; r += kAtOnce) {
    __m512i four[4];
    for (int v = 0; v < 4; ++v) {
      const int row = r + v / kVectors;
      four[v] = row < kRows ? sum[row][v % kVectors] : _mm512_setzero_si512();
    }
    const __m512i codes = _mm512_permutexvar_epi32(order, Codes<4, kVectors>(four, f));
    const __m256i low = _mm512_castsi512_si256(codes), high = _mm512_extracti64x4_epi64(codes, 1);
    if constexpr (kVectors == 2) {
      _mm256_mask_storeu_epi8(t.y[r], mask, low);
      if (r + 1 < kRows) _mm256_mask_storeu_epi8(t.y[r + 1], mask, high);
    } else {
      const auto few = static_cast<__mmask16>(mask);
      _mm_mask_storeu_epi8(t.y[r], few, _mm256_castsi256_si128(low));
      if (r + 1 < kRows) _mm_mask_storeu_epi8(t.y[r + 1], few, _mm256_extracti128_si256(low, 1));
      if (r + 2 < kRows) _mm_mask_storeu_epi8(t.y[r + 2], few, _mm256_castsi256_si128(high));
      if (r + 3 < kRows) _mm_mask_storeu_epi8(t.y[r + 3], few, _mm256_extracti128_si256(high, 1));
    }
  }
}

// The sum of the codes of each row.
__attribute__((noinline)) void SumRows(const CodeTile& t, int32_t* sums) {
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

template <int kRows, int kVectors>
GE_VNNI void Tile(const CodeTile& t, const CodeFinish& f) {
  __m512i sum[kRows][kVectors];
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) sum[r][v] = _mm512_loadu_si512(f.add + v * 16);
  }
  if (f.less != nullptr) {
    int32_t sums[kMostCodeRows];
    SumRows(t, sums);
    for (int v = 0; v < kVectors; ++v) {
      const __m512i less = _mm512_loadu_si512(f.less + v * 16);
      for (int r = 0; r < kRows; ++r) {
        const __m512i all = _mm512_mullo_epi32(_mm512_set1_epi32(sums[r]), less);
        sum[r][v] = _mm512_add_epi32(sum[r][v], all);
      }
    }
  }
  const int8_t* w = t.w;
  const uint8_t* x[kRows];
  for (int r = 0; r < kRows; ++r) x[r] = t.x[r];
  for (int64_t run = 0; run < t.runs; ++run) {
    const int64_t at = t.at[run], end = at + 4 * t.quads;
    for (int64_t k = at; k < end; k += 4, w += kVectors * 64) {
      __m512i b[kVectors];
      for (int v = 0; v < kVectors; ++v) b[v] = _mm512_loadu_si512(w + v * 64);
      for (int r = 0; r < kRows; ++r) {
        int quad;
        __builtin_memcpy(&quad, x[r] + k, sizeof quad);
        const __m512i a = _mm512_set1_epi32(quad);
        for (int v = 0; v < kVectors; ++v) sum[r][v] = _mm512_dpbusd_epi32(sum[r][v], a, b[v]);
      }
    }
  }
  if constexpr (kVectors <= 2) {
    if (f.scale != nullptr) return StoreSeveral<kRows, kVectors>(sum, f, t);
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) Store<kVectors>(sum[r], f, t.columns, t.y[r]);
}

template <int kRows>
void Rows(const CodeTile& t, const CodeFinish& f) {
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

void Product(const CodeTile& t, const CodeFinish& f) {
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

void Lines(const CodeLines& s) {
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
    p0 += s.step[0], p1 += s.step[1], p2 += s.step[2], p3 += s.step[3];
  }
}

// Packing in lanes of 16 bytes puts channels back into their order.
GE_VNNI void StorePixel(const __m512i (&sum)[4], const CodeFinish& f, const CodeTaps& t, void* y) {
  if (f.scale != nullptr) {
    _mm512_mask_storeu_epi8(y, FirstBytes(t.channels), Codes<4>(sum, f));
    return;
  }
  alignas(64) int32_t lanes[16];
  for (int v = 0; v < 4; ++v) {
    _mm512_store_si512(lanes, sum[v]);
    for (int64_t l = 0; l < 16; ++l) {
      const int64_t channel = GE_DEPTHWISE_CHANNEL(v, l);
      if (channel < t.channels) static_cast<int32_t*>(y)[channel] = lanes[l];
    }
  }
}

// kTaps > 0: so many taps of one quad, whose weights stay in registers.
template <int kTaps>
GE_VNNI void Pixels(const CodeTaps& t, const CodeFinish& f) {
  __m512i w[kTaps > 0 ? kTaps : 1][4];
  for (int k = 0; k < kTaps; ++k) {
    for (int v = 0; v < 4; ++v) w[k][v] = _mm512_loadu_si512(t.w + k * kCodeQuad + v * 64);
  }
  auto* y = static_cast<char*>(t.y);
  const uint8_t* x = t.x;
  for (int64_t i = 0; i < t.pixels; ++i, x += t.step, y += t.y_step) {
    __m512i sum[4];
    for (int v = 0; v < 4; ++v) sum[v] = _mm512_loadu_si512(f.add + v * 16);
    for (int k = 0; k < kTaps; ++k) {
      for (int v = 0; v < 4; ++v) {
        sum[v] = _mm512_dpbusd_epi32(sum[v], _mm512_loadu_si512(x + k * t.tap + v * 64), w[k][v]);
      }
    }
    const int8_t* from = t.w;
    for (int64_t k = 0; kTaps == 0 && k < t.kw; ++k) {
      for (int64_t q = 0; q < t.quads; ++q, from += kCodeQuad) {
        for (int v = 0; v < 4; ++v) {
          sum[v] = _mm512_dpbusd_epi32(sum[v],
                                       _mm512_loadu_si512(x + k * t.tap + q * kCodeQuad + v * 64),
                                       _mm512_loadu_si512(from + v * 64));
        }
      }
    }
    StorePixel(sum, f, t, y);
  }
}

void Depthwise(const CodeTaps& t, const CodeFinish& f) {
  if (t.kw == 3 && t.quads == 1) return Pixels<3>(t, f);
  Pixels<0>(t, f);
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

const CodeKernels kCodeKernelsAvx512 = {MostRows, Product, Lines, Depthwise, Turn};

}  // namespace ge_native
