#include "plugins/ref/kernels/copy.h"

namespace ref {
namespace {

// The cache [batch, middle, room, inner], the update [batch, middle, length, inner]; inner in
// bytes.
struct CachePlan {
  int64_t batch, middle, room, length, inner;
  bool circular;
};

// Where the rows of sample `b` begin; -1 with the failure said.
int64_t WriteIndex(const Call& c, const CachePlan& p, int64_t b, ge_rc* rc) {
  int64_t first = c.has_in(2) ? IntAt(c.in(2), b) : 0;
  if (p.circular && p.room > 0) {
    first %= p.room;
    return first < 0 ? first + p.room : first;
  }
  if (first >= 0 && first <= p.room - p.length) return first;
  *rc = c.Fail(GE_INVALID_ARGUMENT, "write_indices[%lld] is %lld, wanted 0 to %lld",
               static_cast<long long>(b), static_cast<long long>(first),
               static_cast<long long>(p.room - p.length));
  return -1;
}

ge_rc RunTensorScatter(const CachePlan& p, const Call& c) {
  CopyAll(c.in(0), c.out(0));
  const char* from = c.in(1).as<char>();
  char* to = c.out(0).as<char>();
  ge_rc rc = GE_OK;
  for (int64_t b = 0; b < p.batch; ++b) {
    const int64_t first = WriteIndex(c, p, b, &rc);
    if (first < 0) return rc;
    for (int64_t m = 0; m < p.middle && p.inner != 0; ++m) {
      for (int64_t i = 0; i < p.length; ++i, from += p.inner) {
        int64_t row = first + i;
        if (row >= p.room) row -= p.room;  // length <= room: once is enough
        std::memcpy(to + ((b * p.middle + m) * p.room + row) * p.inner, from,
                    static_cast<size_t>(p.inner));
      }
    }
  }
  return GE_OK;
}

std::unique_ptr<Prepared> PrepareTensorScatter(const NodeView& n, Why* why) {
  if (!NeedPorts(n, 2, 3, why) || !NeedSameDType(n.in(0), n.out(0), why) ||
      !NeedSameDType(n.in(0), n.in(1), why) || !NeedSameDims(n.in(0), n.out(0), why)) {
    return nullptr;
  }
  const TensorType past = n.in(0), update = n.in(1);
  const int64_t axis = NormalAxis(n.Int("axis"), past.rank), size = ElementBytes(past.dtype);
  if (size == 0) return NoDType(past, why), nullptr;
  if (axis <= 0) return why->Say(GE_WHY_ATTRIBUTE, "axis is out of range"), nullptr;
  bool fits = past.rank == update.rank && update.dims[axis] <= past.dims[axis];
  for (int d = 0; fits && d < past.rank; ++d) fits = d == axis || past.dims[d] == update.dims[d];
  if (!fits) return why->Say(GE_WHY_SHAPE, "the update does not fit the cache"), nullptr;
  if (n.has_in(2)) {
    if (n.in(2).dtype != GE_I64) return NoDType(n.in(2), why), nullptr;
    if (n.in(2).rank != 1 || n.in(2).count != past.dims[0]) {
      return why->Say(GE_WHY_SHAPE, "write_indices is not one index a sample"), nullptr;
    }
  }
  const std::string_view mode = n.Text("mode");
  if (mode != "linear" && mode != "circular") {
    return why->Say(GE_WHY_ATTRIBUTE, "mode is %.*s", static_cast<int>(mode.size()), mode.data()),
           nullptr;
  }
  const auto at = static_cast<size_t>(axis), rank = static_cast<size_t>(past.rank);
  const CachePlan p = {past.dims[0],
                       PartCount(past.shape(), 1, at),
                       past.dims[axis],
                       update.dims[axis],
                       PartCount(past.shape(), at + 1, rank) * size,
                       mode == "circular"};
  auto made = Make([p](const Call& c) { return RunTensorScatter(p, c); });
  made->const_align = 1;
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(tensor_scatter, "TensorScatter", PrepareTensorScatter)
