#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/layers.h"

namespace ge::test {
namespace {

void DftCase(CaseMaker& m) {
  Dims dims = m.Shape(1, 3, false);
  const auto rank = static_cast<int64_t>(dims.size()) + 1;
  const int64_t axis = m.r.Chance(0.5) ? rank - 2 : m.r.Int(0, rank - 2);
  const bool inverse = m.r.Chance(0.4), onesided = m.r.Chance(0.4);
  // The default length of the inverse of a half spectrum is 0 for a single element.
  if (inverse && onesided) ++dims[static_cast<size_t>(axis)];
  dims.push_back(onesided ? (inverse ? 2 : 1) : m.r.Int(1, 2));
  if (rank > 2 && axis != 0 && m.r.Chance(0.08)) dims[0] = 0;
  m.Add(Signal(m, dims));
  const bool length = m.r.Chance(0.5), where = axis != rank - 2 || m.r.Chance(0.3);
  if (length) {
    m.AddConstant(m.Ints(m.r.Chance(0.5) ? DType::kInt64 : DType::kInt32, {}, {m.r.Int(1, 8)}));
  } else if (where) {
    m.AddAbsent();
  }
  if (where) m.AddConstant(m.Ints(DType::kInt64, {}, {m.Axis(axis, rank)}));
  if (inverse || m.r.Chance(0.3)) m.Set("inverse", int64_t{inverse});
  if (onesided || m.r.Chance(0.3)) m.Set("onesided", int64_t{onesided});
}

// Part `part` of the spectrum (or signal) at place `k`, of the row that `at` names.
double PlainDftElement(const HostTensor& x, Dims at, size_t axis, int64_t n, bool inverse,
                       bool onesided) {
  const int64_t k = at[axis], part = at.back(), size = x.dims[axis];
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    const bool mirrored = inverse && onesided && i > n / 2;
    at[axis] = mirrored ? n - i : i;
    if (at[axis] >= size) continue;
    at.back() = 0;
    const double re = ElementAsDouble(x, Flat(x.dims, at));
    at.back() = 1;
    double im = x.dims.back() == 2 ? ElementAsDouble(x, Flat(x.dims, at)) : 0;
    if (mirrored) im = -im;
    const double t =
        (inverse ? 2 : -2) * M_PI * static_cast<double>(i * k) / static_cast<double>(n);
    sum += part == 0 ? re * std::cos(t) - im * std::sin(t) : re * std::sin(t) + im * std::cos(t);
  }
  return inverse ? sum / static_cast<double>(n) : sum;
}

bool PlainDft(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  const auto rank = static_cast<int64_t>(x.dims.size());
  const bool inverse = IntOr(c, "inverse", 0) != 0, onesided = IntOr(c, "onesided", 0) != 0;
  int64_t axis = Maybe(c, 2) != nullptr ? ElementAsInt(*Maybe(c, 2), 0) : rank - 2;
  if (axis < 0) axis += rank;
  const auto a = static_cast<size_t>(axis);
  int64_t n = inverse && onesided ? 2 * x.dims[a] - 2 : x.dims[a];
  if (Maybe(c, 1) != nullptr) n = ElementAsInt(*Maybe(c, 1), 0);
  Dims wanted = x.dims;
  wanted[a] = onesided && !inverse ? n / 2 + 1 : n;
  wanted.back() = onesided && inverse ? 1 : 2;
  if (out->dims != wanted) return false;
  Index at(wanted);
  for (int64_t i = 0, count = out->count(); i < count; ++i, at.Next()) {
    SetElement(out, i, PlainDftElement(x, at.at, a, n, inverse, onesided));
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(dft) = {"DFT", DftCase, 8e-6, Error::kOfTerms, PlainDft};

}  // namespace ge::test
