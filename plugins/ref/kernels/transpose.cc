#include "plugins/ref/kernels/copy.h"

namespace ref {
namespace {

std::unique_ptr<Prepared> PrepareTranspose(const NodeView& n, Why* why) {
  if (!NeedPorts(n, 1, 1, why) || !NeedSameDType(n.in(0), n.out(0), why)) return nullptr;
  const TensorType x = n.in(0), y = n.out(0);
  const Ints perm = n.List("perm");
  if ((!perm.empty() && perm.size() != static_cast<size_t>(x.rank)) || y.rank != x.rank) {
    why->Say(GE_WHY_ATTRIBUTE, "perm has %zu entries for rank %d", perm.size(), x.rank);
    return nullptr;
  }
  int64_t in_stride[kMaxRank], out_stride[kMaxRank];
  DenseStrides(x.shape(), in_stride);
  DenseStrides(y.shape(), out_stride);
  LoopNest<2> nest;
  uint32_t seen = 0;
  for (int d = 0; d < x.rank; ++d) {
    const int64_t from = perm.empty() ? x.rank - 1 - d : perm[d];
    if (from < 0 || from >= x.rank || (seen >> from & 1u) != 0 || y.dims[d] != x.dims[from]) {
      why->Say(GE_WHY_ATTRIBUTE, "perm is no permutation that gives the output's shape");
      return nullptr;
    }
    seen |= 1u << from;
    nest.Add(y.dims[d], {out_stride[d], in_stride[from]});
  }
  auto made = Make([nest](const Call& c) {
    const Tensor to = c.out(0);
    if (ElementBytes(to.dtype) == 0) std::memset(to.data, 0, to.bytes);
    CopyElements(nest, to, c.in(0));
    return static_cast<ge_rc>(GE_OK);
  });
  made->const_align = 1;
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(transpose, "Transpose", PrepareTranspose)
