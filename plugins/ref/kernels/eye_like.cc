#include <algorithm>

#include "plugins/ref/kernels/elementwise.h"

namespace ref {
namespace {

std::unique_ptr<Prepared> PrepareEyeLike(const NodeView& n, Why* why) {
  if (!NeedPorts(n, 1, 1, why) || !NeedSameDims(n.in(0), n.out(0), why)) return nullptr;
  const TensorType y = n.out(0);
  if (y.rank != 2) return why->Say(GE_WHY_SHAPE, "rank %d, 2 is wanted", y.rank), nullptr;
  const int64_t rows = y.dims[0], columns = y.dims[1];
  // Beyond the matrix on either side there is no diagonal; so nothing overflows.
  const int64_t k = std::max(-rows, std::min(columns, n.Int("k")));
  std::unique_ptr<Prepared> made;
  if (!VisitSet<Set::kNumberAndBool>(y.dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        made = Make([=](const Call& c) {
          T* to = c.out(0).as<T>();
          for (int64_t i = 0; i < rows; ++i) {
            for (int64_t j = 0; j < columns; ++j) {
              *to++ = Narrow<T>(static_cast<Arith<T>>(j - i == k ? 1 : 0));
            }
          }
          return static_cast<ge_rc>(GE_OK);
        });
        made->const_align = 1;
      })) {
    NoDType(y, why);
  }
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(eye_like, "EyeLike", PrepareEyeLike)
