#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/layers.h"

namespace ge::test {
namespace {

// Neighbours among the elements that share their statistics lie a whole step apart, so that the
// deviation is not made of rounding errors.
double StepInGroup(const Dims& dims, const std::vector<int64_t>& axes, const Index& at) {
  const auto rank = static_cast<int64_t>(dims.size());
  int64_t position = 0;
  for (int64_t d = 0; d < rank; ++d) {
    const bool reduced = std::any_of(axes.begin(), axes.end(),
                                     [&](int64_t a) { return (a < 0 ? a + rank : a) == d; });
    if (reduced) position = position * dims[static_cast<size_t>(d)] + at.at[static_cast<size_t>(d)];
  }
  return static_cast<double>(position % 7);
}

void MeanVarianceNormalizationCase(CaseMaker& m) {
  const bool usual = m.r.Chance(0.4);
  Dims dims =
      usual ? Dims{m.r.Int(1, 3), m.r.Int(1, 4), m.r.Int(2, 5), m.r.Int(1, 5)} : m.Shape(1, 4);
  const auto rank = static_cast<int64_t>(dims.size());
  std::vector<int64_t> axes;
  for (int64_t a = 0; a < rank; ++a) {
    if (m.r.Chance(0.6)) axes.push_back(m.Axis(a, rank));
  }
  if (axes.empty()) axes.push_back(m.r.Int(0, rank - 1));
  std::vector<int64_t> reduced = axes;
  if (usual && m.r.Chance(0.5)) {
    reduced = {0, 2, 3};
    axes.clear();
  }
  auto x = Signal(m, dims);
  Index at(dims);
  for (int64_t i = 0, n = x->count(); i < n; ++i, at.Next()) {
    SetElement(x.get(), i, ElementAsDouble(*x, i) / 4 + StepInGroup(dims, reduced, at));
  }
  m.Add(x);
  if (!axes.empty()) m.Set("axes", axes);
}

bool PlainMeanVarianceNormalization(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  if (x.dims != out->dims) return false;
  std::vector<bool> reduced(x.dims.size());
  for (int64_t a : IntsOr(c, "axes", {0, 2, 3})) {
    reduced[static_cast<size_t>(a < 0 ? a + static_cast<int64_t>(x.dims.size()) : a)] = true;
  }
  Index at(x.dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    std::vector<double> same;  // the elements that share the statistics
    Index other(x.dims);
    for (int64_t k = 0; k < n; ++k, other.Next()) {
      bool equal = true;
      for (size_t d = 0; d < reduced.size(); ++d) {
        equal = equal && (reduced[d] || at.at[d] == other.at[d]);
      }
      if (equal) same.push_back(ElementAsDouble(x, k));
    }
    double sum = 0, squares = 0;
    for (double v : same) sum += v;
    const double count = static_cast<double>(same.size()), mean = sum / count;
    for (double v : same) squares += (v - mean) * (v - mean);
    SetElement(out, i, (ElementAsDouble(x, i) - mean) / (std::sqrt(squares / count) + 1e-9));
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(mean_variance_normalization) = {"MeanVarianceNormalization",
                                             MeanVarianceNormalizationCase, 8e-6, Error::kOfInputs,
                                             PlainMeanVarianceNormalization};

}  // namespace ge::test
