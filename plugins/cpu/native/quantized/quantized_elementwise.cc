#include "plugins/cpu/native/quantized/quantized_elementwise.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "plugins/cpu/kit/builder.h"
#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/price.h"
#include "plugins/cpu/kit/thresholds.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/price.h"
#include "plugins/cpu/native/quantized/rows.h"

namespace ge_engines::cpu::native {

namespace {

class QuantizedPair final : public Loop {
 public:
  QuantizedPair(const Simd& simd, const QuantizedPairSpec& s, const QuantizedPlanes& planes)
      : simd_(simd), s_(s), d_(planes) {}
  void Run(float* const* p) const override {
    const int64_t n = d_.images * d_.channels * d_.pixels;
    if (!s_.channels) {
      return ForBytes(n, [&](int64_t at, int64_t count) { Row(p, at, Codes(p[2]) + at, count); });
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
    const QuantizedRow other = {const_cast<uint8_t*>(b), s_.b.scale, s_.b.zero, s_.b.is_signed};
    simd_.quantized_pairs(s_.fn, RowOf(s_.a, p[1], at), other, RowOf(s_.y, p[0], at),
                          LeastOf(s_.y, s_.range), MostOf(s_.y, s_.range), n);
  }

  const Simd& simd_;
  const QuantizedPairSpec s_;
  const QuantizedPlanes d_;
};

class QuantizedConstant final : public Loop {
 public:
  QuantizedConstant(const Simd& simd, const QuantizedConstantSpec& s) : simd_(simd), s_(s) {}
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
  const QuantizedConstantSpec s_;
};

void Look(const uint8_t* __restrict table, const uint8_t* __restrict x, uint8_t* __restrict y,
          int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = table[x[i]];
}

class QuantizedMap final : public Loop {
 public:
  QuantizedMap(std::vector<uint8_t> table, int64_t n) : table_(std::move(table)), n_(n) {}
  void Run(float* const* p) const override {
    ForBytes(n_, [&](int64_t at, int64_t n) {
      Look(table_.data(), Codes(p[1]) + at, Codes(p[0]) + at, n);
    });
  }

 private:
  const std::vector<uint8_t> table_;
  const int64_t n_;
};

class QuantizedMean final : public Loop {
 public:
  QuantizedMean(const Simd& simd, const QuantizedMeanSpec& s, const QuantizedPlanes& planes)
      : simd_(simd), s_(s), d_(planes) {}
  void Run(float* const* p) const override {
    auto* sum = reinterpret_cast<int32_t*>(p[2]);
    const int64_t pixels = d_.pixels, channels = d_.channels;
    const bool parallel = d_.images * channels * pixels > kParallelBytes;
    if (!d_.last) {
      return ForRange(parallel, d_.images * channels, [&](int64_t i) {
        const uint8_t* x = Codes(p[1]) + i * pixels;
        Codes(p[0])[i] = CodeOf(simd_.sum_codes(x, s_.x.is_signed, pixels));
      });
    }
    ForRange(parallel, d_.images, [&](int64_t i) {
      const uint8_t* x = Codes(p[1]) + i * channels * pixels;
      int32_t* to = sum + i * channels;
      std::fill_n(to, channels, 0);
      for (int64_t k = 0; k < pixels; ++k) {
        simd_.add_codes(x + k * channels, s_.x.is_signed, to, channels);
      }
      for (int64_t c = 0; c < channels; ++c) Codes(p[0])[i * channels + c] = CodeOf(to[c]);
    });
  }

 private:
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
  const QuantizedMeanSpec s_;
  const QuantizedPlanes d_;
};

class QuantizedConcat final : public Loop {
 public:
  QuantizedConcat(int64_t rows, std::vector<int64_t> bytes,
                  std::vector<std::vector<uint8_t>> tables)
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

}  // namespace

std::unique_ptr<Loop> QuantizedPairLoop(const Simd& simd, const QuantizedPairSpec& spec,
                                        const QuantizedPlanes& planes) {
  return std::make_unique<QuantizedPair>(simd, spec, planes);
}

std::unique_ptr<Loop> QuantizedConstantLoop(const Simd& simd, const QuantizedConstantSpec& spec) {
  return std::make_unique<QuantizedConstant>(simd, spec);
}

std::vector<uint8_t> TableOf(const Simd& simd, const QuantizedMapSpec& spec,
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

std::unique_ptr<Loop> QuantizedMapLoop(std::vector<uint8_t> table, int64_t n) {
  return std::make_unique<QuantizedMap>(std::move(table), n);
}

std::unique_ptr<Loop> QuantizedMeanLoop(const Simd& simd, const QuantizedMeanSpec& spec,
                                        const QuantizedPlanes& planes) {
  return std::make_unique<QuantizedMean>(simd, spec, planes);
}

std::unique_ptr<Loop> QuantizedConcatLoop(int64_t rows, std::vector<int64_t> bytes,
                                          std::vector<std::vector<uint8_t>> tables) {
  return std::make_unique<QuantizedConcat>(rows, std::move(bytes), std::move(tables));
}

namespace {

class QuantizedPairKind final : public KindOf<QuantizedPairSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    const double n = static_cast<double>(Product(unit.dims));
    return WorkPrice(unit, parser, machine, {n * ByIsa(machine, 0.3, 0.4, 1.2) / machine.compute});
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const QuantizedPairSpec& spec = SpecOf(u);
    const Layout layout = b->LayoutOfInput(u);
    // Its elements lie side by side whatever the order of their axes.
    const BufferRef other = (spec.channels ? b->GetDense(u.in[1]) : b->Get(u.in[1], layout)).place;
    const int64_t all = Product(u.dims);
    const int64_t images = spec.channels ? u.dims[0] : 1, channels = spec.channels ? u.dims[1] : 1;
    const QuantizedPlanes planes = {images, channels, all / (images * channels), !layout.dense()};
    b->AddInLayout(u, "quantized, two", layout, QuantizedPairLoop(b->simd(), spec, planes),
                   {b->Get(u.in[0], layout).place, other});
  }
};

class QuantizedConstantKind final : public KindOf<QuantizedConstantSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    const double n = static_cast<double>(Product(unit.dims));
    return WorkPrice(unit, parser, machine, {n * ByIsa(machine, 0.3, 0.4, 1.2) / machine.compute});
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    QuantizedConstantSpec spec = SpecOf(u);
    Layout layout = b->LayoutOfInput(u);
    const bool of_channels = u.dims.size() > 2 && spec.middle == u.dims[1] &&
                             spec.outer * spec.middle == u.dims[0] * u.dims[1];
    if (!layout.dense() && of_channels) {  // neighbours in memory
      spec.outer *= spec.inner;
      spec.inner = 1;
    } else {
      layout = b->Plain(u.out[0]);
    }
    const BufferRef x = layout.dense() ? b->GetDense(u.in[0]).place : b->Get(u.in[0], layout).place;
    b->AddInLayout(u, "quantized, constants", layout, QuantizedConstantLoop(b->simd(), spec),
                   {x, b->GetDense(u.in[1]).place});
  }
};

class QuantizedMapKind final : public KindOf<QuantizedMapSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    const double n = static_cast<double>(Product(unit.dims));
    return WorkPrice(unit, parser, machine, {n * 0.4 / machine.compute});
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const QuantizedMapSpec& spec = SpecOf(u);
    const Layout layout = b->LayoutOfInput(u);
    std::vector<PointwiseOp> ops = Builder::FirstPostOps(u);
    b->AddInLayout(u, "quantized, table", layout,
                   QuantizedMapLoop(TableOf(b->simd(), spec, std::move(ops)), Product(u.dims)),
                   {b->Get(u.in[0], layout).place});
  }
};

class QuantizedMeanKind final : public KindOf<QuantizedMeanSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    const double n = static_cast<double>(Product(unit.dims));
    return WorkPrice(unit, parser, machine,
                     {BytesOf(parser, unit.in[0]) * 0.1 / machine.compute + n * 3});
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const QuantizedMeanSpec& spec = SpecOf(u);
    const Dims x = b->parser().dims(u.in[0]);
    const Layout layout = Layout::Like(x, b->Main(u.in[0]).layout);
    const bool last = !layout.dense();
    const int64_t pixels = Product(x) / (x[0] * x[1]);
    const BufferRef sums = b->NewInternal(0, static_cast<uint64_t>(x[0] * x[1]) * sizeof(int32_t));
    b->AddInLayout(u, "quantized, mean", b->Plain(u.out[0]),
                   QuantizedMeanLoop(b->simd(), spec, {x[0], x[1], pixels, last}),
                   {b->Get(u.in[0], layout).place, sums});
  }
};

class QuantizedConcatKind final : public KindOf<QuantizedConcatSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    const double n = static_cast<double>(Product(unit.dims));
    return WorkPrice(unit, parser, machine, {n * 0.1 / machine.compute});
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const QuantizedConcatSpec& spec = SpecOf(u);
    Layout layout = Layout::Dense(u.dims, 1);
    for (uint32_t v : u.in) {
      if (layout.dense()) layout = Layout::Like(u.dims, b->Main(v).layout);
    }
    const bool last = !layout.dense();
    if (last && spec.axis == 0) layout = Layout::Dense(u.dims, 1);
    // Rows of each input that follow each other in the result.
    std::vector<int64_t> bytes;
    std::vector<BufferRef> places;
    std::vector<std::vector<uint8_t>> tables;
    int64_t rows = 1;
    for (int k = 0; k < layout.rank; ++k) {
      const bool outside = !layout.dense()
                               ? k != spec.axis && layout.stride[k] > layout.stride[spec.axis]
                               : k < spec.axis;
      if (outside) rows *= u.dims[static_cast<size_t>(k)];
    }
    for (size_t i = 0; i < u.in.size(); ++i) {
      const Dims d = b->parser().dims(u.in[i]);
      places.push_back(b->Get(u.in[i], Layout::Like(d, layout)).place);
      bytes.push_back(Product(d) / rows);
      tables.push_back(spec.x[i] == spec.y ? std::vector<uint8_t>()
                                           : TableOf(b->simd(), {spec.x[i], spec.y, {}}, {}));
    }
    b->AddInLayout(u, "quantized, concat", layout,
                   QuantizedConcatLoop(rows, std::move(bytes), std::move(tables)),
                   std::move(places));
  }
};

const QuantizedPairKind kQuantizedPairKind;
const QuantizedConstantKind kQuantizedConstantKind;
const QuantizedMapKind kQuantizedMapKind;
const QuantizedMeanKind kQuantizedMeanKind;
const QuantizedConcatKind kQuantizedConcatKind;
}  // namespace

GE_NATIVE_KINDS(quantized_elementwise, &kQuantizedPairKind, &kQuantizedConstantKind,
                &kQuantizedMapKind, &kQuantizedMeanKind, &kQuantizedConcatKind)

}  // namespace ge_engines::cpu::native
