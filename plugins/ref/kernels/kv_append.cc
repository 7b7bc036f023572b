#include "plugins/ref/kernels/copy.h"

namespace ref {
namespace {

// The cache [outer, room, inner], what is new [outer, rows, inner]; inner in bytes.
struct AppendPlan {
  int64_t outer, room, rows, inner;
};

ge_rc RunKvAppend(const AppendPlan& p, const Call& c) {
  const int64_t first = IntAt(c.in(1), 0);
  if (first < 0 || first > p.room - p.rows) {
    return c.Fail(GE_INVALID_ARGUMENT,
                  "%lld rows behind the %lld in use do not fit into the cache of %lld; start anew, "
                  "or make it larger",
                  static_cast<long long>(p.rows), static_cast<long long>(first),
                  static_cast<long long>(p.room));
  }
  CopyAll(c.in(0), c.out(0));
  const char* from = c.in(2).as<char>();
  char* to = c.out(0).as<char>() + first * p.inner;
  const auto bytes = static_cast<size_t>(p.rows * p.inner);
  for (int64_t o = 0; o < p.outer && bytes != 0; ++o) {
    std::memcpy(to + o * p.room * p.inner, from + o * p.rows * p.inner, bytes);
  }
  return GE_OK;
}

std::unique_ptr<Prepared> PrepareKvAppend(const NodeView& n, Why* why) {
  if (!NeedPorts(n, 3, 3, why) || !NeedSameDType(n.in(0), n.out(0), why) ||
      !NeedSameDType(n.in(0), n.in(2), why) || !NeedSameDims(n.in(0), n.out(0), why)) {
    return nullptr;
  }
  const TensorType cache = n.in(0), rows = n.in(2);
  const int64_t axis = NormalAxis(n.Int("axis"), cache.rank), size = ElementBytes(cache.dtype);
  if (size == 0) return NoDType(cache, why), nullptr;
  if (n.in(1).dtype != GE_I64) return NoDType(n.in(1), why), nullptr;
  if (axis < 0) return why->Say(GE_WHY_ATTRIBUTE, "axis is out of range"), nullptr;
  bool fits = cache.rank == rows.rank && n.in(1).count == 1;
  for (int d = 0; fits && d < cache.rank; ++d) fits = d == axis || cache.dims[d] == rows.dims[d];
  if (!fits) return why->Say(GE_WHY_SHAPE, "the new rows do not fit the cache"), nullptr;
  const auto at = static_cast<size_t>(axis), rank = static_cast<size_t>(cache.rank);
  const AppendPlan p = {PartCount(cache.shape(), 0, at), cache.dims[axis], rows.dims[axis],
                        PartCount(cache.shape(), at + 1, rank) * size};
  auto made = Make([p](const Call& c) { return RunKvAppend(p, c); });
  made->in_place = 1;
  made->const_align = 1;
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(kv_append, "ge.KvAppend", PrepareKvAppend)
