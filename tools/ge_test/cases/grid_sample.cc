#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/layers.h"

namespace ge::test {
namespace {

// Grids of odd 64ths and sizes that are powers of two or one more: places are exact in f32, and
// none is halfway between elements.
void GridSampleCase(CaseMaker& m) {
  const bool corners = m.r.Chance(0.5);
  const int64_t axes = m.r.Pick(std::vector<int64_t>{1, 2, 2, 2, 3});
  // Interpolated integers are cut, which a rounding error may decide.
  const std::string mode = IsFloat(m.dtype())
                               ? m.r.Pick(std::vector<std::string>{"nearest", "linear", "cubic"})
                               : "nearest";
  Dims dims = {m.r.Chance(0.05) ? 0 : m.r.Int(1, 2), m.r.Int(1, 3)}, grid = {dims[0]};
  for (int64_t i = 0; i < axes; ++i) {
    dims.push_back(
        m.r.Pick(corners ? std::vector<int64_t>{1, 2, 3, 5} : std::vector<int64_t>{1, 2, 4, 8}));
    grid.push_back(m.r.Int(1, 3));
  }
  grid.push_back(axes);
  m.Add(Signal(m, dims));
  int64_t count = 1;
  for (int64_t d : grid) count *= d;
  std::vector<double> v;
  for (int64_t i = 0; i < count; ++i) {
    v.push_back(static_cast<double>(2 * m.r.Int(-64, 63) + 1) / 64);
  }
  m.Add(m.Floats(DType::kFloat, grid, v));
  if (mode != "linear" || m.r.Chance(0.5)) m.Set("mode", mode);
  if (m.r.Chance(0.7)) {
    m.Set("padding_mode", m.r.Pick(std::vector<std::string>{"zeros", "border", "reflection"}));
  }
  if (corners) m.Set("align_corners", int64_t{1});
}

double PlainGridFold(double x, double lo, double hi) {
  if (lo == hi) return lo;
  while (x < lo || x > hi) x = x < lo ? 2 * lo - x : 2 * hi - x;
  return x;
}

double PlainGridWeight(const std::string& mode, double distance) {
  const double d = std::fabs(distance), a = -0.75;
  if (mode == "nearest") return d < 0.5 ? 1 : 0;
  if (mode == "linear") return std::max(0.0, 1 - d);
  if (d <= 1) return (a + 2) * d * d * d - (a + 3) * d * d + 1;
  return d < 2 ? a * (d * d * d - 5 * d * d + 8 * d - 4) : 0;
}

struct PlainGridAxis {
  double place;
  int64_t size;
};

// Weight of every element of one axis.
std::vector<double> PlainGridWeights(const RandomCase& c, const PlainGridAxis& axis) {
  const Attr *m = FindAttr(c, "mode"), *p = FindAttr(c, "padding_mode");
  const std::string mode = m ? std::get<std::string>(m->value) : "linear";
  const std::string pad = p ? std::get<std::string>(p->value) : "zeros";
  const bool corners = IntOr(c, "align_corners", 0) != 0;
  const double size = static_cast<double>(axis.size);
  const double lo = corners ? 0 : -0.5, hi = corners ? size - 1 : size - 0.5;
  double x = corners ? (axis.place + 1) * (size - 1) / 2 : ((axis.place + 1) * size - 1) / 2;
  if (mode == "nearest") x = std::nearbyint(x);
  if (pad == "border" && (x < lo || x > hi)) x = std::clamp(x, 0.0, size - 1);
  if (pad == "reflection") x = PlainGridFold(x, lo, hi);
  std::vector<double> weights(static_cast<size_t>(axis.size), 0);
  const auto base = static_cast<int64_t>(std::floor(x));
  for (int64_t i = base - 2; i <= base + 3; ++i) {
    int64_t at = i;
    if (pad == "border") at = std::clamp<int64_t>(i, 0, axis.size - 1);
    if (pad == "reflection") {
      at = static_cast<int64_t>(PlainGridFold(static_cast<double>(i), lo, hi));
    }
    if (at < 0 || at >= axis.size) continue;
    weights[static_cast<size_t>(at)] += PlainGridWeight(mode, x - static_cast<double>(i));
  }
  return weights;
}

bool PlainGridSample(const RandomCase& c, HostTensor* out) {
  const HostTensor &x = *c.inputs[0].tensor, &grid = *c.inputs[1].tensor;
  const size_t axes = x.dims.size() - 2;
  Dims wanted = {x.dims[0], x.dims[1]};
  wanted.insert(wanted.end(), grid.dims.begin() + 1, grid.dims.end() - 1);
  if (out->dims != wanted) return false;
  const Dims size(x.dims.begin() + 2, x.dims.end());
  int64_t area = 1;
  for (int64_t d : size) area *= d;
  Index at(out->dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    std::vector<std::vector<double>> weights;
    for (size_t d = 0; d < axes; ++d) {
      Dims where = {at.at[0]};
      where.insert(where.end(), at.at.begin() + 2, at.at.end());
      where.push_back(static_cast<int64_t>(axes - 1 - d));
      const double place = ElementAsDouble(grid, Flat(grid.dims, where));
      weights.push_back(PlainGridWeights(c, {place, size[d]}));
    }
    double sum = 0;
    Index from(size);
    for (int64_t k = 0; k < area; ++k, from.Next()) {
      double weight = 1;
      for (size_t d = 0; d < axes; ++d) weight *= weights[d][static_cast<size_t>(from.at[d])];
      sum += weight * ElementAsDouble(x, (at.at[0] * x.dims[1] + at.at[1]) * area + k);
    }
    SetElement(out, i, sum);
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(grid_sample) = {"GridSample", GridSampleCase, 4e-6, Error::kOfTerms, PlainGridSample};

}  // namespace ge::test
