// FourierTransform: the discrete Fourier transform of one length, by the Cooley-Tukey split into
// small factors, and by Bluestein's convolution where a prime factor is large. In double, so that a
// result in float32 is rounded once. Immutable; any number of threads may run one.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

namespace ge_engines::cpu::native {

class FourierTransform {
 public:
  using Complex = std::complex<double>;
  explicit FourierTransform(int64_t length);
  // Elements that Run needs beside its own.
  int64_t scratch() const { return padded_ ? 2 * padded_->length_ : 0; }
  // out[k] = sum over j of in[j] e^(-2 pi i j k / length). `in` and `out` do not overlap.
  void Run(const Complex* in, Complex* out, Complex* scratch) const;

 private:
  void Split(const Complex* in, Complex* out, int64_t stride, size_t factor, int64_t n) const;
  void Combine(Complex* out, int64_t stride, int64_t p, int64_t m) const;
  void Convolve(const Complex* in, Complex* out, Complex* scratch) const;

  int64_t length_;
  std::vector<int64_t> factors_;  // their product is length_
  std::vector<Complex> circle_;   // e^(-2 pi i k / length)
  // Bluestein's: the transform of a power of two, chirps e^(-pi i k^2 / length), and the transform
  // of their conjugates.
  std::unique_ptr<FourierTransform> padded_;
  std::vector<Complex> chirp_, kernel_;
};

}  // namespace ge_engines::cpu::native
