#include "plugins/ref/kernels/scatter.h"

namespace ref {
namespace {

// Updates are taken in row-major order: where tuples repeat, the last one stays.
std::unique_ptr<Prepared> PrepareScatterND(const NodeView& n, Why* why) {
  if (!NeedPorts(n, 3, 3, why) || !NeedSameDType(n.in(0), n.out(0), why) ||
      !NeedSameDType(n.in(0), n.in(2), why) || !NeedSameDims(n.in(0), n.out(0), why)) {
    return nullptr;
  }
  const TensorType x = n.in(0);
  TuplePlan p;
  if (!ReadTuples(x, n.in(1), n.in(2), 0, &p, why)) return nullptr;
  const PutRun put = PickPut(n, x.dtype, why);
  if (put == nullptr) return nullptr;
  const int64_t size = ElementBytes(x.dtype);
  auto made = Make([p, size, put](const Call& c) {
    const char* from = c.in(2).as<char>();
    char* to = c.out(0).as<char>();
    const int64_t row = p.slice * size;
    CopyAll(c.in(0), c.out(0));
    ge_rc rc = GE_OK;
    for (int64_t t = 0; t < p.tuples; ++t) {
      const int64_t at = SliceOfTuple(c, p, t, &rc);
      if (at < 0) return rc;
      if (row != 0) put(to + at * row, from + t * row, p.slice);
    }
    return rc;
  });
  made->const_align = 1;
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(scatter_nd, "ScatterND", PrepareScatterND)
