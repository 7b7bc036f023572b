#include <algorithm>

#include "plugins/ref/kernels/copy.h"

namespace ref {
namespace {

// The part that input and output share, and where it begins in each.
struct CropPlan {
  LoopNest<2> nest;
  int64_t from = 0, to = 0;
  int64_t axes[kMaxRank];
};

ge_rc RunCenterCropPad(const CropPlan& p, const Call& c) {
  const Tensor x = c.in(0), y = c.out(0), shape = c.in(1);
  for (int64_t k = 0; k < shape.count; ++k) {
    if (IntAt(shape, k) == y.dims[p.axes[k]]) continue;
    return c.Fail(GE_INVALID_ARGUMENT, "shape[%lld] is %lld, the plan holds %lld",
                  static_cast<long long>(k), static_cast<long long>(IntAt(shape, k)),
                  static_cast<long long>(y.dims[p.axes[k]]));
  }
  const int64_t size = ElementBytes(y.dtype);
  if (y.bytes != 0) std::memset(y.data, 0, y.bytes);
  if (!p.nest.empty()) {
    CopyNest(p.nest, y.as<char>() + p.to * size, x.as<char>() + p.from * size, size);
  }
  return GE_OK;
}

std::unique_ptr<Prepared> PrepareCenterCropPad(const NodeView& n, Why* why) {
  if (!NeedPorts(n, 2, 2, why) || !NeedSameDType(n.in(0), n.out(0), why)) return nullptr;
  const TensorType x = n.in(0), y = n.out(0);
  if (ElementBytes(x.dtype) == 0) return NoDType(x, why), nullptr;
  if (!IsIndexDType(n.in(1).dtype)) return NoDType(n.in(1), why), nullptr;
  const Ints axes = n.List("axes");
  const bool named = n.Has("axes");
  const int64_t count = named ? static_cast<int64_t>(axes.size()) : x.rank;
  if (x.rank != y.rank || n.in(1).count != count || count > x.rank) {
    return why->Say(GE_WHY_SHAPE, "ranks %d and %d with %lld sizes", x.rank, y.rank,
                    static_cast<long long>(n.in(1).count)),
           nullptr;
  }
  CropPlan p;
  uint64_t free = 0;  // axes whose size may change
  for (int64_t k = 0; k < count; ++k) {
    p.axes[k] = named ? NormalAxis(axes[static_cast<size_t>(k)], x.rank) : k;
    if (p.axes[k] < 0) return why->Say(GE_WHY_ATTRIBUTE, "an axis is out of range"), nullptr;
    free |= uint64_t{1} << p.axes[k];
  }
  int64_t in_stride[kMaxRank], out_stride[kMaxRank];
  DenseStrides(x.shape(), in_stride);
  DenseStrides(y.shape(), out_stride);
  for (int d = 0; d < x.rank; ++d) {
    if ((free >> d & 1) == 0 && x.dims[d] != y.dims[d]) {
      return why->Say(GE_WHY_SHAPE, "axis %d is not named, yet its size changes", d), nullptr;
    }
    p.nest.Add(std::min(x.dims[d], y.dims[d]), {out_stride[d], in_stride[d]});
    p.from += std::max<int64_t>(0, x.dims[d] - y.dims[d]) / 2 * in_stride[d];
    p.to += std::max<int64_t>(0, y.dims[d] - x.dims[d]) / 2 * out_stride[d];
  }
  auto made = Make([p](const Call& c) { return RunCenterCropPad(p, c); });
  made->const_align = 1;
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(center_crop_pad, "CenterCropPad", PrepareCenterCropPad)
