#include "plugins/ref/checks.h"

namespace ref {
namespace {

struct AffinePlan {
  int axes;  // of space
  int64_t batch, dim[3];
  bool corners;  // -1 and 1 are the centres of the outermost pixels, else their outer edges
};

// An axis of one pixel lies at -1 between corners, as the depth does in ONNX's own function.
double PlaceOf(const AffinePlan& p, int64_t i, int64_t dim) {
  const double at = static_cast<double>(i), size = static_cast<double>(dim);
  if (!p.corners) return (2 * at + 1) / size - 1;
  return dim == 1 ? -1 : 2 * at / (size - 1) - 1;
}

template <class T>
ge_rc RunAffineGrid(const AffinePlan& p, const Call& c) {
  const T* theta = c.in(0).as<T>();
  const Tensor size = c.in(1);
  T* y = c.out(0).as<T>();
  for (int d = 0; d < p.axes; ++d) {
    if (IntAt(size, d + 2) == p.dim[d] && IntAt(size, 0) == p.batch) continue;
    return c.Fail(GE_INVALID_ARGUMENT, "size is not that of the planned output");
  }
  const int columns = p.axes + 1;
  int64_t places = 1;
  for (int d = 0; d < p.axes; ++d) places *= p.dim[d];
  for (int64_t b = 0; b < p.batch; ++b, theta += p.axes * columns) {
    int64_t at[3] = {};
    for (int64_t i = 0; i < places; ++i) {
      for (int row = 0; row < p.axes; ++row) {
        double sum = Widen(Load(theta, row * columns + p.axes));
        for (int k = 0; k < p.axes; ++k) {  // innermost axis first
          const int d = p.axes - 1 - k;
          sum += Widen(Load(theta, row * columns + k)) * PlaceOf(p, at[d], p.dim[d]);
        }
        *y++ = Narrow<T>(sum);
      }
      for (int d = p.axes - 1; d >= 0 && ++at[d] == p.dim[d]; --d) at[d] = 0;
    }
  }
  return GE_OK;
}

std::unique_ptr<Prepared> PrepareAffineGrid(const NodeView& n, Why* why) {
  if (!NeedPorts(n, 2, 2, why) || !NeedSameDType(n.in(0), n.out(0), why)) return nullptr;
  const TensorType theta = n.in(0), size = n.in(1), y = n.out(0);
  if (size.dtype != GE_I64) return NoDType(size, why), nullptr;
  AffinePlan p{};
  p.axes = y.rank - 2;
  const bool fits = (p.axes == 2 || p.axes == 3) && y.dims[y.rank - 1] == p.axes &&
                    size.rank == 1 && size.count == p.axes + 2 && theta.rank == 3 &&
                    theta.dims[0] == y.dims[0] && theta.dims[1] == p.axes &&
                    theta.dims[2] == p.axes + 1;
  if (!fits) return why->Say(GE_WHY_SHAPE, "theta, size and grid do not fit"), nullptr;
  p.batch = y.dims[0];
  for (int d = 0; d < p.axes; ++d) p.dim[d] = y.dims[d + 1];
  p.corners = n.Int("align_corners") != 0;
  std::unique_ptr<Prepared> made;
  if (!VisitFloat(theta.dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        made = Make([p](const Call& c) { return RunAffineGrid<T>(p, c); });
        made->const_align = 1;
      })) {
    NoDType(theta, why);
  }
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(affine_grid, "AffineGrid", PrepareAffineGrid)
