#include "plugins/ref/kernels/copy.h"

namespace ref {
namespace {

std::unique_ptr<Prepared> PrepareExpand(const NodeView& n, Why* why) {
  if (!NeedPorts(n, 2, 2, why) || !NeedSameDType(n.in(0), n.out(0), why)) return nullptr;
  if (ElementBytes(n.in(0).dtype) == 0) return NoDType(n.in(0), why), nullptr;
  const TensorType x = n.in(0), y = n.out(0);
  int64_t in_stride[kMaxRank], out_stride[kMaxRank];
  DenseStrides(y.shape(), out_stride);
  if (!BroadcastStrides(x.shape(), y.shape(), in_stride)) {
    why->Say(GE_WHY_SHAPE, "the input does not broadcast to the output's shape");
    return nullptr;
  }
  LoopNest<2> nest;
  for (int d = 0; d < y.rank; ++d) nest.Add(y.dims[d], {out_stride[d], in_stride[d]});
  auto made = Make([nest](const Call& c) {
    CopyElements(nest, c.out(0), c.in(0));
    return static_cast<ge_rc>(GE_OK);
  });
  made->const_align = 1;
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(expand, "Expand", PrepareExpand)
