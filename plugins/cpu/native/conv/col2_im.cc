// Col2Im of float32 and float64: each tap of a block adds a line of its numbers to a line of the
// image. Planes are shared by threads: none writes into another's.
#include "plugins/units/conv/col2_im.h"

#include <algorithm>
#include <utility>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/thresholds.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/price.h"

namespace ge_engines::cpu::native {

namespace {

// Buffers: image, x.
template <class T>
class Columns2Image final : public Loop {
 public:
  explicit Columns2Image(const Col2ImSpec& spec)
      : s_(spec),
        step_(StridesOf(spec.size)),
        area_(Product(spec.size)),
        taps_(Product(spec.block)),
        places_(Product(spec.count)) {}

  void Run(float* const* p) const override {
    auto* y = reinterpret_cast<T*>(p[0]);
    const auto* x = reinterpret_cast<const T*>(p[1]);
    ForRange(s_.planes * taps_ * places_ > kParallel, s_.planes, [&](int64_t plane) {
      T* image = y + plane * area_;
      std::fill(image, image + area_, T{0});
      const T* from = x + plane * taps_ * places_;
      Dims tap(s_.block.size(), 0);
      for (int64_t k = 0; k < taps_; ++k, from += places_) {
        AddTap(tap, 0, from, image);
        for (size_t d = tap.size(); d-- > 0 && ++tap[d] == s_.block[d];) tap[d] = 0;
      }
    });
  }

 private:
  // Along axis d on: numbers of one tap, blocks in order, onto the image.
  void AddTap(const Dims& tap, size_t d, const T* from, T* to) const {
    // Blocks [first, end) have the tap inside of the image.
    const int64_t shift = tap[d] * s_.dilation[d] - s_.pad[d], stride = s_.stride[d];
    const int64_t first = shift >= 0 ? 0 : CeilDiv(-shift, stride);
    const int64_t end =
        shift >= s_.size[d] ? 0 : std::min(s_.count[d], CeilDiv(s_.size[d] - shift, stride));
    if (d + 1 == tap.size()) return AddLine(from + first, to + first * stride + shift, first, end);
    int64_t inner = 1;
    for (size_t k = d + 1; k < tap.size(); ++k) inner *= s_.count[k];
    for (int64_t b = first; b < end; ++b) {
      AddTap(tap, d + 1, from + b * inner, to + (b * stride + shift) * step_[d]);
    }
  }
  void AddLine(const T* from, T* to, int64_t first, int64_t end) const {
    const int64_t stride = s_.stride.back(), n = end - first;
    if (stride == 1) {
      for (int64_t i = 0; i < n; ++i) to[i] += from[i];
    } else {
      for (int64_t i = 0; i < n; ++i) to[i * stride] += from[i];
    }
  }

  Col2ImSpec s_;
  Dims step_;
  int64_t area_, taps_, places_;
};

class Col2ImKind final : public KindOf<Col2ImSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    const Col2ImSpec& s = SpecOf(unit);
    const auto lines = static_cast<double>(Product(parser.dims(unit.in[0])) / s.count.back());
    const double each = s.stride.back() == 1 ? 0.2 : 0.7;
    const double ns = lines * (5 + each * static_cast<double>(s.count.back()));
    return WorkPrice(unit, parser, machine, {ns / machine.compute});
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const Col2ImSpec& s = SpecOf(u);
    std::unique_ptr<Kernel> kernel;
    if (b->parser().dtype(u.in[0]) == GE_F64) {
      kernel = std::make_unique<Columns2Image<double>>(s);
    } else {
      kernel = std::make_unique<Columns2Image<float>>(s);
    }
    b->AddPlain(u, "columns to image", std::move(kernel), {b->GetDense(u.in[0]).place});
  }
};

const Col2ImKind kCol2ImKind;
}  // namespace

GE_NATIVE_KINDS(col2_im, &kCol2ImKind)

}  // namespace ge_engines::cpu::native
