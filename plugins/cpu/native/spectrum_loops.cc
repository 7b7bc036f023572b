// Rows brought to mean 0 and variance 1, and short-time spectra, of sample_loops.h.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/thresholds.h"
#include "plugins/cpu/native/sample_loops.h"

namespace ge_engines::cpu::native {
namespace {

class InstanceNorm final : public Loop {
 public:
  InstanceNorm(const Simd& simd, int64_t rows, int64_t channels, int64_t n, float eps)
      : simd_(simd), rows_(rows), channels_(channels), n_(n), eps_(eps) {}
  void Run(float* const* p) const override {
    ForRange(rows_ * n_ > kParallel, rows_, [&](int64_t r) {
      const float* x = p[1] + r * n_;
      const auto n = static_cast<float>(n_);
      const float mean = simd_.reduce(Reduce::kSum, x, n_) / n;
      float sum = 0, square = 0;
      simd_.moment_sums(x, mean, n_, &sum, &square);
      const float off = sum / n;  // what rounding left of the mean
      const float variance = std::max(0.0f, square / n - off * off);
      const float scale = p[2][r % channels_] / std::sqrt(variance + eps_);
      const float bias = p[3][r % channels_] - scale * (mean + off);
      simd_.unary(Fn::kLinear, scale, bias, x, p[0] + r * n_, n_);
    });
  }

 private:
  const Simd& simd_;
  const int64_t rows_, channels_, n_;
  const float eps_;
};

class Spectrum final : public Loop {
 public:
  Spectrum(const Simd& simd, const SpectrumPlan& p) : simd_(simd), plan_(p) {
    std::vector<double> circle(static_cast<size_t>(p.length));
    const double turn = 2 * M_PI / static_cast<double>(p.length);
    const auto at = [&](int64_t i) { return turn * static_cast<double>(i % p.length); };
    table_.reserve(p.table_floats());
    for (int64_t k = 0; k < p.length; ++k) {
      for (int64_t bin = 0; bin < p.bins; ++bin) {
        table_.push_back(static_cast<float>(std::cos(at(k * bin))));
        table_.push_back(static_cast<float>(-std::sin(at(k * bin))));
      }
    }
  }
  void Run(float* const* p) const override {
    const int64_t rows = plan_.batch * plan_.frames, each = SpectrumPlan::kRows;
    const int64_t wide = 2 * plan_.bins, length = plan_.length;
    ForJobs(plan_.threads, (rows + each - 1) / each, p[3], plan_.room_floats(),
            [&](int64_t job, float* room) {
              const int64_t first = job * each, m = std::min(each, rows - first);
              for (int64_t i = 0; i < m; ++i) {
                const int64_t image = (first + i) / plan_.frames;
                const int64_t start = (first + i) % plan_.frames * plan_.step;
                const float* from = p[1] + image * plan_.samples + start;
                float* to = room + i * length;
                if (plan_.window) {
                  simd_.binary(Fn::kMul, from, p[2], to, length);
                } else {
                  std::memcpy(to, from, static_cast<size_t>(length) * sizeof(float));
                }
              }
              simd_.thin_product(room, length, table_.data(), wide, p[0] + first * wide, wide, m,
                                 wide, length);
            });
  }

 private:
  const Simd& simd_;
  const SpectrumPlan plan_;
  std::vector<float> table_;
};

}  // namespace

std::unique_ptr<Loop> InstanceNormLoop(const Simd& simd, int64_t rows, int64_t channels, int64_t n,
                                       float eps) {
  return std::make_unique<InstanceNorm>(simd, rows, channels, n, eps);
}

std::unique_ptr<Loop> SpectrumLoop(const Simd& simd, const SpectrumPlan& p) {
  return std::make_unique<Spectrum>(simd, p);
}

}  // namespace ge_engines::cpu::native
