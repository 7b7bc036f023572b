#include "plugins/ref/kernels/scatter.h"

namespace ref {
namespace {

std::unique_ptr<Prepared> PrepareGatherElements(const NodeView& n, Why* why) {
  if (!NeedPorts(n, 2, 2, why) || !NeedSameDType(n.in(0), n.out(0), why)) return nullptr;
  const TensorType x = n.in(0), index = n.in(1);
  const int64_t size = ElementBytes(x.dtype);
  if (size == 0) return NoDType(x, why), nullptr;
  const int64_t axis = NormalAxis(n.Int("axis"), x.rank);
  if (!NeedElementIndices(x, index, axis, why) || !NeedOutDims(n, index.shape(), why)) {
    return nullptr;
  }
  auto made = Make([axis, size](const Call& c) {
    const char* from = c.in(0).as<char>();
    char* to = c.out(0).as<char>();
    return ForEachIndexed(c, axis, [=](int64_t i, int64_t at) {
      std::memcpy(to + i * size, from + at * size, static_cast<size_t>(size));
    });
  });
  made->const_align = 1;
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(gather_elements, "GatherElements", PrepareGatherElements)
