#include "plugins/cpu/native/quantize.h"

#include <algorithm>
#include <cmath>

#include "plugins/cpu/kit/loop_parts.h"

namespace ge_engines::cpu::native {
namespace {

int32_t ZeroAt(const float* p, bool is_signed, int64_t i) {
  return is_signed ? reinterpret_cast<const int8_t*>(p)[i] : reinterpret_cast<const uint8_t*>(p)[i];
}

// f(first element, count, index of the scale) for a whole grid.
template <class F>
void ForGrid(const QuantGrid& g, F f) {
  if (g.dim == 1) {
    ForCodes(g.outer * g.inner, [&](int64_t at, int64_t n) { f(at, n, 0); });
    return;
  }
  ForRange(g.outer * g.dim * g.inner > kParallel, g.outer * g.dim,
           [&](int64_t i) { f(i * g.inner, g.inner, i % g.dim); });
}

class Quantize final : public Loop {
 public:
  Quantize(const Simd& simd, const QuantGrid& grid, bool is_signed, bool has_zero)
      : simd_(simd), grid_(grid), signed_(is_signed), has_zero_(has_zero) {}
  void Run(float* const* p) const override {
    auto* y = reinterpret_cast<uint8_t*>(p[0]);
    ForGrid(grid_, [&](int64_t at, int64_t n, int64_t k) {
      simd_.quantize_row(p[1] + at, p[2][k], has_zero_ ? ZeroAt(p[3], signed_, k) : 0, signed_,
                         y + at, n);
    });
  }

 private:
  const Simd& simd_;
  QuantGrid grid_;
  bool signed_, has_zero_;
};

class Dequantize final : public Loop {
 public:
  Dequantize(const Simd& simd, const QuantGrid& grid, bool is_signed, bool has_zero)
      : simd_(simd), grid_(grid), signed_(is_signed), has_zero_(has_zero) {}
  void Run(float* const* p) const override {
    const auto* x = reinterpret_cast<const uint8_t*>(p[1]);
    ForGrid(grid_, [&](int64_t at, int64_t n, int64_t k) {
      simd_.dequantize_row(x + at, signed_, has_zero_ ? ZeroAt(p[3], signed_, k) : 0, p[2][k],
                           p[0] + at, n);
    });
  }

 private:
  const Simd& simd_;
  QuantGrid grid_;
  bool signed_, has_zero_;
};

class DynamicQuantize final : public Loop {
 public:
  DynamicQuantize(const Simd& simd, int64_t n, bool has_scale, bool has_zero)
      : simd_(simd), n_(n), has_scale_(has_scale), has_zero_(has_zero) {}
  // Every step is rounded to f32, as ONNX's function body has it. A range of zero counts as one.
  void Run(float* const* p) const override {
    float least = 0, most = 0;
    simd_.extremes(p[1], n_, &least, &most);
    const float scale = (least == most ? 1.0f : most - least) / 255.0f;
    const float middle = std::nearbyint((0.0f - least) / scale);
    const auto zero = static_cast<int32_t>(middle > 0 ? std::min(middle, 255.0f) : 0.0f);
    auto* y = reinterpret_cast<uint8_t*>(p[0]);
    ForCodes(n_, [&](int64_t at, int64_t n) {
      simd_.quantize_row(p[1] + at, scale, zero, false, y + at, n);
    });
    if (has_scale_) *p[2] = scale;
    if (has_zero_) *reinterpret_cast<uint8_t*>(p[3]) = static_cast<uint8_t>(zero);
  }

 private:
  const Simd& simd_;
  int64_t n_;
  bool has_scale_, has_zero_;
};

}  // namespace

std::unique_ptr<Loop> QuantizeLoop(const Simd& simd, const QuantGrid& grid, bool is_signed,
                                   bool has_zero) {
  return std::make_unique<Quantize>(simd, grid, is_signed, has_zero);
}

std::unique_ptr<Loop> DequantizeLoop(const Simd& simd, const QuantGrid& grid, bool is_signed,
                                     bool has_zero) {
  return std::make_unique<Dequantize>(simd, grid, is_signed, has_zero);
}

std::unique_ptr<Loop> DynamicQuantizeLoop(const Simd& simd, int64_t n, bool has_scale,
                                          bool has_zero) {
  return std::make_unique<DynamicQuantize>(simd, n, has_scale, has_zero);
}

}  // namespace ge_engines::cpu::native
