#include "plugins/cpu/native/code_loops.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "plugins/cpu/kit/loop_parts.h"

namespace ge_engines::cpu::native {
namespace {

const uint8_t* Codes(const float* p) { return reinterpret_cast<const uint8_t*>(p); }
uint8_t* Codes(float* p) { return reinterpret_cast<uint8_t*>(p); }

int32_t LeastOf(const CodeScale& y, const CodeRange& r) {
  return std::max(y.is_signed ? -128 : 0, r.least);
}
int32_t MostOf(const CodeScale& y, const CodeRange& r) {
  return std::min(y.is_signed ? 127 : 255, r.most);
}
CodeRow RowOf(const CodeScale& s, const float* p, int64_t at) {
  return {const_cast<uint8_t*>(Codes(p)) + at, s.scale, s.zero, s.is_signed};
}

class CodePair final : public Loop {
 public:
  CodePair(const Simd& simd, const CodePairSpec& s, const CodePlanes& planes)
      : simd_(simd), s_(s), d_(planes) {}
  void Run(float* const* p) const override {
    const int64_t n = d_.images * d_.channels * d_.pixels;
    if (!s_.channels) {
      return ForCodes(n, [&](int64_t at, int64_t count) { Row(p, at, Codes(p[2]) + at, count); });
    }
    // Rows of b's elements: those of a pixel, or one of them as often as a piece of a plane wants.
    const int64_t rows = d_.images * (d_.last ? d_.pixels : d_.channels);
    ForRange(n > kParallel, rows, [&](int64_t r) {
      if (d_.last) {
        const uint8_t* b = Codes(p[2]) + r / d_.pixels * d_.channels;
        return Row(p, r * d_.channels, b, d_.channels);
      }
      uint8_t same[kSame];
      std::memset(same, Codes(p[2])[r], sizeof same);
      for (int64_t i = 0; i < d_.pixels; i += kSame) {
        Row(p, r * d_.pixels + i, same, std::min(kSame, d_.pixels - i));
      }
    });
  }

 private:
  static constexpr int64_t kSame = 256;

  void Row(float* const* p, int64_t at, const uint8_t* b, int64_t n) const {
    const CodeRow other = {const_cast<uint8_t*>(b), s_.b.scale, s_.b.zero, s_.b.is_signed};
    simd_.code_pairs(s_.fn, RowOf(s_.a, p[1], at), other, RowOf(s_.y, p[0], at),
                     LeastOf(s_.y, s_.range), MostOf(s_.y, s_.range), n);
  }

  const Simd& simd_;
  const CodePairSpec s_;
  const CodePlanes d_;
};

class CodeConstant final : public Loop {
 public:
  CodeConstant(const Simd& simd, const CodeConstantSpec& s) : simd_(simd), s_(s) {}
  void Run(float* const* p) const override {
    const bool wide = s_.outer * s_.middle * s_.inner > kParallel;
    if (s_.inner == 1) {  // rows as long as the constants
      return ForRange(wide, s_.outer, [&](int64_t r) { Row(p, r * s_.middle, p[2], s_.middle); });
    }
    ForRange(wide, s_.outer * s_.middle, [&](int64_t r) {
      float same[kSame];
      std::fill_n(same, std::min(kSame, s_.inner), p[2][r % s_.middle]);
      for (int64_t i = 0; i < s_.inner; i += kSame) {
        Row(p, r * s_.inner + i, same, std::min(kSame, s_.inner - i));
      }
    });
  }

 private:
  static constexpr int64_t kSame = 256;

  void Row(float* const* p, int64_t at, const float* b, int64_t n) const {
    simd_.code_floats(s_.fn, RowOf(s_.x, p[1], at), b, RowOf(s_.y, p[0], at),
                      LeastOf(s_.y, s_.range), MostOf(s_.y, s_.range), n);
  }

  const Simd& simd_;
  const CodeConstantSpec s_;
};

void Look(const uint8_t* __restrict table, const uint8_t* __restrict x, uint8_t* __restrict y,
          int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = table[x[i]];
}

class CodeMap final : public Loop {
 public:
  CodeMap(std::vector<uint8_t> table, int64_t n) : table_(std::move(table)), n_(n) {}
  void Run(float* const* p) const override {
    ForCodes(n_, [&](int64_t at, int64_t n) {
      Look(table_.data(), Codes(p[1]) + at, Codes(p[0]) + at, n);
    });
  }

 private:
  const std::vector<uint8_t> table_;
  const int64_t n_;
};

class CodeMean final : public Loop {
 public:
  CodeMean(const Simd& simd, const CodeMeanSpec& s, const CodePlanes& planes)
      : simd_(simd), s_(s), d_(planes) {}
  void Run(float* const* p) const override {
    auto* sum = reinterpret_cast<int32_t*>(p[2]);
    const int64_t pixels = d_.pixels, channels = d_.channels;
    ForRange(d_.images * channels * pixels > kParallelBytes, d_.images, [&](int64_t i) {
      const uint8_t* x = Codes(p[1]) + i * channels * pixels;
      int32_t* to = sum + i * channels;
      if (d_.last) {
        std::fill_n(to, channels, 0);
        for (int64_t k = 0; k < pixels; ++k) {
          simd_.add_codes(x + k * channels, s_.x.is_signed, to, channels);
        }
      } else {
        for (int64_t c = 0; c < channels; ++c) to[c] = PlaneSum(x + c * pixels);
      }
      for (int64_t c = 0; c < channels; ++c) Codes(p[0])[i * channels + c] = CodeOf(to[c]);
    });
  }

 private:
  int32_t PlaneSum(const uint8_t* x) const {
    int32_t sum = 0;
    const auto* s = reinterpret_cast<const int8_t*>(x);
    for (int64_t k = 0; k < d_.pixels; ++k) sum += s_.x.is_signed ? s[k] : x[k];
    return sum;
  }
  uint8_t CodeOf(int32_t sum) const {
    const auto n = static_cast<double>(d_.pixels);
    const double mean = (sum - n * s_.x.zero) * s_.x.scale / n;
    const float v =
        std::nearbyint(static_cast<float>(mean) / s_.y.scale) + static_cast<float>(s_.y.zero);
    const auto least = static_cast<float>(LeastOf(s_.y, s_.range));
    const auto most = static_cast<float>(MostOf(s_.y, s_.range));
    return static_cast<uint8_t>(static_cast<int32_t>(std::min(std::max(v, least), most)));
  }

  const Simd& simd_;
  const CodeMeanSpec s_;
  const CodePlanes d_;
};

class CodeConcat final : public Loop {
 public:
  CodeConcat(int64_t rows, std::vector<int64_t> bytes, std::vector<std::vector<uint8_t>> tables)
      : rows_(rows), bytes_(std::move(bytes)), tables_(std::move(tables)) {
    for (int64_t b : bytes_) row_ += b;
  }
  void Run(float* const* p) const override {
    ForRange(rows_ * row_ > kParallelBytes, rows_, [&](int64_t r) {
      uint8_t* y = Codes(p[0]) + r * row_;
      for (size_t i = 0; i < bytes_.size(); ++i) {
        const uint8_t* x = Codes(p[i + 1]) + r * bytes_[i];
        if (tables_[i].empty()) {
          std::memcpy(y, x, static_cast<size_t>(bytes_[i]));
        } else {
          Look(tables_[i].data(), x, y, bytes_[i]);
        }
        y += bytes_[i];
      }
    });
  }

 private:
  const int64_t rows_;
  const std::vector<int64_t> bytes_;
  const std::vector<std::vector<uint8_t>> tables_;
  int64_t row_ = 0;
};

class CodeTranspose final : public Loop {
 public:
  CodeTranspose(const Simd& simd, int64_t images, int64_t columns, int64_t rows)
      : simd_(simd), images_(images), columns_(columns), rows_(rows) {}
  void Run(float* const* p) const override {
    const int64_t size = columns_ * rows_;
    ForRange(images_ * size > kParallelBytes, images_, [&](int64_t i) {
      simd_.transpose_codes(Codes(p[1]) + i * size, columns_, rows_, Codes(p[0]) + i * size);
    });
  }

 private:
  const Simd& simd_;
  const int64_t images_, columns_, rows_;
};

class CodePoolLast final : public Loop {
 public:
  CodePoolLast(const Simd& simd, const PoolSpec& s, bool is_signed)
      : simd_(simd), s_(s), signed_(is_signed) {}
  void Run(float* const* p) const override {
    const int64_t rows = s_.dst[0] * s_.dst[2];
    ForRange(rows * s_.dst[3] * s_.dst[1] > kParallelBytes, rows, [&](int64_t r) {
      for (int64_t x = 0; x < s_.dst[3]; ++x) Pixel(Codes(p[1]), r, x, Codes(p[0]));
    });
  }

 private:
  void Pixel(const uint8_t* x, int64_t row, int64_t column, uint8_t* y) const {
    const int64_t c = s_.src[1], image = row / s_.dst[2], top = row % s_.dst[2] * s_.stride[0];
    uint8_t* to = y + (row * s_.dst[3] + column) * c;
    std::memset(to, signed_ ? 0x80 : 0, static_cast<size_t>(c));
    for (int64_t i = 0; i < s_.kernel[0]; ++i) {
      const int64_t h = top - s_.pad_l[0] + i;
      if (h < 0 || h >= s_.src[2]) continue;
      for (int64_t j = 0; j < s_.kernel[1]; ++j) {
        const int64_t w = column * s_.stride[1] - s_.pad_l[1] + j;
        if (w < 0 || w >= s_.src[3]) continue;
        simd_.greater_codes(x + ((image * s_.src[2] + h) * s_.src[3] + w) * c, signed_, to, c);
      }
    }
  }

  const Simd& simd_;
  const PoolSpec s_;
  const bool signed_;
};

}  // namespace

std::unique_ptr<Loop> CodePairLoop(const Simd& simd, const CodePairSpec& spec,
                                   const CodePlanes& planes) {
  return std::make_unique<CodePair>(simd, spec, planes);
}

std::unique_ptr<Loop> CodeConstantLoop(const Simd& simd, const CodeConstantSpec& spec) {
  return std::make_unique<CodeConstant>(simd, spec);
}

std::vector<uint8_t> TableOf(const Simd& simd, const CodeMapSpec& spec,
                             std::vector<PointwiseOp> ops) {
  constexpr int64_t kCodes = 256;
  std::vector<uint8_t> codes(kCodes);
  for (int64_t i = 0; i < kCodes; ++i) codes[static_cast<size_t>(i)] = static_cast<uint8_t>(i);
  std::vector<float> x(kCodes), y(kCodes);
  simd.dequantize_row(codes.data(), spec.x.is_signed, spec.x.zero, spec.x.scale, x.data(), kCodes);
  const Layout flat = Layout::Dense({kCodes});
  if (ops.empty()) {
    y = x;
  } else {
    float* const places[] = {y.data(), x.data()};
    PointwiseLoop(simd, flat, flat, {}, std::move(ops))->Run(places);
  }
  simd.quantize_row(y.data(), spec.y.scale, spec.y.zero, spec.y.is_signed, codes.data(), kCodes);
  const int32_t least = LeastOf(spec.y, spec.range), most = MostOf(spec.y, spec.range);
  for (uint8_t& code : codes) {
    const int32_t v = spec.y.is_signed ? static_cast<int8_t>(code) : code;
    code = static_cast<uint8_t>(std::clamp(v, least, most));
  }
  return codes;
}

std::unique_ptr<Loop> CodeMapLoop(std::vector<uint8_t> table, int64_t n) {
  return std::make_unique<CodeMap>(std::move(table), n);
}

std::unique_ptr<Loop> CodeMeanLoop(const Simd& simd, const CodeMeanSpec& spec,
                                   const CodePlanes& planes) {
  return std::make_unique<CodeMean>(simd, spec, planes);
}

std::unique_ptr<Loop> CodeConcatLoop(int64_t rows, std::vector<int64_t> bytes,
                                     std::vector<std::vector<uint8_t>> tables) {
  return std::make_unique<CodeConcat>(rows, std::move(bytes), std::move(tables));
}

std::unique_ptr<Loop> CodeTransposeLoop(const Simd& simd, int64_t images, int64_t columns,
                                        int64_t rows) {
  return std::make_unique<CodeTranspose>(simd, images, columns, rows);
}

std::unique_ptr<Loop> CodePoolLastLoop(const Simd& simd, const PoolSpec& pool, bool is_signed) {
  return std::make_unique<CodePoolLast>(simd, pool, is_signed);
}

}  // namespace ge_engines::cpu::native
