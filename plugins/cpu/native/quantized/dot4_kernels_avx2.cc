// Compiled for AVX2, so it uses no shared inline function (one definition rule: the linker might
// keep the AVX2 copy). AVX2's product of bytes saturates. So the kernels split x and weights into
// words of 16 bits, even bytes and odd ones: x once for all columns, weights in registers for all
// rows.
#include <immintrin.h>

#include <cstdint>

#include "plugins/cpu/kit/price.h"
#include "plugins/cpu/native/quantized/dot4_kernels.h"

namespace ge_engines::cpu::native {
namespace {

#define GE_AVX2 static inline __attribute__((always_inline))

// Their sums stay in registers beside the weights.
constexpr int64_t kRowsAtOnce = 6;
// Quads of a row that are taken apart at once: 2 KB.
constexpr int64_t kChunk = 256;
// As those of AVX-512, whose comments say why.
constexpr float kBeyond = 32767.5F * (1 << kDot4Point), kBeyondExact = 32000;
constexpr float kHalf = (1 << (kDot4Point - 1)) + kCodeNear;

GE_AVX2 __m256i Load(const void* from) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}
GE_AVX2 void Put(void* to, __m256i x) { _mm256_storeu_si256(static_cast<__m256i*>(to), x); }
GE_AVX2 __m256i EvenCodes(__m256i x) { return _mm256_and_si256(x, _mm256_set1_epi16(255)); }
GE_AVX2 __m256i OddCodes(__m256i x) { return _mm256_srli_epi16(x, 8); }
GE_AVX2 __m256i EvenWeights(__m256i w) { return _mm256_srai_epi16(_mm256_slli_epi16(w, 8), 8); }
GE_AVX2 __m256i OddWeights(__m256i w) { return _mm256_srai_epi16(w, 8); }
// Added at once: where the compiler is free to add products up first, it puts sums into memory.
GE_AVX2 __m256i AddProducts(__m256i sum, __m256i a, __m256i b) {
  sum = _mm256_add_epi32(sum, _mm256_madd_epi16(a, b));
  asm("" : "+x"(sum));
  return sum;
}

GE_AVX2 __m128i ExactHalf(__m128i sum, const Dot4Finish& f, int64_t at) {
  __m256d v = _mm256_cvtepi32_pd(sum);
  if (f.bias != nullptr) v = _mm256_add_pd(v, _mm256_loadu_pd(f.bias + at));
  v = _mm256_mul_pd(v, _mm256_loadu_pd(f.exact + at));
  v = _mm256_max_pd(v, _mm256_set1_pd(-kBeyondExact));  // NaN becomes the least value
  v = _mm256_min_pd(v, _mm256_set1_pd(kBeyondExact));
  return _mm256_cvtpd_epi32(v);
}

GE_AVX2 int MovedUp(const Dot4Finish& f) { return f.least < 0 ? 128 : 0; }

// Factors of all quantized values in registers: a store through a byte pointer might change f.
struct Finish {
  const float* scale;
  int zero;
  __m256 move;
  __m256i low, least, most, turn;
};

GE_AVX2 Finish FinishOf(const Dot4Finish& f) {
  const int up = MovedUp(f), zero = f.zero + up;
  return {f.scale,
          zero,
          _mm256_set1_ps(static_cast<float>(zero << kDot4Point) + kHalf),
          _mm256_set1_epi32((1 << kDot4Point) - 2 * kCodeNear),
          _mm256_set1_epi8(static_cast<char>(f.least + up)),
          _mm256_set1_epi8(static_cast<char>(f.most + up)),
          _mm256_set1_epi8(static_cast<char>(up))};
}

// fixed[i]: quantized values in fixed point, of sum[i]; its columns begin at[i].
template <int kVectors>
GE_AVX2 void Scale(const __m256i (&sum)[kVectors], const Finish& finish, const Dot4Finish& f,
                   const int64_t (&at)[kVectors], __m256i (&fixed)[kVectors]) {
  __m256i near = finish.low;
  for (int i = 0; i < kVectors; ++i) {
    const __m256 scale = _mm256_loadu_ps(finish.scale + at[i]);
    __m256 x = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sum[i]), scale, finish.move);
    x = _mm256_min_ps(x, _mm256_set1_ps(kBeyond));
    fixed[i] = _mm256_cvtps_epi32(x);  // the least integer where x is below
    near = _mm256_min_epu32(near, _mm256_and_si256(fixed[i], finish.low));
  }
  near = _mm256_cmpeq_epi32(near, _mm256_setzero_si256());
  if (__builtin_expect(_mm256_testz_si256(near, near) != 0 && f.bias == nullptr, 1)) return;
  for (int i = 0; i < kVectors; ++i) {
    const __m128i first = ExactHalf(_mm256_castsi256_si128(sum[i]), f, at[i]);
    const __m128i second = ExactHalf(_mm256_extracti128_si256(sum[i], 1), f, at[i] + 4);
    const __m256i q = _mm256_inserti128_si256(_mm256_castsi128_si256(first), second, 1);
    fixed[i] = _mm256_slli_epi32(_mm256_add_epi32(q, _mm256_set1_epi32(finish.zero)), kDot4Point);
  }
}

// Bytes 4 i to 4 i + 3 of each half: of fixed[i].
GE_AVX2 __m256i Narrow(const __m256i (&fixed)[4], const Finish& f) {
  const auto pair = [](__m256i a, __m256i b) {
    return _mm256_blend_epi16(_mm256_srli_epi32(a, kDot4Point), b, 0xaa);
  };
  const __m256i several = _mm256_set_epi32(0x0f0d0b09, 0x0e0c0a08, 0x07050301, 0x06040200,
                                           0x0f0d0b09, 0x0e0c0a08, 0x07050301, 0x06040200);
  __m256i bytes = _mm256_packus_epi16(pair(fixed[0], fixed[1]), pair(fixed[2], fixed[3]));
  bytes = _mm256_shuffle_epi8(bytes, several);
  bytes = _mm256_min_epu8(_mm256_max_epu8(bytes, f.least), f.most);
  return _mm256_xor_si256(bytes, f.turn);
}

GE_AVX2 void PutFirst(__m256i x, int64_t bytes, void* to) {
  if (bytes >= 32) return Put(to, x);
  auto* y = static_cast<char*>(to);
  __m128i half = _mm256_castsi256_si128(x);
  if ((bytes & 16) != 0) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(y), half);
    half = _mm256_extracti128_si256(x, 1);
    y += 16;
  }
  if ((bytes & 8) != 0) {
    _mm_storel_epi64(reinterpret_cast<__m128i*>(y), half);
    half = _mm_srli_si128(half, 8);
    y += 8;
  }
  if ((bytes & 7) == 0) return;
  const int64_t last = _mm_cvtsi128_si64(half);
  __builtin_memcpy(y, &last, static_cast<size_t>(bytes & 7));
}

// ---- products

// The bytes 0 and 2, and 1 and 3, of n quads, as words; what lies behind them up to the next eight
// quads becomes zero.
GE_AVX2 void TakeApart(const uint8_t* x, int64_t n, uint32_t* even, uint32_t* odd) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const __m256i codes = Load(x + 4 * i);
    Put(even + i, EvenCodes(codes));
    Put(odd + i, OddCodes(codes));
  }
  if (i == n) return;
  const __m256i there = _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n - i)),
                                           _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  const __m256i codes = _mm256_maskload_epi32(reinterpret_cast<const int*>(x + 4 * i), there);
  Put(even + i, EvenCodes(codes));
  Put(odd + i, OddCodes(codes));
}

template <int kRows>
struct Apart {
  alignas(32) uint32_t even[kRows][kChunk + 8], odd[kRows][kChunk + 8];
};

// n quads by 16 columns, whose weights lie `step` bytes apart: sums = begin + products, where the
// rows of `begin` lie begin_step numbers apart (0: all rows have the same).
template <int kRows>
GE_AVX2 void Multiply(const Apart<kRows>& x, int64_t n, const int8_t* w, int64_t step,
                      const int32_t* begin, int64_t begin_step, int32_t (*sums)[kDot4Columns]) {
  __m256i sum[kRows][2];
  for (int r = 0; r < kRows; ++r) {
    sum[r][0] = Load(begin + r * begin_step);
    sum[r][1] = Load(begin + r * begin_step + 8);
  }
  for (int64_t k = 0; k < n; ++k, w += step) {
    const __m256i even0 = EvenWeights(Load(w)), even1 = EvenWeights(Load(w + 32));
    for (int r = 0; r < kRows; ++r) {
      const __m256i a = _mm256_set1_epi32(static_cast<int>(x.even[r][k]));
      sum[r][0] = AddProducts(sum[r][0], a, even0);
      sum[r][1] = AddProducts(sum[r][1], a, even1);
    }
    asm("" : "+r"(w));  // the weights are read again: they had put a sum into memory
    const __m256i odd0 = OddWeights(Load(w)), odd1 = OddWeights(Load(w + 32));
    for (int r = 0; r < kRows; ++r) {
      const __m256i a = _mm256_set1_epi32(static_cast<int>(x.odd[r][k]));
      sum[r][0] = AddProducts(sum[r][0], a, odd0);
      sum[r][1] = AddProducts(sum[r][1], a, odd1);
    }
  }
  for (int r = 0; r < kRows; ++r) {
    Put(sums[r], sum[r][0]);
    Put(sums[r] + 8, sum[r][1]);
  }
}

// The sum of one row of x.
int32_t SumRow(const Dot4Tile& t, int64_t r) {
  __m256i sum = _mm256_setzero_si256();
  int64_t rest = 0;
  for (int64_t run = 0; run < t.runs; ++run) {
    const uint8_t* x = t.x[r] + t.at[run];
    int64_t k = 0;
    for (; k + 32 <= t.bytes; k += 32) {
      sum = _mm256_add_epi64(sum, _mm256_sad_epu8(Load(x + k), _mm256_setzero_si256()));
    }
    for (; k < t.bytes; ++k) rest += x[k];
  }
  alignas(32) int64_t lanes[4];
  Put(lanes, sum);
  return static_cast<int32_t>(lanes[0] + lanes[1] + lanes[2] + lanes[3] + rest);
}

// Adds a row's sum times the zero points of the weights to each of its sums.
void Begin(const Dot4Tile& t, const Dot4Finish& f, int64_t r, int32_t* sums) {
  const __m256i all = _mm256_set1_epi32(SumRow(t, r));
  for (int64_t c = 0; c < t.vectors * kDot4Lanes; c += 8) {
    const __m256i less = _mm256_mullo_epi32(all, Load(f.less + c));
    Put(sums + c, _mm256_add_epi32(Load(f.add + c), less));
  }
}

// A row's sums, 32 columns at a time: packing in halves of 16 bytes leaves fours of columns in
// another order.
GE_AVX2 void End(const Dot4Tile& t, const Finish& finish, const Dot4Finish& f, const int32_t* sums,
                 void* y) {
  if (f.scale == nullptr) {
    __builtin_memcpy(y, sums, static_cast<size_t>(t.columns) * sizeof(int32_t));
    return;
  }
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  for (int64_t c = 0; c < t.columns; c += 32) {
    __m256i q[4];
    if (t.columns - c > 16) {
      Scale<4>({Load(sums + c), Load(sums + c + 8), Load(sums + c + 16), Load(sums + c + 24)},
               finish, f, {c, c + 8, c + 16, c + 24}, q);
    } else {
      __m256i few[2];
      Scale<2>({Load(sums + c), Load(sums + c + 8)}, finish, f, {c, c + 8}, few);
      q[0] = few[0];
      q[1] = few[1];
      q[2] = q[3] = _mm256_setzero_si256();
    }
    PutFirst(_mm256_permutevar8x32_epi32(Narrow(q, finish), order), t.columns - c,
             static_cast<uint8_t*>(y) + c);
  }
}

template <int kRows>
void Rows(const Dot4Tile& t, const Dot4Finish& f) {
  alignas(32) int32_t sums[kRows][kDot4Columns];
  Apart<kRows> x;
  const int32_t* begin = f.add;
  int64_t begin_step = 0;
  if (f.less != nullptr) {
    for (int r = 0; r < kRows; ++r) Begin(t, f, r, sums[r]);
    begin = sums[0];
    begin_step = kDot4Columns;
  }
  const int64_t step = t.vectors * kDot4Lanes * 4;
  const int8_t* w = t.w;
  for (int64_t run = 0, at = 0; run < t.runs;) {
    int64_t n = 0;
    while (run < t.runs && n < kChunk) {
      const int64_t left = t.quads - at, take = left < kChunk - n ? left : kChunk - n;
      for (int r = 0; r < kRows; ++r) {
        TakeApart(t.x[r] + t.at[run] + 4 * at, take, x.even[r] + n, x.odd[r] + n);
      }
      n += take;
      at += take;
      if (at == t.quads) {
        at = 0;
        ++run;
      }
    }
    for (int64_t v = 0; v < t.vectors; ++v) {
      int32_t(*const first)[kDot4Columns] =
          reinterpret_cast<int32_t(*)[kDot4Columns]>(&sums[0][v * kDot4Lanes]);
      Multiply<kRows>(x, n, w + v * kDot4Lanes * 4, step, begin + v * kDot4Lanes, begin_step,
                      first);
    }
    w += n * step;
    begin = sums[0];
    begin_step = kDot4Columns;
  }
  const Finish finish = FinishOf(f);
  for (int r = 0; r < kRows; ++r) End(t, finish, f, sums[r], t.y[r]);
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
    default:
      return Rows<kRowsAtOnce>(t, f);
  }
}

int64_t MostRows(int64_t) { return kRowsAtOnce; }

// ---- depth-wise convolutions, 32 channels at a time

GE_AVX2 __m256i LoadFirst(const uint8_t* from, int64_t bytes) {
  if (bytes >= 32) return Load(from);
  if (bytes == 16) {
    return _mm256_zextsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  }
  alignas(32) uint8_t all[32] = {};
  __builtin_memcpy(all, from, static_cast<size_t>(bytes));
  return Load(all);
}

// Channels from `first` on.
GE_AVX2 void LinesOf(const Dot4Lines& s, int64_t first, int64_t channels) {
  const __m256i bit = _mm256_set1_epi8(static_cast<char>(s.turn ? 0x80 : 0));
  const uint8_t *p0 = s.line[0] + first, *p1 = s.line[1] + first, *p2 = s.line[2] + first,
                *p3 = s.line[3] + first;
  uint8_t* to = s.to + first;
  for (int64_t i = 0; i < s.pixels; ++i, to += s.to_step) {
    const __m256i a = _mm256_xor_si256(LoadFirst(p0, channels), bit);
    const __m256i b = _mm256_xor_si256(LoadFirst(p1, channels), bit);
    const __m256i c = _mm256_xor_si256(LoadFirst(p2, channels), bit);
    const __m256i d = _mm256_xor_si256(LoadFirst(p3, channels), bit);
    const __m256i ab_low = _mm256_unpacklo_epi8(a, b), ab_high = _mm256_unpackhi_epi8(a, b);
    const __m256i cd_low = _mm256_unpacklo_epi8(c, d), cd_high = _mm256_unpackhi_epi8(c, d);
    Put(to, _mm256_unpacklo_epi16(ab_low, cd_low));
    Put(to + 64, _mm256_unpackhi_epi16(ab_low, cd_low));
    Put(to + 128, _mm256_unpacklo_epi16(ab_high, cd_high));
    Put(to + 192, _mm256_unpackhi_epi16(ab_high, cd_high));
    p0 += s.step[0];
    p1 += s.step[1];
    p2 += s.step[2];
    p3 += s.step[3];
  }
}

void Lines(const Dot4Lines& s) {
  for (int64_t first = 0; first < s.channels; first += 32) {
    const int64_t channels = s.channels - first;
    if (channels >= 32) {
      LinesOf(s, first, 32);
    } else if (channels == 16) {
      LinesOf(s, first, 16);
    } else {
      LinesOf(s, first, channels);
    }
  }
}

// Packing in halves of 16 bytes puts channels back into their order.
GE_AVX2 void StorePixel(const __m256i (&sum)[4], const Finish& finish, const Dot4Finish& f,
                        int64_t first, int64_t channels, char* y) {
  if (f.scale != nullptr) {
    const int64_t lane = first / 4;  // of each vector
    __m256i q[4];
    Scale<4>(sum, finish, f, {lane, 16 + lane, 32 + lane, 48 + lane}, q);
    PutFirst(Narrow(q, finish), channels - first, y + first);
    return;
  }
  alignas(32) int32_t lanes[8];
  for (int v = 0; v < 4; ++v) {
    Put(lanes, sum[v]);
    for (int64_t l = 0; l < 8; ++l) {
      const int64_t channel = GE_DEPTHWISE_CHANNEL(v, first / 4 + l);
      if (channel < channels) __builtin_memcpy(y + channel * 4, lanes + l, sizeof(int32_t));
    }
  }
}

// Weights of the most taps that are taken apart once for all pixels.
constexpr int64_t kTapsApart = 16;
struct TapWeights {
  __m256i even[kTapsApart][4], odd[kTapsApart][4];
};

// Pixels of channels from `first` on; kApart: of at most kTapsApart taps.
template <bool kApart>
GE_AVX2 void Pixels(const Dot4Taps& t, const Dot4Finish& f, int64_t first) {
  const int64_t taps = t.kw * t.quads;
  TapWeights apart;
  for (int64_t k = 0; kApart && k < taps; ++k) {
    for (int v = 0; v < 4; ++v) {
      const __m256i w = Load(t.w + k * kDot4Depth + v * 64 + first);
      apart.even[k][v] = EvenWeights(w);
      apart.odd[k][v] = OddWeights(w);
    }
  }
  const Finish finish = FinishOf(f);
  const uint8_t* x = t.x + first;
  auto* y = static_cast<char*>(t.y);
  for (int64_t i = 0; i < t.pixels; ++i, x += t.step, y += t.y_step) {
    __m256i sum[4];
    for (int v = 0; v < 4; ++v) sum[v] = Load(f.add + v * kDot4Lanes + first / 4);
    for (int64_t k = 0, tap = 0; tap < t.kw; ++tap) {
      for (int64_t q = 0; q < t.quads; ++q, ++k) {
        for (int v = 0; v < 4; ++v) {
          const __m256i codes = Load(x + tap * t.tap + q * kDot4Depth + v * 64);
          const __m256i w =
              kApart ? _mm256_setzero_si256() : Load(t.w + k * kDot4Depth + v * 64 + first);
          sum[v] =
              AddProducts(sum[v], EvenCodes(codes), kApart ? apart.even[k][v] : EvenWeights(w));
          sum[v] = AddProducts(sum[v], OddCodes(codes), kApart ? apart.odd[k][v] : OddWeights(w));
        }
      }
    }
    StorePixel(sum, finish, f, first, t.channels, y);
  }
}

void Depthwise(const Dot4Taps& t, const Dot4Finish& f) {
  for (int64_t first = 0; first < t.channels; first += 32) {
    if (t.kw * t.quads <= kTapsApart) {
      Pixels<true>(t, f, first);
    } else {
      Pixels<false>(t, f, first);
    }
  }
}

void Turn(const uint8_t* x, uint8_t* y, int64_t n) {
  const __m256i bit = _mm256_set1_epi8(static_cast<char>(0x80));
  int64_t i = 0;
  for (; i + 32 <= n; i += 32) Put(y + i, _mm256_xor_si256(Load(x + i), bit));
  for (; i < n; ++i) y[i] = x[i] ^ 0x80;
}

}  // namespace

const Dot4Kernels kDot4KernelsAvx2 = {MostRows, Product, Lines, Depthwise, Turn};

}  // namespace ge_engines::cpu::native
