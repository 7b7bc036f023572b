#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/layers.h"

namespace ge::test {
namespace {

void AffineGridCase(CaseMaker& m) {
  const int64_t axes = m.r.Int(2, 3), batch = m.r.Chance(0.08) ? 0 : m.r.Int(1, 3);
  m.Add(Signal(m, {batch, axes, axes + 1}));
  const bool corners = m.r.Chance(0.5);
  std::vector<int64_t> size = {batch, m.r.Int(1, 3)};
  for (int64_t i = 0; i < axes; ++i) size.push_back(m.r.Int(corners ? 2 : 1, 5));
  m.AddConstant(m.Ints(DType::kInt64, {axes + 2}, size));
  if (corners) m.Set("align_corners", int64_t{1});
}

bool PlainAffineGrid(const RandomCase& c, HostTensor* out) {
  const HostTensor& theta = *c.inputs[0].tensor;
  const Dims size = Values(*c.inputs[1].tensor);
  const auto axes = static_cast<int64_t>(size.size()) - 2;
  Dims wanted = {size[0]};
  wanted.insert(wanted.end(), size.begin() + 2, size.end());
  wanted.push_back(axes);
  if (out->dims != wanted) return false;
  const bool corners = IntOr(c, "align_corners", 0) != 0;
  Index at(out->dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    const int64_t row = (at.at[0] * axes + at.at.back()) * (axes + 1);
    double sum = ElementAsDouble(theta, row + axes);
    for (int64_t k = 0; k < axes; ++k) {
      const auto d = static_cast<size_t>(axes - k);  // x is the last axis of space
      const double step = 2.0 / static_cast<double>(corners ? out->dims[d] - 1 : out->dims[d]);
      const double place = -1 + step * (static_cast<double>(at.at[d]) + (corners ? 0 : 0.5));
      sum += ElementAsDouble(theta, row + k) * place;
    }
    SetElement(out, i, sum);
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(affine_grid) = {"AffineGrid", AffineGridCase, 4e-6, Error::kOfTerms, PlainAffineGrid};

}  // namespace ge::test
