// Steps of optimizers.
#include <algorithm>
#include <cstring>

#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/native/loops.h"

namespace ge_native {
namespace {

constexpr int64_t kStepPiece = 1 << 14;  // elements that a thread takes at once

class Step final : public Loop {
 public:
  Step(const Simd& simd, const StepSpec& s, int64_t n) : simd_(simd), s_(s), n_(n) {}

  void Run(float* const* p) const override {
    const size_t made = 1 + s_.slots();
    float* const* const scalar = p + 2 * made + 1;
    if (s_.when && !Taken(scalar[s_.adam ? 3 : 1])) {
      for (size_t k = 0; k < made; ++k) {
        if (p[k] != p[made + k]) std::memcpy(p[k], p[made + k], Bytes());
      }
      return;
    }
    const StepFactors f = s_.adam ? Adam(*scalar[0], *scalar[1], *scalar[2]) : Momentum(*scalar[0]);
    ForRange(n_ > kParallel, (n_ + kStepPiece - 1) / kStepPiece, [&](int64_t i) {
      const int64_t at = i * kStepPiece;
      const float* in[4];
      float* out[3];
      for (size_t k = 0; k < made; ++k) out[k] = p[k] + at;
      for (size_t k = 0; k <= made; ++k) in[k] = p[made + k] + at;
      (s_.adam ? simd_.adam_step : simd_.momentum_step)(f, in, out, std::min(kStepPiece, n_ - at));
    });
  }

 private:
  size_t Bytes() const { return static_cast<size_t>(n_) * sizeof(float); }
  static bool Taken(const float* flag) { return *reinterpret_cast<const uint8_t*>(flag) != 0; }

  StepFactors Adam(float rate, float first, float second) const {
    StepFactors f;
    f.keep1 = static_cast<float>(s_.beta1), f.add1 = static_cast<float>(1 - s_.beta1);
    f.keep2 = static_cast<float>(s_.beta2), f.add2 = static_cast<float>(1 - s_.beta2);
    if (s_.apart) f.keep = 1 - rate * static_cast<float>(s_.decay);
    if (!s_.apart) f.decay = static_cast<float>(s_.decay);
    f.rate = rate / first, f.second = 1 / second, f.eps = static_cast<float>(s_.eps);
    return f;
  }

  StepFactors Momentum(float rate) const {
    StepFactors f;
    f.keep1 = static_cast<float>(s_.beta1), f.decay = static_cast<float>(s_.decay);
    f.rate = rate;
    if (s_.ahead) f.slope = 1, f.slot = f.keep1;
    return f;
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

}  // namespace ge_native
