#include "plugins/ref/kernels/philox.h"

namespace ref {
namespace {

// Running sums of the classes' weights; the greatest is e^0, so that no sum overflows.
bool SumWeights(const Tensor& x, int64_t row, int64_t classes, double* sums) {
  double most = -std::numeric_limits<double>::infinity(), sum = 0;
  for (int64_t k = 0; k < classes; ++k) most = std::max(most, FloatAt(x, row * classes + k));
  for (int64_t k = 0; k < classes; ++k) {
    sum += std::exp(FloatAt(x, row * classes + k) - most);
    sums[k] = sum;
  }
  return sum > 0 && std::isfinite(sum);
}

template <class T>
ge_rc RunMultinomial(PhiloxKey key, const Call& c) {
  const Tensor x = c.in(0), y = c.out(0);
  const int64_t classes = x.dims[1], samples = y.dims[1];
  double* sums = static_cast<double*>(c.workspace());
  T* to = y.as<T>();
  int64_t row = -1, bad = -1;
  ForEachDraw(key, y.count, false, [&](int64_t i, double v) {
    if (i / samples != row) {
      row = i / samples;
      if (!SumWeights(x, row, classes, sums)) bad = row;
    }
    if (bad >= 0) return;
    const double* end = sums + classes;
    const double* found =
        std::upper_bound(static_cast<const double*>(sums), end, v * sums[classes - 1]);
    // The product may be rounded up to the whole sum: the last class with a weight then.
    if (found == end) found = std::lower_bound(static_cast<const double*>(sums), end, end[-1]);
    to[i] = static_cast<T>(found - sums);
  });
  if (bad < 0) return GE_OK;
  return c.Fail(GE_INVALID_ARGUMENT, "row %lld holds no class with a probability, or NaN",
                static_cast<long long>(bad));
}

std::unique_ptr<Prepared> PrepareMultinomial(const NodeView& n, Why* why) {
  if (!NeedPorts(n, 1, 1, why)) return nullptr;
  const TensorType x = n.in(0), y = n.out(0);
  if (!IsFloatDType(x.dtype)) return NoDType(x, why), nullptr;
  if (!IsIndexDType(y.dtype)) return NoDType(y, why), nullptr;
  if (x.rank != 2 || y.rank != 2 || x.dims[0] != y.dims[0]) {
    return why->Say(GE_WHY_SHAPE, "input and output are not [batch, ...]"), nullptr;
  }
  const PhiloxKey key = KeyOf(n);
  std::unique_ptr<Prepared> made;
  if (y.dtype == GE_I32) {
    made = Make([key](const Call& c) { return RunMultinomial<int32_t>(key, c); });
  } else {
    made = Make([key](const Call& c) { return RunMultinomial<int64_t>(key, c); });
  }
  made->workspace = static_cast<uint64_t>(x.dims[1]) * sizeof(double);
  made->const_align = 1;
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(multinomial, "Multinomial", PrepareMultinomial)
