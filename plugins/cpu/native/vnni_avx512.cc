// Compiled for AVX512-VNNI, and so without any inline function that another file may have, too.
#include <immintrin.h>

#include "plugins/cpu/native/vnni.h"

namespace ge_native {
namespace {

#define GE_VNNI static inline __attribute__((always_inline))

// Rounded by floats where that is surely what doubles would give: their error is below 1e-4 at
// codes' size, so only sums that near the middle between two codes are looked at again.
constexpr float kSurely = 0.4999f;

GE_VNNI __m256i ExactHalf(__m256i sum, const CodeFinish& f, int64_t at) {
  __m512d v = _mm512_cvtepi32_pd(sum);
  if (f.bias != nullptr) v = _mm512_add_pd(v, _mm512_loadu_pd(f.bias + at));
  v = _mm512_mul_pd(v, _mm512_loadu_pd(f.exact + at));
  v = _mm512_max_pd(v, _mm512_set1_pd(f.least));
  v = _mm512_min_pd(v, _mm512_set1_pd(f.most));
  return _mm512_cvtpd_epi32(v);
}

__attribute__((noinline)) __m512i Exact(__m512i sum, const CodeFinish& f, int64_t at) {
  const __m256i low = ExactHalf(_mm512_castsi512_si256(sum), f, at);
  const __m256i high = ExactHalf(_mm512_extracti64x4_epi64(sum, 1), f, at + 8);
  return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

// Codes less the zero point, as int32, of sums that have their add.
GE_VNNI __m512i Scaled(__m512i sum, const CodeFinish& f, int64_t at) {
  __m512 v = _mm512_mul_ps(_mm512_cvtepi32_ps(sum), _mm512_loadu_ps(f.scale + at));
  v = _mm512_max_ps(v, _mm512_set1_ps(f.least));
  v = _mm512_min_ps(v, _mm512_set1_ps(f.most));
  const __m512i q = _mm512_cvtps_epi32(v);
  const __m512 off = _mm512_abs_ps(_mm512_sub_ps(v, _mm512_cvtepi32_ps(q)));
  const bool unsure =
      _mm512_cmp_ps_mask(off, _mm512_set1_ps(kSurely), _CMP_NLT_UQ) != 0 || f.bias != nullptr;
  return __builtin_expect(unsure, 0) ? Exact(sum, f, at) : q;
}

GE_VNNI __mmask16 First(int64_t n) {
  return n >= 16 ? __mmask16(0xffff) : static_cast<__mmask16>((1u << n) - 1);
}

GE_VNNI void Store(__m512i sum, const CodeFinish& f, int64_t at, int64_t columns, void* y) {
  const __mmask16 mask = First(columns - at);
  sum = _mm512_add_epi32(sum, _mm512_loadu_si512(f.add + at));
  if (f.scale == nullptr) {
    _mm512_mask_storeu_epi32(static_cast<int32_t*>(y) + at, mask, sum);
    return;
  }
  const __m512i code = _mm512_add_epi32(Scaled(sum, f, at), _mm512_set1_epi32(f.zero));
  _mm_mask_storeu_epi8(static_cast<uint8_t*>(y) + at, mask, _mm512_cvtepi32_epi8(code));
}

template <int kRows, int kVectors>
GE_VNNI void Tile(const CodeTile& t, const CodeFinish& f) {
  __m512i sum[kRows][kVectors];
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) sum[r][v] = _mm512_setzero_si512();
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
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) Store(sum[r][v], f, v * 16, t.columns, t.y[r]);
  }
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

// Vector v of a pixel's sums: four channels a lane of 16 bytes.
GE_VNNI void StoreSums(__m512i sum, int v, const CodeTaps& t) {
  alignas(64) int32_t lanes[16];
  _mm512_store_si512(lanes, sum);
  for (int64_t l = 0; l < 16; ++l) {
    const int64_t channel = GE_DEPTHWISE_CHANNEL(v, l);
    if (channel < t.channels) reinterpret_cast<int32_t*>(t.y)[channel] = lanes[l];
  }
}

// Four taps of 64 channels side by side: unpacking in lanes of 16 bytes puts channels into the
// order of GE_DEPTHWISE_CHANNEL, packing in the end puts them back.
void Depthwise(const CodeTaps& t, const CodeFinish& f) {
  const __mmask64 mask = t.channels >= 64 ? ~__mmask64{0} : (__mmask64{1} << t.channels) - 1;
  __m512i sum[4];
  for (int v = 0; v < 4; ++v) sum[v] = _mm512_loadu_si512(f.add + v * 16);
  const int8_t* w = t.w;
  for (int64_t k = 0; k < t.taps; k += 4, w += 256) {
    const auto tap = [&](int64_t i) __attribute__((always_inline)) {
      return i < t.taps ? _mm512_maskz_loadu_epi8(mask, t.x + t.at[i]) : _mm512_setzero_si512();
    };
    const __m512i a = tap(k), b = tap(k + 1), c = tap(k + 2), d = tap(k + 3);
    const __m512i ab_low = _mm512_unpacklo_epi8(a, b), ab_high = _mm512_unpackhi_epi8(a, b);
    const __m512i cd_low = _mm512_unpacklo_epi8(c, d), cd_high = _mm512_unpackhi_epi8(c, d);
    const __m512i quads[4] = {
        _mm512_unpacklo_epi16(ab_low, cd_low), _mm512_unpackhi_epi16(ab_low, cd_low),
        _mm512_unpacklo_epi16(ab_high, cd_high), _mm512_unpackhi_epi16(ab_high, cd_high)};
    for (int v = 0; v < 4; ++v) {
      sum[v] = _mm512_dpbusd_epi32(sum[v], quads[v], _mm512_loadu_si512(w + v * 64));
    }
  }
  if (f.scale == nullptr) {
    for (int v = 0; v < 4; ++v) StoreSums(sum[v], v, t);
    return;
  }
  const __m512i zero = _mm512_set1_epi32(f.zero);
  for (int v = 0; v < 4; ++v) {
    // In [0, 255] or [-128, 127]: the low byte alone, so that packing saturates nothing.
    sum[v] = _mm512_and_si512(_mm512_add_epi32(Scaled(sum[v], f, v * 16), zero),
                              _mm512_set1_epi32(255));
  }
  const __m512i low = _mm512_packs_epi32(sum[0], sum[1]), high = _mm512_packs_epi32(sum[2], sum[3]);
  _mm512_mask_storeu_epi8(t.y, mask, _mm512_packus_epi16(low, high));
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

const VnniKernels kVnniAvx512 = {MostRows, Product, Depthwise, Turn};

}  // namespace ge_native
