#include "plugins/cpu/native/matmul/fourier.h"

#include <algorithm>
#include <cmath>

namespace ge_engines::cpu::native {
namespace {

using Complex = FourierTransform::Complex;

// A prime beyond this is computed as a convolution.
constexpr int64_t kLargestFactor = 13;

// Without the standard's care for infinities, which costs a call.
Complex Times(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

std::vector<int64_t> FactorsOf(int64_t n) {
  std::vector<int64_t> factors;
  for (int64_t p : {4, 2, 3, 5, 7, 11, 13}) {
    for (; n % p == 0 && n > 1; n /= p) factors.push_back(p);
  }
  if (n > 1) factors.push_back(n);  // of larger primes
  return factors;
}

}  // namespace

FourierTransform::FourierTransform(int64_t length) : length_(length), factors_(FactorsOf(length)) {
  if (factors_.empty() || factors_.back() <= kLargestFactor) {
    for (int64_t k = 0; k < length; ++k) {
      circle_.push_back(
          std::polar(1.0, -2 * M_PI * static_cast<double>(k) / static_cast<double>(length)));
    }
    return;
  }
  int64_t padded = 1;
  while (padded < 2 * length - 1) padded *= 2;
  padded_ = std::make_unique<FourierTransform>(padded);
  std::vector<Complex> around(static_cast<size_t>(padded));
  for (int64_t k = 0; k < length; ++k) {
    const auto square = static_cast<double>(k * k % (2 * length));
    chirp_.push_back(std::polar(1.0, -M_PI * square / static_cast<double>(length)));
    around[static_cast<size_t>(k)] = std::conj(chirp_.back());
    if (k > 0) around[static_cast<size_t>(padded - k)] = std::conj(chirp_.back());
  }
  kernel_.resize(around.size());
  padded_->Run(around.data(), kernel_.data(), nullptr);
}

void FourierTransform::Run(const Complex* in, Complex* out, Complex* scratch) const {
  if (padded_) return Convolve(in, out, scratch);
  if (length_ == 1) {
    out[0] = in[0];
    return;
  }
  Split(in, out, 1, 0, length_);
}

// Transforms every stride-th element of `in`, n of them; the recursion is as deep as there are
// factors.
void FourierTransform::Split(const Complex* in, Complex* out, int64_t stride, size_t factor,
                             int64_t n) const {
  const int64_t p = factors_[factor], m = n / p;
  for (int64_t q = 0; q < p; ++q) {
    if (m == 1) {
      out[q] = in[q * stride];
    } else {
      Split(in + q * stride, out + q * m, stride * p, factor + 1, m);
    }
  }
  Combine(out, stride, p, m);
}

// p transforms of m elements, one behind the other, become one of p * m.
void FourierTransform::Combine(Complex* out, int64_t stride, int64_t p, int64_t m) const {
  const Complex* circle = circle_.data();
  if (p == 2) {
    for (int64_t u = 0; u < m; ++u) {
      const Complex a = out[u], b = Times(out[u + m], circle[u * stride]);
      out[u] = a + b;
      out[u + m] = a - b;
    }
    return;
  }
  if (p == 4) {
    for (int64_t u = 0; u < m; ++u) {
      const Complex a = out[u], b = Times(out[u + m], circle[u * stride]);
      const Complex c = Times(out[u + 2 * m], circle[2 * u * stride]);
      const Complex d = Times(out[u + 3 * m], circle[3 * u * stride]);
      const Complex even = a + c, odd = a - c, sum = b + d, turned{(b - d).imag(), (d - b).real()};
      out[u] = even + sum;
      out[u + m] = odd + turned;
      out[u + 2 * m] = even - sum;
      out[u + 3 * m] = odd - turned;
    }
    return;
  }
  Complex t[kLargestFactor];
  for (int64_t u = 0; u < m; ++u) {
    for (int64_t q = 0; q < p; ++q) t[q] = Times(out[u + q * m], circle[u * q * stride]);
    for (int64_t k = 0; k < p; ++k) {
      Complex sum = t[0];
      for (int64_t q = 1; q < p; ++q) sum += Times(t[q], circle[q * k % p * m * stride]);
      out[u + k * m] = sum;
    }
  }
}

void FourierTransform::Convolve(const Complex* in, Complex* out, Complex* scratch) const {
  const int64_t padded = padded_->length_;
  Complex *a = scratch, *b = scratch + padded;
  std::fill(std::transform(in, in + length_, chirp_.begin(), a, Times), a + padded, Complex());
  padded_->Run(a, b, nullptr);
  // The inverse transform is the conjugate's.
  for (int64_t k = 0; k < padded; ++k) {
    a[k] = std::conj(Times(b[k], kernel_[static_cast<size_t>(k)]));
  }
  padded_->Run(a, b, nullptr);
  const double scale = 1.0 / static_cast<double>(padded);
  for (int64_t k = 0; k < length_; ++k) {
    out[k] = Times(std::conj(b[k]) * scale, chirp_[static_cast<size_t>(k)]);
  }
}

}  // namespace ge_engines::cpu::native
