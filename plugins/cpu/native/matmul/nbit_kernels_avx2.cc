// Compiled for AVX2, so it uses no shared inline function (one definition rule: the linker might
// keep the AVX2 copy). Products of weights of at most 4 bits fit into 16 bits, by pairs and summed
// over 32 rows.
#include <immintrin.h>

#include <cstdint>

#include "plugins/cpu/native/matmul/nbit_kernels.h"

namespace ge_engines::cpu::native {
namespace {

#define GE_AVX2 static inline __attribute__((always_inline))

// Rows whose sums stay in registers: beside two vectors of columns, and beside one.
constexpr int64_t kFewRows = 2, kManyRows = 5;
constexpr int64_t kStretch = 32;       // 16 pairs of 2 * 15 * 127, four bytes of a quad in two sums
constexpr int64_t kAheadBytes = 2048;  // words are asked for so early
// Below it the inverse of a scale is no finite float; the int8 values are zeros.
constexpr float kLeastMagnitude = 1e-30f;

GE_AVX2 int Int(const uint8_t* at) {
  int all;
  __builtin_memcpy(&all, at, sizeof all);
  return all;
}
GE_AVX2 float Float(const uint8_t* at) {
  float all;
  __builtin_memcpy(&all, at, sizeof all);
  return all;
}
GE_AVX2 __m256i Load(const void* from) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}

// As an integer NaN is greater than all others. If the greatest is no number, it is the scale and
// the int8 values are zeros: their products are no numbers either.
GE_AVX2 float GreatestOf(const float* x, int64_t n) {
  __m256i most = _mm256_setzero_si256();
  const __m256i mask = _mm256_set1_epi32(0x7fffffff);
  for (int64_t i = 0; i < n; i += 8) {
    most = _mm256_max_epi32(most, _mm256_and_si256(Load(x + i), mask));
  }
  alignas(32) int all[8];
  _mm256_store_si256(reinterpret_cast<__m256i*>(all), most);
  int bits = 0;
  for (const int each : all) bits = each > bits ? each : bits;
  float greatest;
  __builtin_memcpy(&greatest, &bits, sizeof greatest);
  return greatest;
}

void NarrowBlock(const NBitsForm& form, const float* x, uint8_t* to) {
  const uint8_t* const order = form.bits == 2 ? kNarrowOrder2 : kNarrowOrder4;
  const __m128i places = _mm_loadu_si128(reinterpret_cast<const __m128i*>(order));
  const float greatest = GreatestOf(x, form.block), scale = greatest / 127;
  const bool steps = greatest > kLeastMagnitude && greatest <= __FLT_MAX__;
  const __m256i coded = _mm256_set1_epi32(steps ? -1 : 0);
  const __m256 times = _mm256_set1_ps(127 / greatest);
  const auto codes = [&](const float* at) __attribute__((always_inline)) {
    const __m256i all = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(at), times));
    return _mm256_and_si256(all, coded);
  };
  __m256i sum = _mm256_setzero_si256();
  for (int64_t i = 0; i < form.block; i += 16) {
    const __m256i low = codes(x + i), high = codes(x + i + 8);
    sum = _mm256_add_epi32(sum, _mm256_add_epi32(low, high));
    // Packing works in halves of 16 bytes.
    const __m256i words = _mm256_permute4x64_epi64(_mm256_packs_epi32(low, high), 0xd8);
    const __m128i bytes =
        _mm_packs_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + kNBitHead + i),
                     _mm_shuffle_epi8(bytes, places));
  }
  alignas(32) int all[8];
  _mm256_store_si256(reinterpret_cast<__m256i*>(all), sum);
  int less = 0;
  for (const int each : all) less -= each;
  __builtin_memcpy(to, &scale, sizeof scale);
  __builtin_memcpy(to + sizeof scale, &less, sizeof less);
}

void Narrow(const NBitsForm& form, const float* x, int64_t k, uint8_t* to) {
  for (; k >= form.block; k -= form.block, x += form.block, to += kNBitHead + form.block) {
    NarrowBlock(form, x, to);
  }
  if (k == 0) return;
  float last[kNBitBlock] = {};
  __builtin_memcpy(last, x, static_cast<unsigned long>(k) * sizeof(float));
  NarrowBlock(form, last, to);
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
GE_AVX2 void Store(const NBitProduct& q, const Part& p, const __m256 (&sum)[kRows][kVectors]) {
  alignas(32) float some[8];
  for (int v = 0; v < kVectors; ++v) {
    const int64_t j = p.first + v * 8, n = p.n - j;
    for (int r = 0; r < kRows; ++r) {
      float* const y = p.y + r * q.ldy + j;
      if (n >= 8) {
        const __m256 bias = p.bias == nullptr ? _mm256_setzero_ps() : _mm256_loadu_ps(p.bias + j);
        _mm256_storeu_ps(y, _mm256_add_ps(sum[r][v], bias));
        continue;
      }
      _mm256_store_ps(some, sum[r][v]);
      for (int64_t c = 0; c < n; ++c) y[c] = some[c] + (p.bias == nullptr ? 0.0f : p.bias[j + c]);
    }
  }
}

// One block: adds to sums of floats.
template <int kBits, int kRows, int kVectors>
struct OneBlock {
  static constexpr int kPerWord = 32 / kBits, kQuads = kPerWord / 4;
  __m256i part[kRows][kVectors];

  // What zero points take away; zeros: of the first vector, or null.
  GE_AVX2 void Begin(OneBlock* o, const NBitProduct& q, const uint8_t* x, const uint8_t* zeros) {
    for (int v = 0; v < kVectors; ++v) {
      const auto* z = reinterpret_cast<const __m128i*>(zeros + 8 * v);
      const __m256i zero = q.form.zero_bytes > 0 ? _mm256_cvtepu8_epi32(_mm_loadl_epi64(z))
                                                 : _mm256_set1_epi32(1 << (kBits - 1));
      for (int r = 0; r < kRows; ++r) {
        const __m256i less = _mm256_set1_epi32(Int(x + r * q.x_step + 4));
        o->part[r][v] = _mm256_madd_epi16(zero, less);
      }
    }
  }

  // A few words, of kStretch rows at most.
  GE_AVX2 void Add(OneBlock* o, const NBitProduct& q, const uint8_t* codes, const uint8_t* w,
                   int64_t words) {
    const __m256i mask = _mm256_set1_epi8((1 << kBits) - 1);
    const __m256i turn = _mm256_set1_epi8(q.form.zero_bytes > 0 ? 0
                                          : kBits == 2          ? static_cast<char>(0xaa)
                                                                : static_cast<char>(0x88));
    __m256i some[kRows][kVectors];
    for (auto& row : some) {
      for (auto& s : row) s = _mm256_setzero_si256();
    }
    for (int64_t i = 0; i < words; ++i, w += 4 * q.columns, codes += kPerWord) {
      __m256i word[kVectors];
      for (int v = 0; v < kVectors; ++v) word[v] = _mm256_xor_si256(Load(w + 32 * v), turn);
      if constexpr (kRows <= kFewRows) {
        _mm_prefetch(reinterpret_cast<const char*>(w + kAheadBytes), _MM_HINT_T0);
      }
#pragma GCC unroll 4
      for (int t = 0; t < kQuads; ++t) {
        const int down = 8 - kBits - kBits * t;
        __m256i quad[kVectors];
        for (int v = 0; v < kVectors; ++v) {
          quad[v] = _mm256_and_si256(_mm256_srli_epi32(word[v], down), mask);
        }
        for (int r = 0; r < kRows; ++r) {
          const __m256i x = _mm256_set1_epi32(Int(codes + r * q.x_step + 4 * t));
          for (int v = 0; v < kVectors; ++v) {
            some[r][v] = _mm256_add_epi16(some[r][v], _mm256_maddubs_epi16(quad[v], x));
          }
        }
      }
    }
    const __m256i ones = _mm256_set1_epi16(1);
    for (int r = 0; r < kRows; ++r) {
      for (int v = 0; v < kVectors; ++v) {
        o->part[r][v] = _mm256_add_epi32(o->part[r][v], _mm256_madd_epi16(some[r][v], ones));
      }
    }
  }
};

template <int kBits, int kRows, int kVectors>
GE_AVX2 void Sums(const NBitProduct& q, const Part& p) {
  using Block = OneBlock<kBits, kRows, kVectors>;
  constexpr int64_t kPerWord = Block::kPerWord, kWords = kStretch / kPerWord;
  const NBitsForm& f = q.form;
  __m256 sum[kRows][kVectors];
  for (auto& row : sum) {
    for (auto& s : row) s = _mm256_setzero_ps();
  }
  const uint8_t *x = p.x, *b = p.b;
  for (int64_t k = q.k; k > 0; k -= f.block, x += kNBitHead + f.block) {
    const int64_t words = ((k < f.block ? k : f.block) + kPerWord - 1) / kPerWord;
    const uint8_t* w = b + q.columns * (4 + f.zero_bytes) + 4 * p.first;
    Block block;
    Block::Begin(&block, q, x, b + 4 * q.columns + p.first);
    for (int64_t i = 0; i < words; i += kWords) {
      Block::Add(&block, q, x + kNBitHead + i * kPerWord, w + 4 * q.columns * i,
                 words - i < kWords ? words - i : kWords);
    }
    for (int v = 0; v < kVectors; ++v) {
      const __m256 scale =
          _mm256_loadu_ps(reinterpret_cast<const float*>(b + 4 * (p.first + 8 * v)));
      for (int r = 0; r < kRows; ++r) {
        const __m256 all = _mm256_mul_ps(scale, _mm256_set1_ps(Float(x + r * q.x_step)));
        sum[r][v] =
            _mm256_add_ps(sum[r][v], _mm256_mul_ps(_mm256_cvtepi32_ps(block.part[r][v]), all));
      }
    }
    b += q.columns * (4 + f.zero_bytes + 4 * words);
  }
  Store(q, p, sum);
}

// All columns of a panel, which are a multiple of 16.
template <int kBits, int kRows>
void Rows(const NBitProduct& q, const Part& p) {
  constexpr int kVectors = kRows <= kFewRows ? 2 : 1;
  Part some = p;
  for (; some.first < q.columns && some.first < p.n; some.first += 8 * kVectors) {
    Sums<kBits, kRows, kVectors>(q, some);
  }
}

template <int kBits, int kRows = kManyRows>
GE_AVX2 void CallRows(int64_t rows, const NBitProduct& q, const Part& p) {
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
  if (q.form.bits == 2) return AllRows<2>(q);
  AllRows<4>(q);
}

}  // namespace

const NBitKernels kNBitKernelsAvx2 = {Narrow, Product, 1.5};

}  // namespace ge_engines::cpu::native
