#include "plugins/cpu/native/training/optimizer_step.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "plugins/cpu/kit/builder.h"
#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/price.h"
#include "plugins/cpu/kit/thresholds.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/price.h"

namespace ge_engines::cpu::native {

namespace {

constexpr int64_t kStepPiece = 1 << 14;  // elements that a thread takes at once

class Step final : public Loop {
 public:
  Step(const Simd& simd, const StepSpec& s, int64_t n) : simd_(simd), s_(s), n_(n) {}

  void Run(float* const* p) const override {
    const size_t made = 1 + s_.slots();
    float* const* const scalar = p + 2 * made + 1;
    if (s_.when && !Taken(scalar[s_.scalars()])) {
      for (size_t k = 0; k < made; ++k) {
        if (p[k] != p[made + k]) std::memcpy(p[k], p[made + k], Bytes());
      }
      return;
    }
    const StepFactors f = Factors(p + made, scalar);
    const auto row = Row();
    ForRange(n_ > kParallel, (n_ + kStepPiece - 1) / kStepPiece, [&](int64_t i) {
      const int64_t at = i * kStepPiece;
      const float* in[4];
      float* out[3];
      for (size_t k = 0; k < made; ++k) out[k] = p[k] + at;
      for (size_t k = 0; k <= made; ++k) in[k] = p[made + k] + at;
      row(f, in, out, std::min(kStepPiece, n_ - at));
    });
  }

 private:
  size_t Bytes() const { return static_cast<size_t>(n_) * sizeof(float); }
  static bool Taken(const float* flag) { return *reinterpret_cast<const uint8_t*>(flag) != 0; }

  decltype(Simd::adam_step) Row() const {
    if (s_.adam()) return simd_.adam_step;
    if (s_.rule == StepRule::kLion) return simd_.lion_step;
    const bool square = s_.rule == StepRule::kRmsProp || s_.rule == StepRule::kAdagrad;
    return square ? simd_.square_step : simd_.momentum_step;
  }

  StepFactors Factors(float* const* in, float* const* scalar) const {
    const float rate = *scalar[0];
    switch (s_.rule) {
      case StepRule::kAdam:
        return Adam(rate, *scalar[1], *scalar[2]);
      case StepRule::kLamb:
        return Lamb(in, rate, *scalar[1], *scalar[2]);
      case StepRule::kLion:
        return Lion(rate);
      case StepRule::kRmsProp:
      case StepRule::kAdagrad:
        return Square(rate);
      default:
        return Momentum(in, rate);
    }
  }

  StepFactors Averages() const {
    StepFactors f;
    f.keep1 = static_cast<float>(s_.beta1);
    f.add1 = static_cast<float>(1 - s_.beta1);
    f.keep2 = static_cast<float>(s_.beta2);
    f.add2 = static_cast<float>(1 - s_.beta2);
    f.eps = static_cast<float>(s_.eps);
    return f;
  }

  StepFactors Adam(float rate, float first, float second) const {
    StepFactors f = Averages();
    if (s_.apart) f.keep = 1 - rate * static_cast<float>(s_.decay);
    if (!s_.apart) f.decay = static_cast<float>(s_.decay);
    f.rate = rate / first;
    f.second = 1 / second;
    return f;
  }

  // Adam's with a rate that the norms of weight and step say, decay in the step.
  StepFactors Lamb(float* const* in, float rate, float first, float second) const {
    StepFactors f = Averages();
    f.rate = 1 / first;
    f.second = 1 / second;
    f.slot = static_cast<float>(s_.decay);
    const Norms norms = NormsOf([&](int64_t at, int64_t n, float* weight, float* step) {
      const float* const from[4] = {in[0] + at, in[1] + at, in[2] + at, in[3] + at};
      simd_.adam_squares(f, from, n, weight, step);
    });
    const float by = rate * Ratio(norms.first, norms.second);
    f.rate = by / first;
    f.keep = 1 - by * static_cast<float>(s_.decay);
    return f;
  }

  StepFactors Lion(float rate) const {
    StepFactors f = Averages();
    f.keep = 1 - rate * static_cast<float>(s_.decay);
    f.rate = rate;
    return f;
  }

  StepFactors Square(float rate) const {
    StepFactors f = Averages();
    if (s_.rule == StepRule::kAdagrad) f.keep2 = f.add2 = 1;
    f.decay = static_cast<float>(s_.decay);
    f.rate = rate;
    return f;
  }

  StepFactors Momentum(float* const* in, float rate) const {
    StepFactors f;
    f.keep1 = static_cast<float>(s_.beta1);
    f.decay = static_cast<float>(s_.decay);
    f.rate = rate;
    if (s_.ahead) {
      f.slope = 1;
      f.slot = f.keep1;
    }
    if (s_.rule != StepRule::kLars) return f;
    const Norms norms = NormsOf([&](int64_t at, int64_t n, float* weight, float* slope) {
      float sum = 0;
      simd_.moment_sums(in[0] + at, 0, n, &sum, weight);
      simd_.moment_sums(in[2] + at, 0, n, &sum, slope);
    });
    f.gain = Ratio(norms.first * s_.trust, norms.second + norms.first * s_.decay + s_.eps);
    return f;
  }

  // a / b where both are above zero, else 1.
  static float Ratio(double a, double b) {
    return a > 0 && b > 0 ? static_cast<float>(a / b) : 1.0f;
  }

  struct Norms {
    double first = 0, second = 0;
  };
  // Roots of two sums of squares, to which `add` adds what elements [at, at + n) bring. In parts
  // that do not depend on the threads. A step divided by a root near zero is a square beside which
  // a lane rounds all later ones away: of kSquares elements no lane of four adds up more than 64,
  // which puts a root off by 2e-6 at the most; of 2,048 elements it was 1.5e-5.
  template <class F>
  Norms NormsOf(F add) const {
    constexpr int64_t kMostParts = 64, kSquares = 256;
    const int64_t pieces = (n_ + kSquares - 1) / kSquares;
    const int64_t parts = std::min(kMostParts, pieces);
    Norms part[kMostParts];
    ForRange(n_ > kParallel, parts, [&](int64_t i) {
      for (int64_t at = pieces * i / parts; at < pieces * (i + 1) / parts; ++at) {
        float first = 0, second = 0;
        add(at * kSquares, std::min(kSquares, n_ - at * kSquares), &first, &second);
        part[i].first += static_cast<double>(first);
        part[i].second += static_cast<double>(second);
      }
    });
    Norms all;
    for (int64_t i = 0; i < parts; ++i) {
      all.first += part[i].first;
      all.second += part[i].second;
    }
    return {std::sqrt(all.first), std::sqrt(all.second)};
  }

  const Simd& simd_;
  const StepSpec s_;
  const int64_t n_;
};

}  // namespace

std::unique_ptr<Loop> StepLoop(const Simd& simd, const StepSpec& spec, int64_t n) {
  return std::make_unique<Step>(simd, spec, n);
}

namespace {

double StepNs(const StepSpec& s, const Machine& m) {
  const bool root = s.adam() || s.rule == StepRule::kRmsProp || s.rule == StepRule::kAdagrad;
  const double once = root ? ByIsa(m, 0.8, 1.0, 2.0) : 0.2;
  if (s.rule == StepRule::kLars) return once + 0.2;  // norms first
  return s.rule == StepRule::kLamb ? 2 * once : once;
}

class OptimizerStepKind final : public KindOf<StepSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    return LoopPrice(unit, parser, machine, StepNs(SpecOf(unit), machine));
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const StepSpec& spec = SpecOf(u);
    std::vector<BufferRef> places;
    for (const uint32_t v : u.out) {
      const Rep y = b->NewResult(v, b->Plain(v));
      places.push_back(y.place);
      b->AddRep(v, y);
    }
    for (const uint32_t v : u.in) places.push_back(b->GetDense(v).place);
    b->AddStep("step " + b->Sizes(u.dims), StepLoop(b->simd(), spec, Product(u.dims)),
               std::move(places));
  }
};

const OptimizerStepKind kOptimizerStepKind;
}  // namespace

GE_NATIVE_KINDS(optimizer_step, &kOptimizerStepKind)

}  // namespace ge_engines::cpu::native
