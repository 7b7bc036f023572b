#include <algorithm>

#include "plugins/ref/kernels/copy.h"

namespace ref {
namespace {

ge_rc RunTrilu(bool upper, int64_t size, const Call& c) {
  const Tensor x = c.in(0), y = c.out(0);
  const int64_t rows = x.dims[x.rank - 2], columns = x.dims[x.rank - 1];
  // Beyond the matrix on either side every k means the same; so nothing overflows.
  const int64_t k = c.has_in(1) ? std::clamp(IntAt(c.in(1), 0), -rows - 1, columns + 1) : 0;
  const char* from = x.as<char>();
  char* to = y.as<char>();
  for (int64_t r = 0; x.count != 0 && r < x.count / columns; ++r) {
    // Columns [lo, hi) of row i stay: j - i >= k, or j - i <= k.
    const int64_t i = r % rows;
    const int64_t lo = upper ? std::clamp<int64_t>(i + k, 0, columns) : 0;
    const int64_t hi = upper ? columns : std::clamp<int64_t>(i + k + 1, 0, columns);
    const int64_t row = r * columns;
    std::memset(to + row * size, 0, static_cast<size_t>(lo * size));
    if (to != from) {
      std::memcpy(to + (row + lo) * size, from + (row + lo) * size,
                  static_cast<size_t>((hi - lo) * size));
    }
    std::memset(to + (row + hi) * size, 0, static_cast<size_t>((columns - hi) * size));
  }
  return GE_OK;
}

std::unique_ptr<Prepared> PrepareTrilu(const NodeView& n, Why* why) {
  if (!NeedPorts(n, 1, 2, why) || !NeedSameDType(n.in(0), n.out(0), why) ||
      !NeedSameDims(n.in(0), n.out(0), why)) {
    return nullptr;
  }
  const int64_t size = ElementBytes(n.in(0).dtype);
  if (size == 0) return NoDType(n.in(0), why), nullptr;
  if (n.in(0).rank < 2) return why->Say(GE_WHY_SHAPE, "the rank is below 2"), nullptr;
  if (n.has_in(1)) {
    if (n.in(1).dtype != GE_I64) return NoDType(n.in(1), why), nullptr;
    if (n.in(1).count != 1) return why->Say(GE_WHY_SHAPE, "k is no scalar"), nullptr;
  }
  const bool upper = n.Int("upper") != 0;
  auto made = Make([=](const Call& c) { return RunTrilu(upper, size, c); });
  made->const_align = 1;
  made->in_place = 1;
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(trilu, "Trilu", PrepareTrilu)
