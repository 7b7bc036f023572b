#include "plugins/ref/checks.h"

namespace ref {
namespace {

// x [outer, dim, inner], along dim. In double; the greatest element is taken off first, so that no
// exponential overflows.
template <class T>
ge_rc RunSoftmax(int64_t outer, int64_t dim, int64_t inner, const Call& c) {
  const T* x = c.in(0).as<T>();
  T* y = c.out(0).as<T>();
  for (int64_t o = 0; o < outer; ++o, x += dim * inner, y += dim * inner) {
    for (int64_t i = 0; i < inner; ++i) {
      double most = -std::numeric_limits<double>::infinity(), sum = 0;
      for (int64_t k = 0; k < dim; ++k) most = std::fmax(most, Widen(x[k * inner + i]));
      for (int64_t k = 0; k < dim; ++k) sum += std::exp(Widen(x[k * inner + i]) - most);
      for (int64_t k = 0; k < dim; ++k) {
        y[k * inner + i] = Narrow<T>(std::exp(Widen(x[k * inner + i]) - most) / sum);
      }
    }
  }
  return GE_OK;
}

std::unique_ptr<Prepared> PrepareSoftmax(const NodeView& n, Why* why) {
  if (!NeedPorts(n, 1, 1, why) || !NeedSameDType(n.in(0), n.out(0), why) ||
      !NeedSameDims(n.in(0), n.out(0), why)) {
    return nullptr;
  }
  const TensorType x = n.in(0);
  // A scalar is one element along an axis of its own.
  const int64_t rank = x.rank == 0 ? 1 : x.rank;
  const int64_t axis = NormalAxis(n.Int("axis"), rank);
  if (axis < 0) return why->Say(GE_WHY_ATTRIBUTE, "axis is out of range"), nullptr;
  if (x.count == 0) return Make([](const Call&) { return static_cast<ge_rc>(GE_OK); });
  const int64_t dim = x.rank == 0 ? 1 : x.dims[axis];
  const int64_t outer = PartCount(x.shape(), 0, axis),
                inner = PartCount(x.shape(), axis + 1, x.rank);
  std::unique_ptr<Prepared> made;
  if (!VisitFloat(x.dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        made = Make([=](const Call& c) { return RunSoftmax<T>(outer, dim, inner, c); });
        made->in_place = 1;
      })) {
    NoDType(x, why);
  }
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(softmax, "Softmax", PrepareSoftmax)
