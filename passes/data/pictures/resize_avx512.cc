// The loops of Resampler for AVX-512 with VNNI. A weight of 22 bits is three digits of base 256
// from -128 to 127, so that vpdpbusd, which multiplies bytes and sums fours, gives exact sums.
#include "passes/data/pictures/resize_loops.h"

#if defined(__AVX512VNNI__) && defined(__AVX512BW__) && defined(__AVX512VL__)
#include <immintrin.h>
#endif

namespace ge::data {

#if defined(__AVX512VNNI__) && defined(__AVX512BW__) && defined(__AVX512VL__)
namespace {

// Sums of the three digits to places of 8 bits, not packed.
__m512i Places(__m512i low, __m512i middle, __m512i high) {
  const __m512i sum = _mm512_add_epi32(
      low, _mm512_add_epi32(_mm512_slli_epi32(middle, 8), _mm512_slli_epi32(high, 16)));
  return _mm512_srai_epi32(sum, kWeightBits);
}

void Rgb(const uint8_t* line, const Taps& taps, const PackedTaps& packed, uint8_t* to) {
  const __m512i half = _mm512_set1_epi32(1 << (kWeightBits - 1));
  // Four pixels of RGB as fours of R, of G, of B, and of nothing.
  const __m512i by_channel =
      _mm512_broadcast_i32x4(_mm_setr_epi8(0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11, -1, -1, -1, -1));
  const __m512i each = _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
  const int64_t stride = PackedGroups(taps) * kDigits * kFours;
  const int8_t* digits = packed.digits.data();
  const int32_t* quad = packed.from.data();
  const int32_t* const end = quad + packed.from.size();
  for (; quad < end; quad += kQuad + 1, digits += stride, to += 4 * kQuad) {
    __m512i low = half, middle = _mm512_setzero_si512(), high = middle;
    const int8_t* at = digits;
    for (int64_t g = 0; g < quad[kQuad]; ++g, at += kDigits * kFours) {
      const auto load = [](const void* p) {
        return _mm_loadu_si128(static_cast<const __m128i*>(p));
      };
      __m512i pixels = _mm512_castsi128_si512(load(line + quad[0] + 12 * g));
      pixels = _mm512_inserti32x4(pixels, load(line + quad[1] + 12 * g), 1);
      pixels = _mm512_inserti32x4(pixels, load(line + quad[2] + 12 * g), 2);
      pixels = _mm512_inserti32x4(pixels, load(line + quad[3] + 12 * g), 3);
      pixels = _mm512_shuffle_epi8(pixels, by_channel);
      const auto weights = [&](int64_t digit) {
        return _mm512_permutexvar_epi32(each, _mm512_castsi128_si512(load(at + digit * kFours)));
      };
      low = _mm512_dpbusd_epi32(low, pixels, weights(0));
      middle = _mm512_dpbusd_epi32(middle, pixels, weights(1));
      high = _mm512_dpbusd_epi32(high, pixels, weights(2));
    }
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to),
                     _mm512_cvtusepi32_epi8(Places(low, middle, high)));
  }
}

void Rows(const uint8_t* const* lines, const Taps& taps, const PackedTaps& packed, int64_t place,
          int64_t bytes, uint8_t* to) {
  const __m512i half = _mm512_set1_epi32(1 << (kWeightBits - 1));
  const int64_t groups = (taps.count[static_cast<size_t>(place)] + 3) / 4;
  const int8_t* digits = packed.digits.data() +
                         place / kQuad * PackedGroups(taps) * kDigits * kFours + place % kQuad * 4;
  for (int64_t i = 0; i < bytes; i += 64) {
    __m512i sums[4][kDigits];
    for (auto& s : sums) {
      s[0] = half;
      s[1] = s[2] = _mm512_setzero_si512();
    }
    for (int64_t g = 0; g < groups; ++g) {
      const auto line = [&](int64_t t) { return _mm512_loadu_si512(lines[4 * g + t] + i); };
      const __m512i a = line(0), b = line(1), c = line(2), d = line(3);
      const __m512i ab[] = {_mm512_unpacklo_epi8(a, b), _mm512_unpackhi_epi8(a, b)};
      const __m512i cd[] = {_mm512_unpacklo_epi8(c, d), _mm512_unpackhi_epi8(c, d)};
      __m512i weights[kDigits];
      for (int64_t k = 0; k < kDigits; ++k) {
        int32_t four = 0;
        __builtin_memcpy(&four, digits + (g * kDigits + k) * kFours, sizeof four);
        weights[k] = _mm512_set1_epi32(four);
      }
#pragma GCC unroll 4
      for (int64_t q = 0; q < 4; ++q) {
        const __m512i fours = q % 2 == 0 ? _mm512_unpacklo_epi16(ab[q / 2], cd[q / 2])
                                         : _mm512_unpackhi_epi16(ab[q / 2], cd[q / 2]);
#pragma GCC unroll 3
        for (int64_t k = 0; k < kDigits; ++k) {
          sums[q][k] = _mm512_dpbusd_epi32(sums[q][k], fours, weights[k]);
        }
      }
    }
    const auto of = [&](int64_t q) { return Places(sums[q][0], sums[q][1], sums[q][2]); };
    // Packing undoes unpacking: both stay in quarters of 128 bits.
    const __m512i first = _mm512_packus_epi32(of(0), of(1));
    _mm512_storeu_si512(to + i, _mm512_packus_epi16(first, _mm512_packus_epi32(of(2), of(3))));
  }
}

void Look(const uint8_t* from, int64_t step, int64_t n, bool reverse, const float* table,
          float* to) {
  const __m512i places = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  for (int64_t i = 0; i < n; i += 16) {
    const auto many = static_cast<int>(n - i < 16 ? n - i : 16);
    const auto there = static_cast<__mmask16>((1u << many) - 1);
    const __m512i at = step == 4 ? _mm512_and_si512(_mm512_maskz_loadu_epi32(there, from + 4 * i),
                                                    _mm512_set1_epi32(255))
                                 : _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(there, from + i));
    __m512 found = _mm512_mask_i32gather_ps(_mm512_setzero_ps(), there, at, table, 4);
    if (reverse) {
      found = _mm512_permutexvar_ps(_mm512_sub_epi32(_mm512_set1_epi32(many - 1), places), found);
    }
    _mm512_mask_storeu_ps(to + (reverse ? n - i - many : i), there, found);
  }
}

}  // namespace

const ResizeLoops* Avx512Loops() {
  static constexpr ResizeLoops kLoops = {PackDigits, Rgb, PackDigits, Rows, Look};
  return &kLoops;
}
#else
const ResizeLoops* Avx512Loops() { return nullptr; }
#endif

}  // namespace ge::data
