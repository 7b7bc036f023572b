#include "plugins/cpu/native/reduce/cum_sum.h"

#include <algorithm>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/thresholds.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/price.h"

namespace ge_engines::cpu::native {

namespace {

template <class T>
using SumOf = std::conditional_t<std::is_same_v<T, float>, double, uint64_t>;

template <class T>
class CumSum final : public Loop {
 public:
  CumSum(const AxisCut& cut, const CumSumSpec& s) : cut_(cut), spec_(s) {}
  void Run(float* const* p) const override {
    const auto* x = reinterpret_cast<const T*>(p[1]);
    auto* y = reinterpret_cast<T*>(p[0]);
    const int64_t pieces = (cut_.inner + kWide - 1) / kWide;
    const int64_t all = cut_.outer * cut_.dim * cut_.inner;
    ForRange(all > kParallel, cut_.outer * pieces, [&](int64_t i) {
      const int64_t at = i % pieces * kWide, wide = std::min(kWide, cut_.inner - at);
      const int64_t first = i / pieces * cut_.dim * cut_.inner + at;
      if (wide == 1) return One(x + first, y + first);
      Columns(x + first, y + first, wide);
    });
  }

 private:
  static constexpr int64_t kWide = 64;  // columns that run side by side
  void One(const T* x, T* y) const {
    SumOf<T> sum = 0;
    const int64_t n = cut_.dim, step = spec_.reverse ? -cut_.inner : cut_.inner;
    int64_t at = spec_.reverse ? (n - 1) * cut_.inner : 0;
    for (int64_t k = 0; k < n; ++k, at += step) {
      const auto v = static_cast<SumOf<T>>(x[at]);
      y[at] = static_cast<T>(spec_.exclusive ? sum : sum + v);
      sum += v;
    }
  }
  void Columns(const T* x, T* y, int64_t wide) const {
    SumOf<T> sum[kWide] = {};
    for (int64_t k = 0; k < cut_.dim; ++k) {
      const int64_t at = (spec_.reverse ? cut_.dim - 1 - k : k) * cut_.inner;
      for (int64_t j = 0; j < wide; ++j) {
        const auto v = static_cast<SumOf<T>>(x[at + j]);
        y[at + j] = static_cast<T>(spec_.exclusive ? sum[j] : sum[j] + v);
        sum[j] += v;
      }
    }
  }

  const AxisCut cut_;
  const CumSumSpec spec_;
};

}  // namespace

std::unique_ptr<Loop> CumSumLoop(int32_t dtype, const AxisCut& cut, const CumSumSpec& spec) {
  return ForNumber<Loop>(dtype, [&](auto t) -> std::unique_ptr<Loop> {
    return std::make_unique<CumSum<decltype(t)>>(cut, spec);
  });
}

namespace {

class CumSumKind final : public KindOf<CumSumSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    const double x = static_cast<double>(Product(parser.dims(unit.in[0])));
    const bool apart = SpecOf(unit).axis + 1 < static_cast<int>(unit.dims.size());
    return WorkPrice(unit, parser, machine, {x * (apart ? 0.6 : 0.9) / machine.compute});
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const CumSumSpec& spec = SpecOf(u);
    b->AddPlain(u, "running sum",
                CumSumLoop(b->parser().dtype(u.in[0]), AxisCut(u.dims, spec.axis), spec),
                {b->GetDense(u.in[0]).place});
  }
};

const CumSumKind kCumSumKind;
}  // namespace

GE_NATIVE_KINDS(cum_sum, &kCumSumKind)

}  // namespace ge_engines::cpu::native
