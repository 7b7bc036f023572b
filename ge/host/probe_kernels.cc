#include "ge/host/probe_kernels.h"

#include "ge/ge_plugin.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace ge::probe {
namespace {

// 12 chains: two ports with a latency of 4 to 5 cycles need 8 to 10 in flight. Every chain goes
// towards 1, so that no number ever becomes infinite or denormal.
#define GE_PROBE_TWELVE(DO) \
  DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11)
constexpr double kChains = 12;

#if defined(__x86_64__)

float PeakSse(uint64_t rounds) {
  const __m128 a = _mm_set1_ps(0.999f), b = _mm_set1_ps(0.001f);
#define DO(k) __m128 x##k = _mm_set1_ps(1.0f + k * 0.01f);
  GE_PROBE_TWELVE(DO)
#undef DO
  for (uint64_t i = 0; i < rounds; ++i) {
#define DO(k) x##k = _mm_add_ps(_mm_mul_ps(x##k, a), b);
    GE_PROBE_TWELVE(DO)
#undef DO
  }
  __m128 sum = _mm_setzero_ps();
#define DO(k) sum = _mm_add_ps(sum, x##k);
  GE_PROBE_TWELVE(DO)
#undef DO
  return _mm_cvtss_f32(sum);
}
void CopySse(const float* from, float* to, uint64_t n) {
  for (uint64_t i = 0; i < n; i += 16) {
    const __m128 a = _mm_load_ps(from + i), b = _mm_load_ps(from + i + 4),
                 c = _mm_load_ps(from + i + 8), d = _mm_load_ps(from + i + 12);
    _mm_store_ps(to + i, a);
    _mm_store_ps(to + i + 4, b);
    _mm_store_ps(to + i + 8, c);
    _mm_store_ps(to + i + 12, d);
  }
}

__attribute__((target("avx2,fma"))) float PeakAvx2(uint64_t rounds) {
  const __m256 a = _mm256_set1_ps(0.999f), b = _mm256_set1_ps(0.001f);
#define DO(k) __m256 x##k = _mm256_set1_ps(1.0f + k * 0.01f);
  GE_PROBE_TWELVE(DO)
#undef DO
  for (uint64_t i = 0; i < rounds; ++i) {
#define DO(k) x##k = _mm256_fmadd_ps(x##k, a, b);
    GE_PROBE_TWELVE(DO)
#undef DO
  }
  __m256 sum = _mm256_setzero_ps();
#define DO(k) sum = _mm256_add_ps(sum, x##k);
  GE_PROBE_TWELVE(DO)
#undef DO
  return _mm256_cvtss_f32(sum);
}
__attribute__((target("avx2"))) void CopyAvx2(const float* from, float* to, uint64_t n) {
  for (uint64_t i = 0; i < n; i += 32) {
    const __m256 a = _mm256_load_ps(from + i), b = _mm256_load_ps(from + i + 8),
                 c = _mm256_load_ps(from + i + 16), d = _mm256_load_ps(from + i + 24);
    _mm256_store_ps(to + i, a);
    _mm256_store_ps(to + i + 8, b);
    _mm256_store_ps(to + i + 16, c);
    _mm256_store_ps(to + i + 24, d);
  }
}

__attribute__((target("avx512f"))) float PeakAvx512(uint64_t rounds) {
  const __m512 a = _mm512_set1_ps(0.999f), b = _mm512_set1_ps(0.001f);
#define DO(k) __m512 x##k = _mm512_set1_ps(1.0f + k * 0.01f);
  GE_PROBE_TWELVE(DO)
#undef DO
  for (uint64_t i = 0; i < rounds; ++i) {
#define DO(k) x##k = _mm512_fmadd_ps(x##k, a, b);
    GE_PROBE_TWELVE(DO)
#undef DO
  }
  __m512 sum = _mm512_setzero_ps();
#define DO(k) sum = _mm512_add_ps(sum, x##k);
  GE_PROBE_TWELVE(DO)
#undef DO
  return _mm512_cvtss_f32(sum);
}
__attribute__((target("avx512f"))) void CopyAvx512(const float* from, float* to, uint64_t n) {
  for (uint64_t i = 0; i < n; i += 64) {
    const __m512 a = _mm512_load_ps(from + i), b = _mm512_load_ps(from + i + 16),
                 c = _mm512_load_ps(from + i + 32), d = _mm512_load_ps(from + i + 48);
    _mm512_store_ps(to + i, a);
    _mm512_store_ps(to + i + 16, b);
    _mm512_store_ps(to + i + 32, c);
    _mm512_store_ps(to + i + 48, d);
  }
}

#else

float PeakSse(uint64_t rounds) {
#define DO(k) float x##k = 1.0f + k * 0.01f;
  GE_PROBE_TWELVE(DO)
#undef DO
  for (uint64_t i = 0; i < rounds; ++i) {
#define DO(k) x##k = x##k * 0.999f + 0.001f;
    GE_PROBE_TWELVE(DO)
#undef DO
  }
  return x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7 + x8 + x9 + x10 + x11;
}
void CopySse(const float* from, float* to, uint64_t n) {
  for (uint64_t i = 0; i < n; ++i) to[i] = from[i];
}

#endif

}  // namespace

Kernels KernelsOf(uint32_t isa) {
#if defined(__x86_64__)
  if (isa == GE_ISA_AVX512) return {&PeakAvx512, 2 * 16 * kChains, &CopyAvx512};
  if (isa == GE_ISA_AVX2) return {&PeakAvx2, 2 * 8 * kChains, &CopyAvx2};
  return {&PeakSse, 2 * 4 * kChains, &CopySse};
#else
  (void)isa;
  return {&PeakSse, 2 * kChains, &CopySse};
#endif
}

}  // namespace ge::probe
