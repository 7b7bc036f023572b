// The loops of Resampler for AVX2. A weight of 22 bits is two halves of 11, so that pmaddwd, which
// multiplies 16 bits, gives exact sums: upper * 2^11 + lower.
#include "passes/data/pictures/resize_loops.h"

#if defined(__AVX2__)
#include <immintrin.h>

#include <cstring>
#endif

namespace ge::data {

#if defined(__AVX2__)
namespace {

__m256i Total(__m256i upper, __m256i lower) {
  return _mm256_add_epi32(_mm256_slli_epi32(upper, kHalfBits), lower);
}

void Rgb(const uint8_t* line, const Taps& taps, const PackedTaps& packed, uint8_t* to) {
  // Pixels 0 and 1 of four as pairs of 16 bits in the lower half, 2 and 3 in the upper.
  const __m256i pairs =
      _mm256_setr_epi8(0, -1, 3, -1, 1, -1, 4, -1, 2, -1, 5, -1, -1, -1, -1, -1, 6, -1, 9, -1, 7,
                       -1, 10, -1, 8, -1, 11, -1, -1, -1, -1, -1);
  const __m256i upper_of = _mm256_setr_epi8(0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 6,
                                            7, 4, 5, 6, 7, 4, 5, 6, 7, 4, 5, 6, 7);
  const __m256i lower_of = _mm256_add_epi8(upper_of, _mm256_set1_epi8(8));
  const __m128i half = _mm_set1_epi32(1 << (kWeightBits - 1));
  const int64_t groups = PackedGroups(taps);
  const auto places = static_cast<int64_t>(taps.begin.size());
  for (int64_t x = 0; x < places; ++x, to += 4) {
    const uint8_t* from = line + 3 * (taps.begin[static_cast<size_t>(x)] - taps.first);
    const int32_t n = taps.count[static_cast<size_t>(x)];
    __m256i upper = _mm256_setzero_si256(), lower = upper;
    for (int32_t t = 0; t < n; t += 4, from += 12) {
      const auto load = [](const void* at) {
        return _mm256_broadcastsi128_si256(_mm_loadu_si128(static_cast<const __m128i*>(at)));
      };
      const __m256i pixels = _mm256_shuffle_epi8(load(from), pairs);
      const __m256i weights = load(packed.halves.data() + ((x - taps.inside) * groups * 8 + 2 * t));
      upper = _mm256_add_epi32(upper,
                               _mm256_madd_epi16(pixels, _mm256_shuffle_epi8(weights, upper_of)));
      lower = _mm256_add_epi32(lower,
                               _mm256_madd_epi16(pixels, _mm256_shuffle_epi8(weights, lower_of)));
    }
    const __m256i all = Total(upper, lower);
    __m128i sum = _mm_add_epi32(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1));
    sum = _mm_srai_epi32(_mm_add_epi32(sum, half), kWeightBits);
    sum = _mm_packus_epi16(_mm_packus_epi32(sum, sum), sum);
    const int32_t pixel = _mm_cvtsi128_si32(sum);
    std::memcpy(to, &pixel, 4);
  }
}

void Rows(const uint8_t* const* lines, const Taps& taps, const PackedTaps&, int64_t place,
          int64_t bytes, uint8_t* to) {
  const int32_t* weight = taps.of(place);
  const int64_t count = taps.count[static_cast<size_t>(place)];
  const __m256i half = _mm256_set1_epi32(1 << (kWeightBits - 1));
  for (int64_t i = 0; i < bytes; i += 16) {
    __m256i upper0 = _mm256_setzero_si256(), upper1 = upper0, lower0 = upper0, lower1 = upper0;
    for (int64_t t = 0; t < count; t += 2) {
      const bool two = t + 1 < count;
      const auto load = [i](const uint8_t* line) {
        return _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(line + i)));
      };
      const __m256i a = load(lines[t]), b = load(lines[two ? t + 1 : t]);
      const int32_t k0 = weight[t], k1 = two ? weight[t + 1] : 0;
      const __m256i upper = _mm256_set1_epi32((k1 >> kHalfBits) << 16 | k0 >> kHalfBits);
      const __m256i lower = _mm256_set1_epi32((k1 & 2047) << 16 | (k0 & 2047));
      const __m256i low = _mm256_unpacklo_epi16(a, b), high = _mm256_unpackhi_epi16(a, b);
      upper0 = _mm256_add_epi32(upper0, _mm256_madd_epi16(low, upper));
      upper1 = _mm256_add_epi32(upper1, _mm256_madd_epi16(high, upper));
      lower0 = _mm256_add_epi32(lower0, _mm256_madd_epi16(low, lower));
      lower1 = _mm256_add_epi32(lower1, _mm256_madd_epi16(high, lower));
    }
    const auto shifted = [&](__m256i u, __m256i l) {
      return _mm256_srai_epi32(_mm256_add_epi32(Total(u, l), half), kWeightBits);
    };
    // Packing undoes unpacking: both stay in halves of 128 bits.
    __m256i sums = _mm256_packus_epi32(shifted(upper0, lower0), shifted(upper1, lower1));
    sums = _mm256_permute4x64_epi64(_mm256_packus_epi16(sums, sums), 0x08);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), _mm256_castsi256_si128(sums));
  }
}

}  // namespace

const ResizeLoops* Avx2Loops() {
  static const ResizeLoops loops = {PackHalves, Rgb, nullptr, Rows, PlainLoops().look};
  return &loops;
}
#else
const ResizeLoops* Avx2Loops() { return nullptr; }
#endif

}  // namespace ge::data
