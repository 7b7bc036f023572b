#include "plugins/ref/kernels/copy.h"

namespace ref {
namespace {

// The nest holds two dims for each axis: which repeat, and where in it.
ge_rc RunTile(const LoopNest<2>& nest, const Call& c) {
  const Tensor x = c.in(0), y = c.out(0), repeats = c.in(1);
  for (int d = 0; d < x.rank; ++d) {
    const int64_t times = IntAt(repeats, d);
    const bool fits = x.dims[d] == 0 ? y.dims[d] == 0 && times >= 0
                                     : y.dims[d] % x.dims[d] == 0 && times == y.dims[d] / x.dims[d];
    if (!fits) {
      return c.Fail(GE_INVALID_ARGUMENT, "repeats[%d] is %lld, the plan has %lld elements of %lld",
                    d, static_cast<long long>(times), static_cast<long long>(y.dims[d]),
                    static_cast<long long>(x.dims[d]));
    }
  }
  CopyElements(nest, y, x);
  return GE_OK;
}

std::unique_ptr<Prepared> PrepareTile(const NodeView& n, Why* why) {
  if (!NeedPorts(n, 2, 2, why) || !NeedSameDType(n.in(0), n.out(0), why)) return nullptr;
  const TensorType x = n.in(0), y = n.out(0);
  if (ElementBytes(x.dtype) == 0) return NoDType(x, why), nullptr;
  if (n.in(1).dtype != GE_I64) return NoDType(n.in(1), why), nullptr;
  if (x.rank != y.rank || n.in(1).count != x.rank || 2 * x.rank > kMaxRank) {
    return why->Say(GE_WHY_SHAPE, "ranks %d and %d with %lld repeats", x.rank, y.rank,
                    static_cast<long long>(n.in(1).count)),
           nullptr;
  }
  int64_t in_stride[kMaxRank], out_stride[kMaxRank];
  DenseStrides(x.shape(), in_stride);
  DenseStrides(y.shape(), out_stride);
  LoopNest<2> nest;
  for (int d = 0; d < x.rank; ++d) {
    const int64_t times = x.dims[d] == 0 ? 0 : y.dims[d] / x.dims[d];
    nest.Add(times, {out_stride[d] * x.dims[d], 0});
    nest.Add(x.dims[d], {out_stride[d], in_stride[d]});
  }
  auto made = Make([nest](const Call& c) { return RunTile(nest, c); });
  made->const_align = 1;
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(tile, "Tile", PrepareTile)
