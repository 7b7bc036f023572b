#include <algorithm>

#include "plugins/ref/kernels/along.h"

namespace ref {
namespace {

// Order of the result: better elements first, of equal ones the lower place. NaN counts as greater
// than any number.
template <class T>
struct TopKOrder {
  const T* row;
  int64_t step;
  bool largest;
  bool operator()(int64_t i, int64_t j) const {
    Spend(1);
    const auto a = Widen(row[i * step]), b = Widen(row[j * step]);
    const bool a_nan = a != a, b_nan = b != b;
    if (a_nan != b_nan) return a_nan == largest;
    if (a_nan || a == b) return i < j;
    return (a > b) == largest;
  }
};

// One row's places stand in the workspace. The result is sorted even where it need not be.
template <class T>
ge_rc RunTopK(const Along& a, int64_t taken, bool largest, const Call& c) {
  const int64_t asked = IntAt(c.in(1), 0);
  if (asked != taken) {
    return c.Fail(GE_INVALID_ARGUMENT, "K is %lld, the plan holds %lld",
                  static_cast<long long>(asked), static_cast<long long>(taken));
  }
  const T* x = c.in(0).as<T>();
  T* values = c.has_out(0) ? c.out(0).as<T>() : nullptr;
  int64_t* places = c.has_out(1) ? c.out(1).as<int64_t>() : nullptr;
  int64_t* order = static_cast<int64_t*>(c.workspace());
  if (taken == 0) return GE_OK;
  for (int64_t o = 0; o < a.outer; ++o) {
    for (int64_t i = 0; i < a.inner; ++i) {
      const T* row = x + o * a.dim * a.inner + i;
      for (int64_t k = 0; k < a.dim; ++k) order[k] = k;
      std::partial_sort(order, order + taken, order + a.dim, TopKOrder<T>{row, a.inner, largest});
      for (int64_t k = 0; k < taken; ++k) {
        const int64_t to = (o * taken + k) * a.inner + i;
        if (values != nullptr) values[to] = row[order[k] * a.inner];
        if (places != nullptr) places[to] = order[k];
      }
    }
  }
  return GE_OK;
}

std::unique_ptr<Prepared> PrepareTopK(const NodeView& n, Why* why) {
  if (n.n_in() != 2 || !n.has_in(0) || !n.has_in(1) || n.n_out() == 0) {
    return why->Say(GE_WHY_OP, "the inputs X and K are wanted"), nullptr;
  }
  const TensorType x = n.in(0);
  Along a;
  if (x.rank == 0) return why->Say(GE_WHY_SHAPE, "the input is a scalar"), nullptr;
  if (!ReadAlong(x, n.Int("axis"), &a, why)) return nullptr;
  if (n.in(1).dtype != GE_I64) return NoDType(n.in(1), why), nullptr;
  if (n.in(1).count != 1) return why->Say(GE_WHY_SHAPE, "K is not one element"), nullptr;
  int64_t taken = -1;
  for (uint32_t i = 0; i < n.n_out() && i < 2; ++i) {
    if (!n.has_out(i)) continue;
    const TensorType y = n.out(i);
    bool fits = y.rank == x.rank && y.dtype == (i == 0 ? x.dtype : static_cast<int32_t>(GE_I64));
    for (int d = 0; fits && d < x.rank; ++d) {
      fits = d == a.axis ? y.dims[d] <= a.dim && (taken < 0 || taken == y.dims[d])
                         : y.dims[d] == x.dims[d];
    }
    if (!fits) return why->Say(GE_WHY_SHAPE, "output %u does not fit the input", i), nullptr;
    taken = y.dims[a.axis];
  }
  if (taken < 0) return why->Say(GE_WHY_OP, "both outputs are omitted"), nullptr;
  const bool largest = n.Int("largest") != 0;
  std::unique_ptr<Prepared> made;
  if (!VisitNumber(x.dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        made = Make([=](const Call& c) { return RunTopK<T>(a, taken, largest, c); });
        made->workspace = static_cast<uint64_t>(a.dim) * sizeof(int64_t);
      })) {
    NoDType(x, why);
  }
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(top_k, "TopK", PrepareTopK)
