// Products of numbers rounded to bfloat16, by AVX512-BF16: two rows of b in one step. The
// instructions take denormal numbers for zero and round sums to nearest, whatever the thread's
// mode.
#include <cstring>

#include "plugins/cpu/kit/rounded.h"
#include "plugins/cpu/kit/simd/panel_sums.h"

HWY_BEFORE_NAMESPACE();
namespace ge_engines::cpu {
namespace GE_SIMD_ISA {
namespace {

struct Pairs {
  using Element = uint16_t;
  using Wide = __m512bh;
  static constexpr int64_t kDepth = 2;
  GE_INLINE Wide Load(const uint16_t* p) { return reinterpret_cast<Wide>(_mm512_loadu_si512(p)); }
  GE_INLINE Wide Spread(const uint16_t* p) {
    int32_t both;
    std::memcpy(&both, p, sizeof both);
    return reinterpret_cast<Wide>(_mm512_set1_epi32(both));
  }
  GE_INLINE hn::Vec<Full> Add(Wide x, Wide wide, hn::Vec<Full> sum) {
    return hn::Vec<Full>{_mm512_dpbf16_ps(sum.raw, x, wide)};
  }
};

void Product(const uint16_t* a, int64_t lda, const uint16_t* b, int64_t panel, const float* bias,
             float* y, int64_t ldy, int64_t m, int64_t n, int64_t pairs) {
  SumPanels<Pairs>({a, lda, b, panel, bias, y, ldy, n, pairs, false}, m);
}

void Round(const float* x, uint16_t* y, int64_t n) {
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    const __m256bh codes = _mm512_cvtneps_pbh(_mm512_loadu_ps(x + i));
    std::memcpy(y + i, &codes, sizeof codes);
  }
  if (i == n) return;
  const auto some = static_cast<__mmask16>((1u << (n - i)) - 1);
  const __m256bh codes = _mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(some, x + i));
  std::memcpy(y + i, &codes, static_cast<size_t>(n - i) * sizeof *y);
}

// Each float of z moves its 16 bits above those of x.
void RoundPairs(const float* x, const float* z, uint16_t* y, int64_t n) {
  for (int64_t i = 0; i < n; i += 16) {
    const int64_t left = n - i;
    const auto some = static_cast<__mmask16>(left < 16 ? (1u << left) - 1 : 0xffffu);
    const auto widen = [some](const float* p) GE_LAMBDA {
      const auto codes = _mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(some, p));
      return _mm512_cvtepu16_epi32(reinterpret_cast<__m256i>(codes));
    };
    const __m512i low = widen(x + i);
    const __m512i high = z == nullptr ? _mm512_setzero_si512() : widen(z + i);
    _mm512_mask_storeu_epi32(y + 2 * i, some, _mm512_or_si512(low, _mm512_slli_epi32(high, 16)));
  }
}

}  // namespace
}  // namespace GE_SIMD_ISA

const Rounded kRounded_avx512 = {.columns = GE_SIMD_ISA::kColumns,
                                 .gain = 2,
                                 .product = GE_SIMD_ISA::Product,
                                 .round = GE_SIMD_ISA::Round,
                                 .round_pairs = GE_SIMD_ISA::RoundPairs};

}  // namespace ge_engines::cpu
HWY_AFTER_NAMESPACE();
