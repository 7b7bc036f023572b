// Steps between floats and integers of 16 bits, and from int32, bit-equal to the reference
// engine's.
#include "plugins/units/quantized/wide_quantize.h"

#include <algorithm>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/price.h"
#include "plugins/cpu/kit/thresholds.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/price.h"

namespace ge_engines::cpu::native {
namespace {

int32_t WideZeroAt(int32_t dtype, const float* p, int64_t i) {
  if (dtype == GE_I32) return reinterpret_cast<const int32_t*>(p)[i];
  return dtype == GE_I16 ? reinterpret_cast<const int16_t*>(p)[i]
                         : reinterpret_cast<const uint16_t*>(p)[i];
}

// call(first element, count, index of the scale) for pieces of a grid.
template <class F>
void ForGridPieces(const QuantGrid& g, F call) {
  const int64_t slices = g.dim == 1 ? 1 : g.outer * g.dim;
  const int64_t wide = g.dim == 1 ? g.outer * g.inner : g.inner;
  const int64_t pieces = CeilDiv(wide, kQuantizeElements);
  ForRange(slices * wide > kParallel, slices * pieces, [&](int64_t i) {
    const int64_t slice = i / pieces, at = i % pieces * kQuantizeElements;
    call(slice * wide + at, std::min(kQuantizeElements, wide - at), slice % g.dim);
  });
}

// Buffers: result, x, scales, zero points (any where there are none).
std::vector<BufferRef> PlacesOf(const Unit& u, NativeBuilder* b) {
  const BufferRef x = b->GetDense(u.in[0]).place;
  return {x, b->GetDense(u.in[1]).place, u.in[2] != 0 ? b->GetDense(u.in[2]).place : x};
}

class WideQuantizeKind final : public KindOf<WideQuantizeSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    const double n = static_cast<double>(Product(unit.dims));
    return WorkPrice(unit, parser, machine, {n * ByIsa(machine, 0.5, 0.6, 1.5)});
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const int32_t dtype = b->parser().dtype(u.out[0]);
    b->AddPlain(u, "quantize",
                LoopOf([&simd = b->simd(), grid = SpecOf(u).grid, dtype,
                        has_zero = u.in[2] != 0](float* const* p) {
                  auto* y = reinterpret_cast<uint16_t*>(p[0]);
                  ForGridPieces(grid, [&](int64_t at, int64_t n, int64_t k) {
                    const int32_t zero = has_zero ? WideZeroAt(dtype, p[3], k) : 0;
                    simd.quantize_wide(p[1] + at, p[2][k], zero, dtype == GE_I16, y + at, n);
                  });
                }),
                PlacesOf(u, b));
  }
};

class WideDequantizeKind final : public KindOf<WideDequantizeSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    const double n = static_cast<double>(Product(unit.dims));
    return WorkPrice(unit, parser, machine, {n * ByIsa(machine, 0.2, 0.25, 0.5)});
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const int32_t dtype = b->parser().dtype(u.in[0]);
    b->AddPlain(u, "dequantize",
                LoopOf([&simd = b->simd(), grid = SpecOf(u).grid, dtype,
                        has_zero = u.in[2] != 0](float* const* p) {
                  const auto* words = reinterpret_cast<const int32_t*>(p[1]);
                  const auto* x = reinterpret_cast<const uint16_t*>(p[1]);
                  ForGridPieces(grid, [&](int64_t at, int64_t n, int64_t k) {
                    const int32_t zero = has_zero ? WideZeroAt(dtype, p[3], k) : 0;
                    if (dtype == GE_I32)
                      return simd.dequantize_words(words + at, zero, p[2][k], p[0] + at, n);
                    simd.dequantize_wide(x + at, dtype == GE_I16, zero, p[2][k], p[0] + at, n);
                  });
                }),
                PlacesOf(u, b));
  }
};

const WideQuantizeKind kWideQuantizeKind;
const WideDequantizeKind kWideDequantizeKind;
}  // namespace

GE_NATIVE_KINDS(wide_quantize, &kWideQuantizeKind, &kWideDequantizeKind)

}  // namespace ge_engines::cpu::native
