#include "plugins/ref/kernels/copy.h"

namespace ref {
namespace {

// A number as an index: cut to an integer; what int64 cannot hold is INT64_MIN, outside any axis.
template <class T>
int64_t NumberAt(const void* p, int64_t i) {
  const T v = Load(static_cast<const T*>(p), i);
  if constexpr (std::is_same_v<T, uint64_t>) {
    if (v > static_cast<uint64_t>(INT64_MAX)) return INT64_MIN;
  }
  return Narrow<int64_t>(Widen(v));
}

using NumberFn = int64_t (*)(const void* p, int64_t i);

NumberFn NumberOf(int32_t dtype) {
  NumberFn f = nullptr;
  VisitNumber(dtype, [&](auto tag) { f = NumberAt<typename decltype(tag)::type>; });
  return f;
}

struct OneHotPlan {
  NumberFn index, depth;
  int64_t outer, dim, inner, size;  // size: bytes of an element
};

ge_rc RunOneHot(const OneHotPlan& p, const Call& c) {
  const int64_t asked = p.depth(c.in(1).data, 0);
  if (asked != p.dim) {
    return c.Fail(GE_INVALID_ARGUMENT, "depth is %lld, the plan holds %lld",
                  static_cast<long long>(asked), static_cast<long long>(p.dim));
  }
  const Tensor y = c.out(0), index = c.in(0);
  const char* values = c.in(2).as<char>();
  const auto size = static_cast<size_t>(p.size);
  char* to = y.as<char>();
  for (int64_t i = 0; i < y.count; ++i) std::memcpy(to + i * p.size, values, size);
  for (int64_t i = 0; i < index.count; ++i) {
    int64_t k = p.index(index.data, i);
    if (k < -p.dim || k >= p.dim) continue;
    if (k < 0) k += p.dim;
    const int64_t at = (i / p.inner * p.dim + k) * p.inner + i % p.inner;
    std::memcpy(to + at * p.size, values + p.size, size);
  }
  return GE_OK;
}

std::unique_ptr<Prepared> PrepareOneHot(const NodeView& n, Why* why) {
  if (!NeedPorts(n, 3, 3, why) || !NeedSameDType(n.in(2), n.out(0), why)) return nullptr;
  const TensorType index = n.in(0), y = n.out(0);
  OneHotPlan p = {};
  p.index = NumberOf(index.dtype);
  p.depth = NumberOf(n.in(1).dtype);
  p.size = ElementBytes(y.dtype);
  if (p.index == nullptr) return NoDType(index, why), nullptr;
  if (p.depth == nullptr) return NoDType(n.in(1), why), nullptr;
  if (p.size == 0) return NoDType(y, why), nullptr;
  if (n.in(1).count != 1 || n.in(2).count != 2 || y.rank != index.rank + 1) {
    return why->Say(GE_WHY_SHAPE, "one depth, two values and one more axis are wanted"), nullptr;
  }
  const int64_t axis = NormalAxis(n.Int("axis"), y.rank);
  if (axis < 0) return why->Say(GE_WHY_ATTRIBUTE, "axis is out of range"), nullptr;
  for (int d = 0; d < index.rank; ++d) {
    if (y.dims[d < axis ? d : d + 1] != index.dims[d]) {
      return why->Say(GE_WHY_SHAPE, "output dim %d is not what the operator gives", d), nullptr;
    }
  }
  p.outer = PartCount(y.shape(), 0, static_cast<size_t>(axis));
  p.dim = y.dims[axis];
  p.inner = PartCount(y.shape(), static_cast<size_t>(axis) + 1, static_cast<size_t>(y.rank));
  auto made = Make([p](const Call& c) { return RunOneHot(p, c); });
  made->const_align = 1;
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(one_hot, "OneHot", PrepareOneHot)
