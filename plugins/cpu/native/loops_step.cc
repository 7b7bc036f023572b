// Steps of optimizers.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/native/loops.h"

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
    f.keep1 = static_cast<float>(s_.beta1), f.add1 = static_cast<float>(1 - s_.beta1);
    f.keep2 = static_cast<float>(s_.beta2), f.add2 = static_cast<float>(1 - s_.beta2);
    f.eps = static_cast<float>(s_.eps);
    return f;
  }

  StepFactors Adam(float rate, float first, float second) const {
    StepFactors f = Averages();
    if (s_.apart) f.keep = 1 - rate * static_cast<float>(s_.decay);
    if (!s_.apart) f.decay = static_cast<float>(s_.decay);
    f.rate = rate / first, f.second = 1 / second;
    return f;
  }

  // Adam's with a rate that the norms of weight and step say, decay in the step.
  StepFactors Lamb(float* const* in, float rate, float first, float second) const {
    StepFactors f = Averages();
    f.rate = 1 / first, f.second = 1 / second, f.slot = static_cast<float>(s_.decay);
    const Norms norms = NormsOf([&](int64_t at, int64_t n, float* weight, float* step) {
      const float* const from[4] = {in[0] + at, in[1] + at, in[2] + at, in[3] + at};
      simd_.adam_squares(f, from, n, weight, step);
    });
    const float by = rate * Ratio(norms.first, norms.second);
    f.rate = by / first, f.keep = 1 - by * static_cast<float>(s_.decay);
    return f;
  }

  StepFactors Lion(float rate) const {
    StepFactors f = Averages();
    f.keep = 1 - rate * static_cast<float>(s_.decay), f.rate = rate;
    return f;
  }

  StepFactors Square(float rate) const {
    StepFactors f = Averages();
    if (s_.rule == StepRule::kAdagrad) f.keep2 = f.add2 = 1;
    f.decay = static_cast<float>(s_.decay), f.rate = rate;
    return f;
  }

  StepFactors Momentum(float* const* in, float rate) const {
    StepFactors f;
    f.keep1 = static_cast<float>(s_.beta1), f.decay = static_cast<float>(s_.decay);
    f.rate = rate;
    if (s_.ahead) f.slope = 1, f.slot = f.keep1;
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
        part[i].first += static_cast<double>(first), part[i].second += static_cast<double>(second);
      }
    });
    Norms all;
    for (int64_t i = 0; i < parts; ++i) {
      all.first += part[i].first, all.second += part[i].second;
    }
    return {std::sqrt(all.first), std::sqrt(all.second)};
  }

  const Simd& simd_;
  const StepSpec s_;
  const int64_t n_;
};

class AddedRows final : public Loop {
 public:
  AddedRows(const Simd& simd, int64_t rows, int64_t n, int64_t count, bool wide)
      : simd_(simd), rows_(rows), n_(n), count_(count), wide_(wide) {}

  // Each thread takes rows of its own, so that a row's sum has one order.
  void Run(float* const* p) const override {
    if (p[0] != p[1]) std::memcpy(p[0], p[1], static_cast<size_t>(rows_ * n_) * sizeof(float));
    const int64_t parts = count_ * n_ > kParallel ? std::min<int64_t>(rows_, kParts) : 1;
    ForRange(parts > 1, parts, [&](int64_t part) {
      for (int64_t k = 0; k < count_; ++k) {
        int64_t row = wide_ ? reinterpret_cast<const int64_t*>(p[2])[k]
                            : reinterpret_cast<const int32_t*>(p[2])[k];
        if (row < 0) row += rows_;
        if (row < 0 || row >= rows_ || row % parts != part) continue;
        float* const to = p[0] + row * n_;
        simd_.binary(Fn::kAdd, to, p[3] + k * n_, to, n_);
      }
    });
  }

 private:
  static constexpr int64_t kParts = 64;  // enough for threads to share them evenly

  const Simd& simd_;
  const int64_t rows_, n_, count_;
  const bool wide_;
};

}  // namespace

std::unique_ptr<Loop> AddRowsLoop(const Simd& simd, int64_t rows, int64_t n, int64_t count,
                                  bool wide) {
  return std::make_unique<AddedRows>(simd, rows, n, count, wide);
}

std::unique_ptr<Loop> StepLoop(const Simd& simd, const StepSpec& s, int64_t n) {
  return std::make_unique<Step>(simd, s, n);
}

}  // namespace ge_engines::cpu::native
