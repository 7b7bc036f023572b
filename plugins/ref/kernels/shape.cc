#include <algorithm>

#include "plugins/ref/kernels/copy.h"

namespace ref {
namespace {

std::unique_ptr<Prepared> PrepareShape(const NodeView& n, Why* why) {
  if (!NeedPorts(n, 1, 1, why)) return nullptr;
  const int64_t rank = n.in(0).rank;
  const auto clamp = [rank](int64_t i) {
    return std::clamp<int64_t>(i < 0 ? i + rank : i, 0, rank);
  };
  const int64_t start = clamp(n.Int("start")), end = clamp(n.Int("end", rank));
  if (n.out(0).dtype != GE_I64) return NoDType(n.out(0), why), nullptr;
  if (n.out(0).count != std::max<int64_t>(0, end - start)) {
    why->Say(GE_WHY_SHAPE, "dims [%lld, %lld) do not fill the output",
             static_cast<long long>(start), static_cast<long long>(end));
    return nullptr;
  }
  auto made = Make([start, end](const Call& c) {
    const Tensor x = c.in(0);
    int64_t* out = c.out(0).as<int64_t>();
    for (int64_t d = start; d < end; ++d) out[d - start] = x.dims[d];
    return static_cast<ge_rc>(GE_OK);
  });
  made->const_align = 1;
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(shape, "Shape", PrepareShape)
