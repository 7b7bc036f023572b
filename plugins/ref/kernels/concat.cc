#include "plugins/ref/kernels/copy.h"

namespace ref {
namespace {

std::unique_ptr<Prepared> PrepareConcat(const NodeView& n, Why* why) {
  if (!NeedPorts(n, n.n_in() == 0 ? 1 : n.n_in(), UINT32_MAX, why)) return nullptr;
  const TensorType y = n.out(0);
  const int64_t axis = NormalAxis(n.Int("axis"), y.rank);
  if (axis < 0) return why->Say(GE_WHY_ATTRIBUTE, "axis is out of range"), nullptr;
  const int64_t size = ElementBytes(y.dtype);
  if (size == 0) return NoDType(y, why), nullptr;
  int64_t sum = 0;
  for (uint32_t i = 0; i < n.n_in(); ++i) {
    const TensorType x = n.in(i);
    bool same = x.rank == y.rank && x.dtype == y.dtype;
    for (int d = 0; same && d < y.rank; ++d) same = d == axis || x.dims[d] == y.dims[d];
    if (!same) return why->Say(GE_WHY_SHAPE, "input %u does not fit the output", i), nullptr;
    sum += x.dims[axis];
  }
  if (sum != y.dims[axis]) {
    why->Say(GE_WHY_SHAPE, "the inputs do not fill the output's axis");
    return nullptr;
  }
  const int64_t outer = PartCount(y.shape(), 0, axis);
  const int64_t inner = PartCount(y.shape(), axis + 1, y.rank) * size;
  auto made = Make([axis, outer, inner](const Call& c) {
    const Tensor to = c.out(0);
    if (to.bytes == 0) return static_cast<ge_rc>(GE_OK);
    const int64_t row = to.dims[axis] * inner;
    char* at = to.as<char>();
    for (uint32_t i = 0; i < c.n_in(); ++i) {
      const Tensor from = c.in(i);
      const int64_t part = from.dims[axis] * inner;
      for (int64_t o = 0; o < outer && part != 0; ++o) {
        std::memcpy(at + o * row, from.as<char>() + o * part, static_cast<size_t>(part));
      }
      at += part;
    }
    return static_cast<ge_rc>(GE_OK);
  });
  made->const_align = 1;
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(concat, "Concat", PrepareConcat)
