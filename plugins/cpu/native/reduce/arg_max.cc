#include "plugins/cpu/native/reduce/arg_max.h"

#include <algorithm>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/thresholds.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/price.h"

namespace ge_engines::cpu::native {

namespace {

// NaN stands above every number and below it where the least is sought: it is found first.
template <class T>
class ArgOf final : public Loop {
 public:
  ArgOf(const AxisCut& cut, const ArgSpec& s) : cut_(cut), spec_(s) {}
  void Run(float* const* p) const override {
    const auto* x = reinterpret_cast<const T*>(p[1]);
    auto* y = reinterpret_cast<int64_t*>(p[0]);
    const int64_t pieces = (cut_.inner + kWide - 1) / kWide;
    const int64_t all = cut_.outer * cut_.dim * cut_.inner;
    ForRange(all > kParallel, cut_.outer * pieces, [&](int64_t i) {
      const int64_t at = i % pieces * kWide, o = i / pieces;
      const T* from = x + o * cut_.dim * cut_.inner + at;
      Columns(from, y + o * cut_.inner + at, std::min(kWide, cut_.inner - at));
    });
  }

 private:
  static constexpr int64_t kWide = 32;
  // The last of equal ones is the first from the other end.
  int64_t Place(int64_t k) const { return spec_.last ? cut_.dim - 1 - k : k; }
  bool Better(T v, T best) const {
    if (best != best) return false;
    return v != v || (spec_.least ? v < best : v > best);
  }
  // Whether any of n elements takes a place from best[i * step]; without branches, since few do.
  bool Any(const T* x, const T* best, int64_t step, int64_t n) const {
    int any = 0;
    if (spec_.least) {
      for (int64_t j = 0; j < n; ++j) any |= !(x[j] >= best[j * step]);
    } else {
      for (int64_t j = 0; j < n; ++j) any |= !(x[j] <= best[j * step]);
    }
    return any != 0;
  }
  void Columns(const T* x, int64_t* y, int64_t wide) const {
    if (cut_.inner == 1) return Along(x, y);
    T best[kWide];
    int64_t at[kWide];
    std::copy_n(x + Place(0) * cut_.inner, wide, best);
    std::fill_n(at, wide, Place(0));
    for (int64_t k = 1; k < cut_.dim; ++k) {
      const T* row = x + Place(k) * cut_.inner;
      if (!Any(row, best, 1, wide)) continue;
      for (int64_t j = 0; j < wide; ++j) {
        if (Better(row[j], best[j])) {
          best[j] = row[j];
          at[j] = Place(k);
        }
      }
    }
    std::copy_n(at, wide, y);
  }
  void Along(const T* x, int64_t* y) const {
    int64_t at = Place(0);
    T best = x[at];
    for (int64_t k = 0; k < cut_.dim && best == best; k += kWide) {
      const int64_t n = std::min(kWide, cut_.dim - k);
      if (!Any(x + std::min(Place(k), Place(k + n - 1)), &best, 0, n)) continue;
      for (int64_t j = k; j < k + n; ++j) {
        if (Better(x[Place(j)], best)) {
          best = x[Place(j)];
          at = Place(j);
        }
      }
    }
    *y = at;
  }

  const AxisCut cut_;
  const ArgSpec spec_;
};

}  // namespace

std::unique_ptr<Loop> ArgLoop(int32_t dtype, const AxisCut& cut, const ArgSpec& spec) {
  switch (dtype) {
    case GE_I8:
      return std::make_unique<ArgOf<int8_t>>(cut, spec);
    case GE_U8:
      return std::make_unique<ArgOf<uint8_t>>(cut, spec);
    case GE_I16:
      return std::make_unique<ArgOf<int16_t>>(cut, spec);
    case GE_U16:
      return std::make_unique<ArgOf<uint16_t>>(cut, spec);
    case GE_I32:
      return std::make_unique<ArgOf<int32_t>>(cut, spec);
    case GE_U32:
      return std::make_unique<ArgOf<uint32_t>>(cut, spec);
    case GE_I64:
      return std::make_unique<ArgOf<int64_t>>(cut, spec);
    case GE_U64:
      return std::make_unique<ArgOf<uint64_t>>(cut, spec);
    default:
      return std::make_unique<ArgOf<float>>(cut, spec);
  }
}

namespace {

class ArgMaxKind final : public KindOf<ArgSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    const double x = static_cast<double>(Product(parser.dims(unit.in[0])));
    const bool apart = SpecOf(unit).axis + 1 < static_cast<int>(parser.dims(unit.in[0]).size());
    return WorkPrice(unit, parser, machine, {x * (apart ? 1.5 : 0.25) / machine.compute});
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const ArgSpec& spec = SpecOf(u);
    b->AddPlain(
        u, "place of extreme",
        ArgLoop(b->parser().dtype(u.in[0]), AxisCut(b->parser().dims(u.in[0]), spec.axis), spec),
        {b->GetDense(u.in[0]).place});
  }
};

const ArgMaxKind kArgMaxKind;
}  // namespace

GE_NATIVE_KINDS(arg_max, &kArgMaxKind)

}  // namespace ge_engines::cpu::native
