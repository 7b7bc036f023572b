#include "plugins/ref/kernels/scatter.h"

namespace ref {
namespace {

std::unique_ptr<Prepared> PrepareGatherND(const NodeView& n, Why* why) {
  if (!NeedPorts(n, 2, 2, why) || !NeedSameDType(n.in(0), n.out(0), why)) return nullptr;
  const TensorType x = n.in(0);
  const int64_t size = ElementBytes(x.dtype);
  if (size == 0) return NoDType(x, why), nullptr;
  TuplePlan p;
  if (!ReadTuples(x, n.in(1), n.out(0), n.Int("batch_dims"), &p, why)) return nullptr;
  const int64_t batches = PartCount(x.shape(), 0, static_cast<size_t>(p.first));
  auto made = Make([p, batches, size](const Call& c) {
    const Tensor x = c.in(0), y = c.out(0);
    const int64_t each = batches == 0 ? 0 : p.tuples / batches;
    const int64_t row = p.slice * size, batch = batches == 0 ? 0 : x.count / batches * size;
    ge_rc rc = GE_OK;
    for (int64_t t = 0; t < p.tuples; ++t) {
      const int64_t at = SliceOfTuple(c, p, t, &rc);
      if (at < 0) return rc;
      if (row == 0) continue;
      std::memcpy(y.as<char>() + t * row, x.as<char>() + t / each * batch + at * row,
                  static_cast<size_t>(row));
    }
    return rc;
  });
  made->const_align = 1;
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(gather_nd, "GatherND", PrepareGatherND)
