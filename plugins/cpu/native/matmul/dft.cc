// DFT by fast transforms.
#include "plugins/units/matmul/dft.h"

#include <algorithm>
#include <cmath>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/thresholds.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/matmul/fourier.h"
#include "plugins/cpu/native/price.h"

namespace ge_engines::cpu::native {

namespace {

using Complex = FourierTransform::Complex;

// Buffers: result, x, workspace of room_floats() for each thread.
class DftLoop final : public Loop {
 public:
  DftLoop(const DftSpec& spec, int threads)
      : s_(spec), transform_(spec.length), threads_(RowsOf(spec) > 1 ? threads : 1) {}

  int threads() const { return threads_; }
  int64_t room_floats() const {  // whole cache lines
    const int64_t elements = 2 * s_.length + transform_.scratch();
    return (elements * 4 + 15) / 16 * 16;
  }

  void Run(float* const* p) const override {
    const double work = static_cast<double>(RowsOf(s_)) * static_cast<double>(s_.length);
    const int threads = work > kParallel ? threads_ : 1;
    ForJobs(threads, RowsOf(s_), p[2], room_floats(), [&](int64_t row, float* room) {
      Row(p[1], p[0], row, reinterpret_cast<Complex*>(room));
    });
  }

 private:
  static int64_t RowsOf(const DftSpec& s) { return s.outer * s.inner; }

  void Row(const float* x, float* y, int64_t row, Complex* room) const {
    Complex *in = room, *out = room + s_.length;
    const int64_t o = row / s_.inner, r = row % s_.inner;
    const int64_t half = s_.length / 2 + 1;
    const int64_t known = std::min(s_.in, s_.mirrored ? half : s_.length);
    const float* from = x + (o * s_.in * s_.inner + r) * s_.in_parts;
    for (int64_t k = 0; k < known; ++k, from += s_.inner * s_.in_parts) {
      in[k] = {from[0], s_.in_parts == 2 ? from[1] : 0};
    }
    std::fill(in + known, in + s_.length, Complex());
    for (int64_t k = half; s_.mirrored && k < s_.length; ++k) {
      in[k] = std::conj(in[s_.length - k]);
    }
    // The inverse transform is the conjugate's, less the length.
    if (s_.inverse) std::transform(in, in + s_.length, in, Conjugate);
    transform_.Run(in, out, room + 2 * s_.length);
    const double scale = s_.inverse ? 1.0 / static_cast<double>(s_.length) : 1.0;
    float* to = y + (o * s_.out * s_.inner + r) * s_.out_parts;
    for (int64_t k = 0; k < s_.out; ++k, to += s_.inner * s_.out_parts) {
      to[0] = static_cast<float>(out[k].real() * scale);
      const double imaginary = s_.inverse ? -out[k].imag() : out[k].imag();
      if (s_.out_parts == 2) to[1] = static_cast<float>(imaginary * scale);
    }
  }

  static Complex Conjugate(Complex v) { return std::conj(v); }

  const DftSpec s_;
  const FourierTransform transform_;
  const int threads_;
};

class DftKind final : public KindOf<DftSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    const DftSpec& s = SpecOf(unit);
    const auto n = static_cast<double>(s.length);
    const double rows = static_cast<double>(s.outer * s.inner);
    return WorkPrice(unit, parser, machine,
                     {rows * n * (4 + 2 * std::log2(n + 1)) / machine.compute});
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    auto loop = std::make_unique<DftLoop>(SpecOf(u), b->machine().threads);
    b->NeedWorkspace(static_cast<uint64_t>(loop->room_floats()) * sizeof(float) *
                     static_cast<uint64_t>(loop->threads()));
    b->AddPlain(u, "dft", std::move(loop), {b->GetDense(u.in[0]).place, b->Workspace()});
  }
};

const DftKind kDftKind;
}  // namespace

GE_NATIVE_KINDS(dft, &kDftKind)

}  // namespace ge_engines::cpu::native
