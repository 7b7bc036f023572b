// Compiled for AVX512-VNNI; it uses no shared inline function, as in nbit_kernels_avx2.cc.
#include <immintrin.h>

#include <cstdint>

#include "plugins/cpu/native/matmul/nbit_kernels.h"

namespace ge_engines::cpu::native {
namespace {

#define GE_VNNI static inline __attribute__((always_inline))

// Rows whose sums stay in registers: beside three vectors of columns, and beside one.
constexpr int64_t kFewRows = 4, kManyRows = 12;
constexpr int64_t kAheadBytes = 2048;  // words are asked for so early
// Below it the inverse of a scale is no finite float; the int8 values are zeros.
constexpr float kLeastMagnitude = 1e-30f;

GE_VNNI int Int(const uint8_t* at) {
  int all;
  __builtin_memcpy(&all, at, sizeof all);
  return all;
}
GE_VNNI float Float(const uint8_t* at) {
  float all;
  __builtin_memcpy(&all, at, sizeof all);
  return all;
}
GE_VNNI __mmask16 First(int64_t n) {
  return static_cast<__mmask16>(n >= 16 ? 0xffff : n <= 0 ? 0 : (1u << n) - 1);
}

GE_VNNI __m128i OrderOf(const NBitsForm& form) {
  const uint8_t* order = form.bits == 2   ? kNarrowOrder2
                         : form.bits == 4 ? kNarrowOrder4
                                          : kNarrowOrder8;
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(order));
}

// As an integer NaN is greater than all others. If the greatest is no number, it is the scale and
// the int8 values are zeros: their products are no numbers either.
void Narrow(const NBitsForm& form, const float* x, int64_t k, uint8_t* to) {
  const __m128i order = OrderOf(form);
  for (; k > 0; k -= form.block, x += form.block, to += kNBitHead + form.block) {
    __m512i most = _mm512_setzero_si512();
    for (int64_t i = 0; i < form.block; i += 16) {
      const __m512 v = _mm512_maskz_loadu_ps(First(k - i), x + i);
      most = _mm512_max_epi32(most, _mm512_castps_si512(_mm512_abs_ps(v)));
    }
    const int bits = _mm512_reduce_max_epi32(most);
    float greatest;
    __builtin_memcpy(&greatest, &bits, sizeof greatest);
    const float scale = greatest / 127;
    const bool steps = greatest > kLeastMagnitude && greatest <= __FLT_MAX__;
    const auto coded = static_cast<__mmask16>(steps ? 0xffff : 0);
    const __m512 times = _mm512_set1_ps(127 / greatest);
    __m512i sum = _mm512_setzero_si512();
    for (int64_t i = 0; i < form.block; i += 16) {
      const __m512 v = _mm512_maskz_loadu_ps(First(k - i), x + i);
      const __m512i code = _mm512_maskz_cvtps_epi32(coded, _mm512_mul_ps(v, times));
      sum = _mm512_add_epi32(sum, code);
      const __m128i bytes = _mm_shuffle_epi8(_mm512_cvtsepi32_epi8(code), order);
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to + kNBitHead + i), bytes);
    }
    const int less = -_mm512_reduce_add_epi32(sum);
    __builtin_memcpy(to, &scale, sizeof scale);
    __builtin_memcpy(to + sizeof scale, &less, sizeof less);
  }
}

// Some rows of x by the vectors of a panel from column `first` on.
struct Part {
  const uint8_t* x;
  const uint8_t* b;
  const float* bias;
  float* y;
  int64_t first, n;  // n: columns of y from the panel's first on
};

template <int kRows, int kVectors>
GE_VNNI void Store(const NBitProduct& q, const Part& p, const __m512 (&sum)[kRows][kVectors]) {
  for (int v = 0; v < kVectors; ++v) {
    const int64_t j = p.first + v * 16;
    const __mmask16 mask = First(p.n - j);
    const __m512 bias =
        p.bias == nullptr ? _mm512_setzero_ps() : _mm512_maskz_loadu_ps(mask, p.bias + j);
    for (int r = 0; r < kRows; ++r) {
      _mm512_mask_storeu_ps(p.y + r * q.ldy + j, mask, _mm512_add_ps(sum[r][v], bias));
    }
  }
}

template <int kBits, int kRows, int kVectors>
GE_VNNI void Sums(const NBitProduct& q, const Part& p) {
  constexpr int kPerWord = 32 / kBits, kQuads = kPerWord / 4;
  const NBitsForm& f = q.form;
  const __m512i mask = _mm512_set1_epi8(static_cast<char>((1 << kBits) - 1));
  const __m512i half = _mm512_set1_epi8(static_cast<char>(1 << (kBits - 1)));
  // Without zero points words hold weights less half of the range: their highest bit is flipped.
  const __m512i turn = f.zero_bytes > 0 ? _mm512_setzero_si512()
                       : kBits == 2     ? _mm512_set1_epi8(static_cast<char>(0xaa))
                       : kBits == 4     ? _mm512_set1_epi8(static_cast<char>(0x88))
                                        : half;
  const __m512i no_zero = _mm512_set1_epi32(1 << (kBits - 1));
  __m512 sum[kRows][kVectors];
  for (auto& row : sum) {
    for (auto& s : row) s = _mm512_setzero_ps();
  }
  const uint8_t *x = p.x, *b = p.b;
  for (int64_t k = q.k; k > 0; k -= f.block, x += kNBitHead + f.block) {
    const int64_t words = ((k < f.block ? k : f.block) + kPerWord - 1) / kPerWord;
    const uint8_t *scales = b + 4 * p.first, *zeros = b + 4 * q.columns + p.first;
    const uint8_t* w = b + q.columns * (4 + f.zero_bytes) + 4 * p.first;
    b += q.columns * (4 + f.zero_bytes + 4 * words);
    __m512i part[kRows][kVectors];
    for (int v = 0; v < kVectors; ++v) {
      const auto* z = reinterpret_cast<const __m128i*>(zeros + 16 * v);
      const __m512i zero = f.zero_bytes > 0 ? _mm512_cvtepu8_epi32(_mm_loadu_si128(z)) : no_zero;
      for (int r = 0; r < kRows; ++r) {
        const __m512i less = _mm512_set1_epi32(Int(x + r * q.x_step + 4));
        part[r][v] = _mm512_dpwssd_epi32(_mm512_setzero_si512(), zero, less);
      }
    }
    const uint8_t* codes = x + kNBitHead;
    for (int64_t i = 0; i < words; ++i, w += 4 * q.columns, codes += kPerWord) {
      for (int v = 0; v < kVectors; ++v) {
        const __m512i word = _mm512_xor_si512(_mm512_loadu_si512(w + 64 * v), turn);
        if constexpr (kRows <= kFewRows) {
          _mm_prefetch(reinterpret_cast<const char*>(w + 64 * v + kAheadBytes), _MM_HINT_T0);
        }
#pragma GCC unroll 4
        for (int t = 0; t < kQuads; ++t) {
          const auto down = static_cast<unsigned>(8 - kBits - kBits * t);
          const __m512i quad = _mm512_and_si512(_mm512_srli_epi32(word, down), mask);
          for (int r = 0; r < kRows; ++r) {
            const __m512i some = _mm512_set1_epi32(Int(codes + r * q.x_step + 4 * t));
            part[r][v] = _mm512_dpbusd_epi32(part[r][v], quad, some);
          }
        }
      }
    }
    for (int v = 0; v < kVectors; ++v) {
      const __m512 scale = _mm512_loadu_ps(scales + 64 * v);
      for (int r = 0; r < kRows; ++r) {
        const __m512 all = _mm512_mul_ps(scale, _mm512_set1_ps(Float(x + r * q.x_step)));
        sum[r][v] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(part[r][v]), all, sum[r][v]);
      }
    }
  }
  Store(q, p, sum);
}

// All columns of a panel.
template <int kBits, int kRows>
void Rows(const NBitProduct& q, const Part& p) {
  if constexpr (kRows <= kFewRows) {
    if (q.columns == 48) return Sums<kBits, kRows, 3>(q, p);
  }
  Part some = p;
  for (; some.first < q.columns && some.first < p.n; some.first += 16) {
    Sums<kBits, kRows, 1>(q, some);
  }
}

template <int kBits, int kRows = kManyRows>
GE_VNNI void CallRows(int64_t rows, const NBitProduct& q, const Part& p) {
  if constexpr (kRows > 1) {
    if (rows < kRows) return CallRows<kBits, kRows - 1>(rows, q, p);
  }
  Rows<kBits, kRows>(q, p);
}

template <int kBits>
void AllRows(const NBitProduct& q) {
  // As equal as can be: a panel is read once for each.
  const int64_t groups = (q.m + kManyRows - 1) / kManyRows;
  for (int64_t j = 0, panel = 0; j < q.n; j += q.columns, ++panel) {
    for (int64_t t = 0, from = 0; t < groups; ++t) {
      const int64_t end = (t + 1) * q.m / groups;
      CallRows<kBits>(
          end - from, q,
          {q.x + from * q.x_step, q.b + panel * q.panel, q.bias == nullptr ? nullptr : q.bias + j,
           q.y + from * q.ldy + j, 0, q.n - j});
      from = end;
    }
  }
}

void Product(const NBitProduct& q) {
  switch (q.form.bits) {
    case 2:
      return AllRows<2>(q);
    case 4:
      return AllRows<4>(q);
    default:
      return AllRows<8>(q);
  }
}

}  // namespace

const NBitKernels kNBitKernelsAvx512 = {Narrow, Product, 2.3};

}  // namespace ge_engines::cpu::native
