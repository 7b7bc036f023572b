#include "plugins/ref/kernels/copy.h"

namespace ref {
namespace {

// x [outer, dim, inner], indices [m] -> y [outer, m, inner].
ge_rc RunGather(const Call& c, int64_t axis, int64_t outer, int64_t inner) {
  const Tensor x = c.in(0), index = c.in(1), y = c.out(0);
  const int64_t dim = x.dims[axis];
  // All indices are looked at first, so that a wrong one is an error even if nothing is copied.
  for (int64_t k = 0; k < index.count; ++k) {
    const int64_t i = IntAt(index, k);
    if (i < -dim || i >= dim) {
      return c.Fail(GE_INVALID_ARGUMENT,
                    "indices[%lld] is %lld, axis %lld takes [%lld, %lld); give indices inside it",
                    static_cast<long long>(k), static_cast<long long>(i),
                    static_cast<long long>(axis), static_cast<long long>(-dim),
                    static_cast<long long>(dim));
    }
  }
  if (y.bytes == 0) return GE_OK;
  char* to = y.as<char>();
  for (int64_t o = 0; o < outer; ++o) {
    const char* from = x.as<char>() + o * dim * inner;
    for (int64_t k = 0; k < index.count; ++k, to += inner) {
      const int64_t i = IntAt(index, k);
      std::memcpy(to, from + (i < 0 ? i + dim : i) * inner, static_cast<size_t>(inner));
    }
  }
  return GE_OK;
}

std::unique_ptr<Prepared> PrepareGather(const NodeView& n, Why* why) {
  if (!NeedPorts(n, 2, 2, why) || !NeedSameDType(n.in(0), n.out(0), why)) return nullptr;
  const TensorType x = n.in(0), index = n.in(1), y = n.out(0);
  if (!IsIndexDType(index.dtype)) return NoDType(index, why), nullptr;
  const int64_t size = ElementBytes(x.dtype);
  if (size == 0) return NoDType(x, why), nullptr;
  const int64_t axis = NormalAxis(n.Int("axis"), x.rank);
  if (axis < 0) return why->Say(GE_WHY_ATTRIBUTE, "axis is out of range"), nullptr;
  if (x.rank - 1 + index.rank != y.rank) {
    return why->Say(GE_WHY_SHAPE, "the output's rank is not rank(data) - 1 + rank(indices)"),
           nullptr;
  }
  for (int d = 0; d < y.rank; ++d) {
    const int64_t want = d < axis                ? x.dims[d]
                         : d < axis + index.rank ? index.dims[d - axis]
                                                 : x.dims[d - index.rank + 1];
    if (y.dims[d] != want) {
      return why->Say(GE_WHY_SHAPE, "output dim %d is not what the operator gives", d), nullptr;
    }
  }
  const int64_t outer = PartCount(x.shape(), 0, axis);
  const int64_t inner = PartCount(x.shape(), axis + 1, x.rank) * size;
  auto made = Make([=](const Call& c) { return RunGather(c, axis, outer, inner); });
  made->const_align = 1;
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(gather, "Gather", PrepareGather)
