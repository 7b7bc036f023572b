#include "plugins/ref/kernels/copy.h"

namespace ref {
namespace {

// The parts' sizes are those of the output types, which the host inferred from `split` or
// `num_outputs`.
std::unique_ptr<Prepared> PrepareSplit(const NodeView& n, Why* why) {
  if (n.n_in() > 2 || !n.has_in(0)) return why->Say(GE_WHY_OP, "1 or 2 inputs wanted"), nullptr;
  const TensorType x = n.in(0);
  const int64_t axis = NormalAxis(n.Int("axis"), x.rank);
  if (axis < 0) return why->Say(GE_WHY_ATTRIBUTE, "axis is out of range"), nullptr;
  const int64_t size = ElementBytes(x.dtype);
  if (size == 0) return NoDType(x, why), nullptr;
  int64_t sum = 0;
  for (uint32_t i = 0; i < n.n_out(); ++i) {
    if (!n.has_out(i)) return why->Say(GE_WHY_OP, "output %u is omitted", i), nullptr;
    const TensorType y = n.out(i);
    bool same = x.rank == y.rank && x.dtype == y.dtype;
    for (int d = 0; same && d < x.rank; ++d) same = d == axis || x.dims[d] == y.dims[d];
    if (!same) return why->Say(GE_WHY_SHAPE, "output %u does not fit the input", i), nullptr;
    sum += y.dims[axis];
  }
  if (sum != x.dims[axis]) {
    why->Say(GE_WHY_SHAPE, "the outputs do not use up the input's axis");
    return nullptr;
  }
  const int64_t outer = PartCount(x.shape(), 0, axis);
  const int64_t inner = PartCount(x.shape(), axis + 1, x.rank) * size;
  auto made = Make([axis, outer, inner](const Call& c) {
    const Tensor from = c.in(0);
    if (from.bytes == 0) return static_cast<ge_rc>(GE_OK);
    const int64_t row = from.dims[axis] * inner;
    const char* at = from.as<char>();
    for (uint32_t i = 0; i < c.n_out(); ++i) {
      const Tensor to = c.out(i);
      const int64_t part = to.dims[axis] * inner;
      for (int64_t o = 0; o < outer && part != 0; ++o) {
        std::memcpy(to.as<char>() + o * part, at + o * row, static_cast<size_t>(part));
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
GE_REF_KERNEL(split, "Split", PrepareSplit)
