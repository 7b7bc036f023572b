#include "plugins/cpu/native/quantized/quantized_pool.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "plugins/cpu/kit/builder.h"
#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/thresholds.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/price.h"
#include "plugins/cpu/native/quantized/dot4_kernels.h"
#include "plugins/cpu/native/quantized/rows.h"
#include "plugins/units/quantized/quantized_pool.h"

namespace ge_engines::cpu::native {

namespace {

template <class T>
class QuantizedPool final : public Loop {
 public:
  explicit QuantizedPool(const PoolSpec& s) : s_(s) {
    const size_t axes = s.kernel.size();
    planes_ = s.src[0] * s.src[1];
    w_ = s.src.back();
    out_w_ = s.dst.back();
    h_ = axes == 2 ? s.src[2] : 1;
    out_h_ = axes == 2 ? s.dst[2] : 1;
    kh_ = axes == 2 ? s.kernel[0] : 1;
    sh_ = axes == 2 ? s.stride[0] : 1;
    ph_ = axes == 2 ? s.pad_l[0] : 0;
    kw_ = s.kernel.back();
    sw_ = s.stride.back();
    pw_ = s.pad_l.back();
  }
  void Run(float* const* p) const override {
    const auto* x = reinterpret_cast<const T*>(p[1]);
    auto* y = reinterpret_cast<T*>(p[0]);
    ForRange(planes_ * h_ * w_ > kParallelQuantized, planes_, [&](int64_t plane) {
      for (int64_t r = 0; r < out_h_; ++r) {
        Row(x + plane * h_ * w_, r, y + (plane * out_h_ + r) * out_w_);
      }
    });
  }

 private:
  static constexpr T kLeast = std::numeric_limits<T>::lowest();
  static constexpr int64_t kPiece = 512;  // results whose columns are folded at once

  // Bytes may alias anything, even these members: the loop copies what it reads into registers.
  void Row(const T* x, int64_t r, T* y) const {
    const int64_t top = std::max<int64_t>(0, r * sh_ - ph_), w = w_, out = out_w_;
    const int64_t end = std::min(h_, r * sh_ - ph_ + kh_), kw = kw_, sw = sw_;
    T folded[kPiece * 4];
    const int64_t fit = std::max<int64_t>(1, (kPiece * 4 - kw) / sw);
    for (int64_t at = 0; at < out; at += fit) {
      // Columns [from, from + wide) of x in rows top to end; beyond x the least value.
      const int64_t n = std::min(fit, out - at), from = at * sw - pw_, wide = (n - 1) * sw + kw;
      const int64_t a = std::max<int64_t>(0, -from), b = std::min(wide, w - from);
      if (a > 0 || b < wide || top >= end) std::fill_n(folded, wide, kLeast);
      if (top < end) std::copy_n(x + top * w + from + a, std::max<int64_t>(0, b - a), folded + a);
      for (int64_t i = top + 1; i < end; ++i) Fold(x + i * w + from, a, b, folded);
      Pick(folded, kw, sw, n, y + at);
    }
  }
  static void Fold(const T* __restrict row, int64_t a, int64_t b, T* __restrict folded) {
#pragma omp simd
    for (int64_t j = a; j < b; ++j) folded[j] = std::max(folded[j], row[j]);
  }
  static void Pick(const T* folded, int64_t kw, int64_t sw, int64_t n, T* y) {
    if (sw == 2 && kw == 2) return Every<2, 2>(folded, n, y);
    if (sw == 2 && kw == 3) return Every<2, 3>(folded, n, y);
    if (sw == 1 && kw == 3) return Every<1, 3>(folded, n, y);
    for (int64_t i = 0; i < n; ++i) y[i] = *std::max_element(folded + i * sw, folded + i * sw + kw);
  }
  // Windows that pools mostly have, by vectors.
  template <int kStride, int kWide>
  static void Every(const T* __restrict folded, int64_t n, T* __restrict y) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) {
      T best = folded[i * kStride];
      for (int k = 1; k < kWide; ++k) best = std::max(best, folded[i * kStride + k]);
      y[i] = best;
    }
  }

  const PoolSpec s_;
  int64_t planes_, h_, w_, out_h_, out_w_, kh_, kw_, sh_, sw_, ph_, pw_;
};

}  // namespace

std::unique_ptr<Loop> QuantizedPoolLoop(const PoolSpec& spec, bool is_signed) {
  if (is_signed) return std::make_unique<QuantizedPool<int8_t>>(spec);
  return std::make_unique<QuantizedPool<uint8_t>>(spec);
}

namespace {

class QuantizedPoolLast final : public Loop {
 public:
  QuantizedPoolLast(const Simd& simd, const PoolSpec& s, bool is_signed)
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

std::unique_ptr<Loop> QuantizedPoolLastLoop(const Simd& simd, const PoolSpec& pool,
                                            bool is_signed) {
  return std::make_unique<QuantizedPoolLast>(simd, pool, is_signed);
}

namespace {

double PoolNs(const Unit& u, const PoolSpec& pool, const Machine& m) {
  const double n = static_cast<double>(Product(u.dims));
  const double rows = u.dims.empty() ? 1 : n / static_cast<double>(u.dims.back());
  const double taps = static_cast<double>(pool.kernel.back());
  const double high = static_cast<double>(Product(pool.kernel)) / taps;
  // Behind convolutions whose channels are last, by whole pixels.
  if (Dot4KernelsOf(m.isa) != nullptr && pool.src.size() == 4) {
    const auto channels = static_cast<double>(pool.src[1]);
    return n / channels * taps * high * (2 + channels * 0.01);
  }
  // By rows: columns folded by vectors of 16 bytes, then windows, those of `Every` by vectors, too
  // (two pools, AVX2: 24 and 65 ns a row).
  const double wide = std::ceil(static_cast<double>(pool.src.back()) / 16);
  const double wide_out = std::ceil(n / rows / 16);
  const bool by_vectors = pool.stride.back() <= 2 && taps <= 3;
  return rows * (15 + wide * high * 0.8 + (by_vectors ? wide_out * 3 : n / rows) * taps);
}

class QuantizedPoolKind final : public KindOf<QuantizedPoolSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    return WorkPrice(unit, parser, machine,
                     {PoolNs(unit, SpecOf(unit).pool, machine) / machine.compute});
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const QuantizedPoolSpec& spec = SpecOf(u);
    const Layout layout = b->LayoutOfInput(u);
    if (!layout.dense()) {
      const Rep x = b->Get(u.in[0], Layout::ChannelsLast(b->parser().dims(u.in[0]), 1));
      b->AddInLayout(
          u, "quantized pool", layout,
          QuantizedPoolLastLoop(b->simd(), spec.pool, b->parser().dtype(u.in[0]) == GE_I8),
          {x.place});
      return;
    }
    b->AddPlain(u, "quantized pool",
                QuantizedPoolLoop(spec.pool, b->parser().dtype(u.in[0]) == GE_I8),
                {b->GetDense(u.in[0]).place});
  }
};

const QuantizedPoolKind kQuantizedPoolKind;
}  // namespace

GE_NATIVE_KINDS(quantized_pool, &kQuantizedPoolKind)

}  // namespace ge_engines::cpu::native
