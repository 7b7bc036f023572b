// Products with weights of 2, 4 or 8 bits in blocks: the weights become floats in registers, or in
// a tile with the form of a panel. A panel holds its blocks one after the other: a scale for each
// column, then zero points for each column, if there are any, then words of 32 bits a column. A
// word holds the weights of as many rows as fit, the first in the highest bits.
#include <algorithm>

#include "hwy/cache_control.h"
#include "plugins/cpu/kit/simd/panel_sums.h"

HWY_BEFORE_NAMESPACE();
namespace ge_engines::cpu {
namespace GE_SIMD_ISA {
namespace {

using FloatVec = hn::Vec<Full>;
using WordVec = hn::Vec<hn::RebindToUnsigned<Full>>;
constexpr int64_t kAheadBytes = 2048;              // words are asked for so early
constexpr int kInt8Rows = kManyRegisters ? 6 : 4;  // of x: their sums fit beside the weights

// Takes the weights of words one by one, row by row: unchanged if there are zero points, else
// signed, with half of the range as their zero point.
template <int kBits, bool kZeros>
struct Codes {
#if HWY_TARGET <= HWY_AVX3
  // A vector is a table of all weights of 4 bits, and of 2 bits with anything above them.
  static constexpr bool kTable = kBits <= 4;
#else
  static constexpr bool kTable = false;
#endif
  FloatVec table;

  GE_INLINE Codes Make() {
    const Full d;
    if constexpr (!kTable) return {hn::Zero(d)};
    alignas(64) float all[kMaxLanes];
    constexpr int kHalf = 1 << (kBits - 1);
    for (int i = 0; i < kMaxLanes; ++i) {
      const int code = i & (2 * kHalf - 1);
      all[i] = static_cast<float>(kZeros ? code : (code ^ kHalf) - kHalf);
    }
    return {hn::Load(d, all)};
  }

  inline __attribute__((always_inline)) FloatVec Next(WordVec* word) const {
    const Full d;
    const IntsOf<Full> di;
#if HWY_TARGET <= HWY_AVX3
    if constexpr (kTable) {
      *word = hn::RotateRight<32 - kBits>(*word);
      return FloatVec{_mm512_permutexvar_ps(hn::BitCast(di, *word).raw, table.raw)};
    }
#endif
    const auto high = kZeros ? hn::BitCast(di, hn::ShiftRight<32 - kBits>(*word))
                             : hn::ShiftRight<32 - kBits>(hn::BitCast(di, *word));
    *word = hn::ShiftLeft<kBits>(*word);
    return hn::ConvertTo(d, high);
  }
};

// The zero points of a vector of columns.
GE_INLINE FloatVec ZerosAt(const NBitsForm& f, const uint8_t* zeros, int64_t column) {
  const Full d;
  if (f.zero_bytes == 4) return hn::LoadU(d, reinterpret_cast<const float*>(zeros) + column);
  const hn::Rebind<uint8_t, Full> narrow;
  return hn::ConvertTo(d, hn::PromoteTo(IntsOf<Full>(), hn::LoadU(narrow, zeros + column)));
}

// What a block begins with, and its words.
template <bool kZeros>
struct Head {
  FloatVec scale[kPanelVectors], zero[kPanelVectors];
  const uint8_t* words;

  GE_INLINE Head At(const NBitsForm& f, const uint8_t* block) {
    const Full d;
    Head h;
    const uint8_t* zeros = block + kColumns * 4;
    for (int v = 0; v < kPanelVectors; ++v) {
      h.scale[v] = hn::LoadU(d, reinterpret_cast<const float*>(block) + v * kMaxLanes);
      h.zero[v] = kZeros ? ZerosAt(f, zeros, v * kMaxLanes) : hn::Zero(d);
    }
    h.words = zeros + kColumns * f.zero_bytes;
    return h;
  }
};

GE_INLINE void LoadWords(const uint8_t* at, WordVec (&word)[kPanelVectors]) {
  const hn::RebindToUnsigned<Full> du;
  for (int v = 0; v < kPanelVectors; ++v) {
    word[v] = hn::LoadU(du, reinterpret_cast<const uint32_t*>(at) + v * kMaxLanes);
  }
  for (int64_t line = 0; line < kColumns * 4; line += 64) hwy::Prefetch(at + kAheadBytes + line);
}

// Sums of kRows rows of x and one panel.
template <int kBits, bool kZeros, int kRows>
struct PanelOfCodes {
  static constexpr int kPerWord = 32 / kBits;
  // Sums of one row wait for each other, those of several sets do not.
  static constexpr int kSets = kRows > 1 ? 1 : kManyRegisters ? 2 : 4;
  const Codes<kBits, kZeros> codes = Codes<kBits, kZeros>::Make();
  FloatVec sum[kRows][kPanelVectors], part[kSets][kPanelVectors];

  inline __attribute__((always_inline)) void Clear(FloatVec (&all)[kSets][kPanelVectors]) {
    for (auto& set : all) {
      for (auto& s : set) s = hn::Zero(Full());
    }
  }

  // n words for rows of x that are lda apart. A single row's sums are times the scales at the end
  // of a block, which saves a product a weight.
  inline __attribute__((always_inline)) void Add(const Head<kZeros>& h, const float* x, int64_t lda,
                                                 const uint8_t* words, int64_t n) {
    const Full d;
    for (; n > 0; --n, x += kPerWord, words += 4 * kColumns) {
      WordVec word[kPanelVectors];
      LoadWords(words, word);
      for (int j = 0; j < kPerWord; j += kSets) {
        for (int s = 0; s < kSets; ++s) {
          for (int v = 0; v < kPanelVectors; ++v) {
            FloatVec w = codes.Next(&word[v]);
            if constexpr (kZeros) w = hn::Sub(w, h.zero[v]);
            if constexpr (kRows == 1) {
              part[s][v] = hn::MulAdd(hn::Set(d, x[j + s]), w, part[s][v]);
            } else {
              w = hn::Mul(w, h.scale[v]);
              for (int r = 0; r < kRows; ++r) {
                sum[r][v] = hn::MulAdd(hn::Set(d, x[r * lda + j]), w, sum[r][v]);
              }
            }
          }
        }
      }
    }
  }

  // The rows that do not fill the last word.
  inline __attribute__((always_inline)) void AddRest(const Head<kZeros>& h, const float* x,
                                                     int64_t lda, const uint8_t* words,
                                                     int64_t rest) {
    float some[kRows * kPerWord] = {};
    for (int r = 0; r < kRows; ++r) {
      for (int64_t j = 0; j < rest; ++j) some[r * kPerWord + j] = x[r * lda + j];
    }
    Add(h, some, kPerWord, words, 1);
  }

  inline __attribute__((always_inline)) void Run(const NBitsForm& f, const float* x, int64_t lda,
                                                 const uint8_t* b, int64_t k) {
    for (auto& row : sum) {
      for (auto& s : row) s = hn::Zero(Full());
    }
    for (; k > 0; k -= f.block, x += f.block) {
      const Head<kZeros> h = Head<kZeros>::At(f, b);
      const int64_t depth = k < f.block ? k : f.block, words = depth / kPerWord;
      if constexpr (kRows == 1) Clear(part);
      Add(h, x, lda, h.words, words);
      b = h.words + words * kColumns * 4;
      if (words * kPerWord < depth) {
        AddRest(h, x + words * kPerWord, lda, b, depth - words * kPerWord);
      }
      if constexpr (kRows > 1) continue;
      for (int v = 0; v < kPanelVectors; ++v) {
        FloatVec all = part[0][v];
        for (int s = 1; s < kSets; ++s) all = hn::Add(all, part[s][v]);
        sum[0][v] = hn::MulAdd(all, h.scale[v], sum[0][v]);
      }
    }
  }
};

template <int kBits, bool kZeros, int kRows = kInt8Rows>
GE_INLINE void CallCodeRows(int64_t rows, const NBitsForm& f, const float* x, int64_t lda,
                            const uint8_t* b, int64_t panel, const float* bias, float* y,
                            int64_t ldy, int64_t n, int64_t k) {
  if (rows < kRows) {
    if constexpr (kRows > 1) {
      CallCodeRows<kBits, kZeros, kRows - 1>(rows, f, x, lda, b, panel, bias, y, ldy, n, k);
    }
    return;
  }
  for (int64_t j = 0; j < n; j += kColumns, b += panel) {
    PanelOfCodes<kBits, kZeros, kRows> q;
    q.Run(f, x, lda, b, k);
    const Block<Floats> to = {nullptr, 0,   nullptr, 0, bias == nullptr ? nullptr : bias + j,
                              y + j,   ldy, n - j,   0, false};
    if (n - j >= kColumns) {
      StoreWhole<Floats, kRows, kPanelVectors>(to, q.sum);
    } else {
      StoreTail<Floats, kRows, kPanelVectors>(to, q.sum);
    }
  }
}

template <int kBits, bool kZeros>
GE_INLINE void UnpackPanel(const NBitsForm& f, const uint8_t* b, int64_t k, float* to) {
  constexpr int kPerWord = 32 / kBits;
  const Full d;
  const auto codes = Codes<kBits, kZeros>::Make();
  for (; k > 0; k -= f.block) {
    const Head<kZeros> h = Head<kZeros>::At(f, b);
    b = h.words;
    for (int64_t i = 0, depth = k < f.block ? k : f.block; i < depth; b += 4 * kColumns) {
      WordVec word[kPanelVectors];
      LoadWords(b, word);
      for (int j = 0; j < kPerWord && i < depth; ++j, ++i, to += kColumns) {
        for (int v = 0; v < kPanelVectors; ++v) {
          FloatVec w = codes.Next(&word[v]);
          if constexpr (kZeros) w = hn::Sub(w, h.zero[v]);
          hn::StoreU(hn::Mul(w, h.scale[v]), d, to + v * kMaxLanes);
        }
      }
    }
  }
}

// f(bits, whether there are zero points), as constants.
template <class F>
GE_INLINE void WithForm(const NBitsForm& form, F f) {
  const auto with_bits = [&](auto zeros) GE_LAMBDA {
    switch (form.bits) {
      case 2:
        return f(std::integral_constant<int, 2>(), zeros);
      case 4:
        return f(std::integral_constant<int, 4>(), zeros);
      default:
        return f(std::integral_constant<int, 8>(), zeros);
    }
  };
  if (form.zero_bytes == 0) return with_bits(std::false_type());
  with_bits(std::true_type());
}

}  // namespace

int64_t NBitsRows() { return kInt8Rows; }

void NBitsProduct(const NBitsForm& form, const float* left, int64_t lda, const uint8_t* right,
                  int64_t panel, const float* bias, float* y, int64_t ldy, int64_t m, int64_t n,
                  int64_t k) {
  WithForm(form, [&](auto bits, auto zeros) GE_LAMBDA {
    CallCodeRows<decltype(bits)::value, decltype(zeros)::value>(m, form, left, lda, right, panel,
                                                                bias, y, ldy, n, k);
  });
}

void NBitsUnpack(const NBitsForm& form, const uint8_t* b, int64_t k, float* to) {
  WithForm(form, [&](auto bits, auto zeros) GE_LAMBDA {
    UnpackPanel<decltype(bits)::value, decltype(zeros)::value>(form, b, k, to);
  });
}

}  // namespace GE_SIMD_ISA
}  // namespace ge_engines::cpu
HWY_AFTER_NAMESPACE();
