#include "plugins/cpu/native/movement/pad.h"

#include <algorithm>
#include <cstring>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/thresholds.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/price.h"
#include "plugins/units/movement/pad.h"

namespace ge_engines::cpu::native {

namespace {

template <class T>
class FillPad final : public Loop {
 public:
  FillPad(const Dims& result, const Dims& x, const Dims& before, bool filled)
      : y_(result), x_(x), before_(before), stride_(StridesOf(x)), filled_(filled) {
    const int64_t n = y_.back(), b = before_.back();
    left_ = std::clamp<int64_t>(b, 0, n);
    const int64_t skipped = std::max<int64_t>(0, -b);
    kept_ = std::clamp<int64_t>(x_.back() - skipped, 0, n - left_);
    first_ = skipped;
  }
  void Run(float* const* p) const override {
    T fill{};
    if (filled_) std::memcpy(&fill, p[2], sizeof(T));
    auto* y = reinterpret_cast<T*>(p[0]);
    const auto* x = reinterpret_cast<const T*>(p[1]);
    const int64_t n = y_.back(), rows = Product(y_) / n;
    ForRange(rows * n > kParallel, rows, [&](int64_t r) {
      int64_t left = r, at = first_;
      bool inside = kept_ > 0;
      for (size_t k = y_.size() - 1; k-- > 0; left /= y_[k]) {
        const int64_t i = left % y_[k] - before_[k];
        inside &= i >= 0 && i < x_[k];
        at += i * stride_[k];
      }
      T* to = y + r * n;
      if (!inside) return static_cast<void>(std::fill_n(to, n, fill));
      std::fill_n(to, left_, fill);
      std::memcpy(to + left_, x + at, static_cast<size_t>(kept_) * sizeof(T));
      std::fill_n(to + left_ + kept_, n - left_ - kept_, fill);
    });
  }

 private:
  const Dims y_, x_, before_;
  const Dims stride_;
  const bool filled_;
  int64_t left_ = 0, kept_ = 0, first_ = 0;
};

}  // namespace

std::unique_ptr<Loop> FillPadLoop(const Dims& result, const Dims& x, const Dims& before,
                                  int64_t bytes, bool filled) {
  if (bytes == 1) return std::make_unique<FillPad<uint8_t>>(result, x, before, filled);
  if (bytes == 2) return std::make_unique<FillPad<uint16_t>>(result, x, before, filled);
  if (bytes == 4) return std::make_unique<FillPad<uint32_t>>(result, x, before, filled);
  return std::make_unique<FillPad<uint64_t>>(result, x, before, filled);
}

namespace {

class PadKind final : public KindOf<FillPadSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    const double n = static_cast<double>(Product(unit.dims));
    const double rows = n / static_cast<double>(SpecOf(unit).y.back());
    return WorkPrice(unit, parser, machine, {(rows * 18 + n * 0.05) / machine.compute});
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const FillPadSpec& spec = SpecOf(u);
    const bool filled = u.in.size() > 1;
    const BufferRef x = b->GetDense(u.in[0]).place;
    b->AddPlain(u, "pad",
                FillPadLoop(spec.y, spec.x, spec.before, b->parser().size(u.in[0]), filled),
                {x, filled ? b->GetDense(u.in[1]).place : x});
  }
};

const PadKind kPadKind;
}  // namespace

GE_NATIVE_KINDS(pad, &kPadKind)

}  // namespace ge_engines::cpu::native
