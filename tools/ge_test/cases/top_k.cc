#include "tools/ge_test/random/selections.h"

namespace ge::test {
namespace {

void TopKCase(CaseMaker& m) {
  const Dims dims = m.Shape(1, 4);
  const auto rank = static_cast<int64_t>(dims.size());
  const bool named = m.r.Chance(0.8);
  const int64_t axis = named ? m.r.Int(0, rank - 1) : rank - 1;
  AddWithTies(m, dims);
  const int64_t k = m.r.Int(0, dims[static_cast<size_t>(axis)]);
  m.AddConstant(m.Ints(DType::kInt64, {1}, {k}));
  if (named) m.Set("axis", m.Axis(axis, rank));
  if (m.r.Chance(0.6)) m.Set("largest", m.r.Int(0, 1));
  if (m.r.Chance(0.3)) m.Set("sorted", int64_t{1});
  m.c.outputs = 2;
}

// Output 0: every time the best of those that are left.
bool PlainTopK(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  const size_t axis = AxisOf(c, -1);
  const bool largest = IntOr(c, "largest", 1) != 0;
  Dims shape = x.dims, kept = x.dims;
  shape[axis] = ElementAsInt(*c.inputs[1].tensor, 0);
  kept[axis] = 1;
  if (shape != out->dims) return false;
  Index at(kept);
  int64_t rows = out->count() == 0 ? 0 : out->count() / shape[axis];
  for (; rows > 0; --rows, at.Next()) {
    std::vector<bool> used(static_cast<size_t>(x.dims[axis]));
    for (int64_t k = 0; k < shape[axis]; ++k) {
      Dims from = at.at, best = at.at, to = at.at;
      double value = 0;
      best[axis] = -1;
      for (int64_t i = 0; i < x.dims[axis]; ++i) {
        from[axis] = i;
        const double v = ElementAsDouble(x, Flat(x.dims, from));
        if (used[static_cast<size_t>(i)]) continue;
        if (best[axis] < 0 || (largest ? v > value : v < value)) {
          best[axis] = i;
          value = v;
        }
      }
      used[static_cast<size_t>(best[axis])] = true;
      to[axis] = k;
      Copy(x, Flat(x.dims, best), out, Flat(out->dims, to));
    }
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(top_k) = {"TopK", TopKCase, 0, Error::kOfElement, PlainTopK};

}  // namespace ge::test
