#include <algorithm>

#include "plugins/ref/kernels/copy.h"

namespace ref {
namespace {

struct Axis {
  int64_t start, step, count;
};

// ONNX: negative ends count from the end, then both are clamped to where the step can stand.
bool ResolveAxis(int64_t start, int64_t end, int64_t step, int64_t dim, Axis* out) {
  if (step == 0) return false;
  if (start < 0) start += dim;
  if (end < 0) end += dim;
  if (step > 0) {
    start = std::clamp<int64_t>(start, 0, dim);
    end = std::clamp<int64_t>(end, 0, dim);
  } else {
    // Not NumPy's -1: a start before the first element is moved onto it.
    start = std::clamp<int64_t>(start, 0, std::max<int64_t>(dim - 1, 0));
    end = std::clamp<int64_t>(end, -1, dim - 1);
    if (dim == 0) start = end;
  }
  // Unsigned distance: a step of INT64_MIN is legal.
  const uint64_t span =
      step > 0 ? (end > start ? end - start : 0) : (start > end ? start - end : 0);
  const uint64_t stride =
      step > 0 ? static_cast<uint64_t>(step) : uint64_t{0} - static_cast<uint64_t>(step);
  out->count = static_cast<int64_t>(span / stride + (span % stride != 0 ? 1 : 0));
  out->start = start;
  out->step = out->count <= 1 ? 1 : step;
  return true;
}

ge_rc RunSlice(const Call& c) {
  const Tensor x = c.in(0), y = c.out(0), starts = c.in(1), ends = c.in(2);
  int64_t in_stride[kMaxRank], out_stride[kMaxRank];
  Axis axis[kMaxRank];
  DenseStrides(x.shape(), in_stride);
  DenseStrides(y.shape(), out_stride);
  for (int d = 0; d < x.rank; ++d) axis[d] = {0, 1, x.dims[d]};
  for (int64_t k = 0; k < starts.count; ++k) {
    const int64_t named = c.has_in(3) ? IntAt(c.in(3), k) : k;
    const int64_t a = NormalAxis(named, x.rank);
    if (a < 0) {
      return c.Fail(GE_INVALID_ARGUMENT, "axes[%lld] is %lld, outside rank %d",
                    static_cast<long long>(k), static_cast<long long>(named), x.rank);
    }
    const int64_t step = c.has_in(4) ? IntAt(c.in(4), k) : 1;
    if (!ResolveAxis(IntAt(starts, k), IntAt(ends, k), step, x.dims[a], &axis[a])) {
      return c.Fail(GE_INVALID_ARGUMENT, "steps[%lld] is 0", static_cast<long long>(k));
    }
  }
  int64_t offset = 0;
  LoopNest<2> nest;
  for (int d = 0; d < x.rank; ++d) {
    if (axis[d].count != y.dims[d]) {
      return c.Fail(GE_INVALID_ARGUMENT, "axis %d gives %lld elements, the plan holds %lld", d,
                    static_cast<long long>(axis[d].count), static_cast<long long>(y.dims[d]));
    }
    offset += axis[d].start * in_stride[d];
    nest.Add(y.dims[d], {out_stride[d], in_stride[d] * axis[d].step});
  }
  if (!nest.empty()) CopyElements(nest, y, x, offset);
  return GE_OK;
}

std::unique_ptr<Prepared> PrepareSlice(const NodeView& n, Why* why) {
  if (!NeedPorts(n, 3, 5, why) || !NeedSameDType(n.in(0), n.out(0), why)) return nullptr;
  if (ElementBytes(n.in(0).dtype) == 0) return NoDType(n.in(0), why), nullptr;
  if (n.out(0).rank != n.in(0).rank) {
    return why->Say(GE_WHY_SHAPE, "input and output differ in rank"), nullptr;
  }
  for (uint32_t i = 1; i < n.n_in(); ++i) {
    if (!n.has_in(i)) continue;
    if (!IsIndexDType(n.in(i).dtype)) return NoDType(n.in(i), why), nullptr;
    if (n.in(i).count != n.in(1).count) {
      return why->Say(GE_WHY_SHAPE, "starts and input %u differ in length", i), nullptr;
    }
  }
  auto made = Make(RunSlice);
  made->const_align = 1;
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(slice, "Slice", PrepareSlice)
