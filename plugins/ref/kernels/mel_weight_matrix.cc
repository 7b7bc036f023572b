#include <cstring>

#include "plugins/ref/checks.h"

namespace ref {
namespace {

// The corners of the triangles as rows of the matrix. Corner i of bands + 2 lies (i / (bands + 2))
// of the way between the edges on the mel scale.
struct MelScale {
  double low, step;  // mel
  double bins_per_hertz;
  int64_t Corner(int64_t i) const {
    const double mel = low + step * static_cast<double>(i);
    const double hertz = 700 * (std::pow(10, mel / 2595) - 1);
    return static_cast<int64_t>(std::floor(hertz * bins_per_hertz));
  }
};

double MelOf(double hertz) { return 2595 * std::log10(1 + hertz / 700); }

template <class T>
ge_rc RunMel(const Call& c) {
  const Tensor y = c.out(0);
  const int64_t bands = IntAt(c.in(0), 0), length = IntAt(c.in(1), 0), rate = IntAt(c.in(2), 0);
  const double low = FloatAt(c.in(3), 0), high = FloatAt(c.in(4), 0);
  if (bands != y.dims[1] || length < 1 || length / 2 + 1 != y.dims[0]) {
    return c.Fail(GE_INVALID_ARGUMENT, "num_mel_bins and dft_length are not those of the shape");
  }
  // Above twice the rate no corner can lie in the matrix; the limit keeps corners inside int64.
  if (rate < 1 || !(low >= 0 && low <= high && high <= 2.0 * static_cast<double>(rate))) {
    return c.Fail(GE_INVALID_ARGUMENT,
                  "edges %g and %g Hz at %lld samples a second, 0 <= lower <= upper within the "
                  "spectrum is wanted",
                  low, high, static_cast<long long>(rate));
  }
  if (y.bytes != 0) std::memset(y.data, 0, y.bytes);
  const MelScale scale{MelOf(low), (MelOf(high) - MelOf(low)) / static_cast<double>(bands + 2),
                       static_cast<double>(length + 1) / static_cast<double>(rate)};
  T* to = y.as<T>();
  for (int64_t i = 0; i < bands; ++i) {
    const int64_t left = scale.Corner(i), top = scale.Corner(i + 1), right = scale.Corner(i + 2);
    if (left < 0 || top >= y.dims[0] || right > y.dims[0]) {
      return c.Fail(GE_INVALID_ARGUMENT, "band %lld ends at row %lld, at most %lld is wanted",
                    static_cast<long long>(i), static_cast<long long>(right),
                    static_cast<long long>(y.dims[0]));
    }
    const double rise = static_cast<double>(top - left), fall = static_cast<double>(right - top);
    for (int64_t j = left; j <= top; ++j) {
      to[j * bands + i] = Narrow<T>(rise == 0 ? 1.0 : static_cast<double>(j - left) / rise);
    }
    for (int64_t j = top; j < right; ++j) {
      to[j * bands + i] = Narrow<T>(static_cast<double>(right - j) / fall);
    }
  }
  return GE_OK;
}

std::unique_ptr<Prepared> PrepareMel(const NodeView& n, Why* why) {
  if (!NeedPorts(n, 5, 5, why)) return nullptr;
  for (uint32_t i = 0; i < 5; ++i) {
    const TensorType t = n.in(i);
    if (t.count != 1) return why->Say(GE_WHY_SHAPE, "input %u is no scalar", i), nullptr;
    const bool fits = i < 3 ? IsIndexDType(t.dtype) : IsFloatDType(t.dtype);
    if (!fits) return NoDType(t, why), nullptr;
  }
  if (n.out(0).rank != 2) return why->Say(GE_WHY_SHAPE, "the output is no matrix"), nullptr;
  std::unique_ptr<Prepared> made;
  if (!VisitNumber(n.out(0).dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        made = Make([](const Call& c) { return RunMel<T>(c); });
        made->const_align = 1;
      })) {
    NoDType(n.out(0), why);
  }
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(mel_weight_matrix, "MelWeightMatrix", PrepareMel)
