#include "plugins/ref/kernels/scatter.h"

namespace ref {
namespace {

// Updates are taken in row-major order: where indices repeat, the last one stays.
std::unique_ptr<Prepared> PrepareScatterElements(const NodeView& n, Why* why) {
  if (!NeedPorts(n, 3, 3, why) || !NeedSameDType(n.in(0), n.out(0), why) ||
      !NeedSameDType(n.in(0), n.in(2), why) || !NeedSameDims(n.in(0), n.out(0), why)) {
    return nullptr;
  }
  const TensorType x = n.in(0), index = n.in(1);
  const int64_t axis = NormalAxis(n.Int("axis"), x.rank);
  if (!NeedElementIndices(x, index, axis, why)) return nullptr;
  if (!SameDims(index.shape(), n.in(2).shape())) {
    return why->Say(GE_WHY_SHAPE, "indices and updates differ in shape"), nullptr;
  }
  const PutRun put = PickPut(n, x.dtype, why);
  if (put == nullptr) return nullptr;
  const int64_t size = ElementBytes(x.dtype);
  auto made = Make([axis, size, put](const Call& c) {
    const char* from = c.in(2).as<char>();
    char* to = c.out(0).as<char>();
    CopyAll(c.in(0), c.out(0));
    return ForEachIndexed(c, axis,
                          [=](int64_t i, int64_t at) { put(to + at * size, from + i * size, 1); });
  });
  made->const_align = 1;
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(scatter_elements, "ScatterElements", PrepareScatterElements)
