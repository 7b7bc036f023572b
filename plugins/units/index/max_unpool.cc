#include "plugins/units/index/max_unpool.h"

#include "plugins/units/parser.h"

namespace ge_engines {

namespace {

bool ParseMaxUnpool(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  if (n.n_in < 2 || n.in[1] == 0 || g.dtype(n.in[1]) != GE_I64) {
    return why->Say(GE_WHY_DTYPE, "wants int64 indices");
  }
  const Dims x = g.dims(n.in[0]), &y = u->dims;
  const auto kernel = gp::AttrInts(n, "kernel_shape"), strides = gp::AttrInts(n, "strides"),
             pads = gp::AttrInts(n, "pads");
  if (x.size() < 3 || y.size() != x.size() || g.dims(n.in[1]) != x ||
      kernel.size() + 2 != x.size() || g.dtype(n.out[0]) != g.dtype(n.in[0])) {
    return why->Say(GE_WHY_SHAPE, "x, indices and kernel do not fit");
  }
  MaxUnpoolSpec s;
  s.dims = {x[0], x[1]};
  const size_t axes = kernel.size();
  for (size_t d = 0; d < axes; ++d) {
    const int64_t stride = strides.size() == axes ? strides[d] : 1;
    const int64_t cut = pads.size() == 2 * axes ? pads[d] + pads[axes + d] : 0;
    s.dims.push_back((x[d + 2] - 1) * stride + kernel[d] - cut);
  }
  for (size_t d = 0; d < y.size(); ++d) {
    const bool corner = n.n_in > 2 && n.in[2] != 0 && d >= 2;
    if (s.dims[d] < 1 || (corner ? s.dims[d] > y[d] : s.dims[d] != y[d])) {
      return why->Say(GE_WHY_SHAPE, "the result is not what the attributes give");
    }
  }
  u->in.push_back(n.in[1]);
  u->spec = std::move(s);
  return true;
}

constexpr Operator kMaxUnpoolOperators[] = {
    {"MaxUnpool", ParseMaxUnpool, Types::kWord, 2},
};
}  // namespace

const UnitKind MaxUnpoolSpec::kKind = {.name = "max_unpool", .operators = kMaxUnpoolOperators};

}  // namespace ge_engines
