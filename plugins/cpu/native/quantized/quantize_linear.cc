#include "plugins/cpu/native/quantized/quantize_linear.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "plugins/cpu/kit/builder.h"
#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/price.h"
#include "plugins/cpu/kit/thresholds.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/price.h"
#include "plugins/cpu/native/quantized/step.h"

namespace ge_engines::cpu::native {
namespace {

int32_t ZeroAt(const float* p, bool is_signed, int64_t i) {
  return is_signed ? reinterpret_cast<const int8_t*>(p)[i] : reinterpret_cast<const uint8_t*>(p)[i];
}

// f(first element, count, index of the scale) for a whole grid.
template <class F>
void ForGrid(const QuantGrid& g, F f) {
  if (g.dim == 1) {
    ForBytes(g.outer * g.inner, [&](int64_t at, int64_t n) { f(at, n, 0); });
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
    ForBytes(n_, [&](int64_t at, int64_t n) {
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

namespace {

// With one scale the loop takes elements in their order in memory: an image with channels last
// stays so, with elements of any size. Transposing it took a third of the time of a partly
// quantized network.
bool EmitInOrder(NativeBuilder* b, const Unit& u, const std::string& label,
                 std::unique_ptr<Kernel> kernel) {
  const bool image = u.dims.size() > 2 && Product(b->parser().dims(u.in[1])) == 1;
  if (!image || b->Main(u.in[0]).layout.dense()) return false;
  const Layout from = Layout::ChannelsLast(u.dims, b->parser().size(u.in[0]));
  const BufferRef x = b->Get(u.in[0], from).place;
  b->AddInLayout(u, label, Layout::ChannelsLast(u.dims, b->parser().size(u.out[0])),
                 std::move(kernel),
                 {x, b->GetDense(u.in[1]).place, u.in[2] != 0 ? b->GetDense(u.in[2]).place : x});
  return true;
}

class QuantizeKind final : public KindOf<QuantizeSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    const double n = static_cast<double>(Product(unit.dims));
    return WorkPrice(unit, parser, machine,
                     {n * ByIsa(machine, 0.5, 0.6, 1.5) * (unit.in.size() > 1 ? 1 : 1.4)});
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const QuantizeSpec& spec = SpecOf(u);
    if (u.in.size() > 1) {
      const bool zero = u.in[2] != 0, is_signed = IsSigned(b->parser(), u.out[0]);
      if (EmitInOrder(b, u, "quantize", QuantizeLoop(b->simd(), spec.grid, is_signed, zero)))
        return;
      const BufferRef x = b->GetDense(u.in[0]).place;
      b->AddPlain(u, "quantize", QuantizeLoop(b->simd(), spec.grid, is_signed, zero),
                  {x, b->GetDense(u.in[1]).place, zero ? b->GetDense(u.in[2]).place : x});
      return;
    }
    const BufferRef x = b->GetDense(u.in[0]).place;
    std::vector<BufferRef> places = {b->NewResult(u.out[0], b->Plain(u.out[0])).place, x};
    b->AddRep(u.out[0], {b->Plain(u.out[0]), places[0]});
    for (size_t k : {1u, 2u}) {
      if (u.out[k] == 0) {
        places.push_back(x);
        continue;
      }
      const Rep y = b->NewResult(u.out[k], b->Plain(u.out[k]));
      b->AddRep(u.out[k], y);
      places.push_back(y.place);
    }
    b->AddStep("dynamic quantize " + b->Sizes(u.dims),
               DynamicQuantizeLoop(b->simd(), Product(u.dims), u.out[1] != 0, u.out[2] != 0),
               std::move(places));
  }
};

class DequantizeKind final : public KindOf<DequantizeSpec> {
 public:
  bool Takes(const Unit& u, const Parser& p, const Machine&, Why* why) const override {
    return p.dtype(u.in[0]) != GE_I32 ||
           why->Say(GE_WHY_DTYPE, "int32 only as the bias of a quantized product");
  }
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    const double n = static_cast<double>(Product(unit.dims));
    return WorkPrice(unit, parser, machine, {n * ByIsa(machine, 0.2, 0.25, 0.5)});
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const DequantizeSpec& spec = SpecOf(u);
    const bool zero = u.in[2] != 0, is_signed = IsSigned(b->parser(), u.in[0]);
    if (EmitInOrder(b, u, "dequantize", DequantizeLoop(b->simd(), spec.grid, is_signed, zero)))
      return;
    const BufferRef x = b->GetDense(u.in[0]).place;
    b->AddPlain(u, "dequantize", DequantizeLoop(b->simd(), spec.grid, is_signed, zero),
                {x, b->GetDense(u.in[1]).place, zero ? b->GetDense(u.in[2]).place : x});
  }
};

const QuantizeKind kQuantizeKind;
const DequantizeKind kDequantizeKind;
}  // namespace

GE_NATIVE_KINDS(quantize_linear, &kQuantizeKind, &kDequantizeKind)

}  // namespace ge_engines::cpu::native
