// The p-norm of a stream of numbers, for LpPool and GlobalLpPool. In double, unscaled: only f64
// numbers beyond 1e308^(1/p) overflow.
#pragma once

#include <cmath>
#include <cstdint>

namespace ref {

class LpNorm {
 public:
  explicit LpNorm(int64_t p) : p_(p) {}
  void Add(double value) {
    const double a = std::fabs(value);
    sum_ += p_ == 1 ? a : p_ == 2 ? a * a : std::pow(a, static_cast<double>(p_));
  }
  double Result() const {
    return p_ == 1 ? sum_ : p_ == 2 ? std::sqrt(sum_) : std::pow(sum_, 1 / static_cast<double>(p_));
  }

 private:
  int64_t p_;
  double sum_ = 0;
};

}  // namespace ref
