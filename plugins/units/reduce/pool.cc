#include "plugins/units/reduce/pool.h"

#include <algorithm>

#include "plugins/units/window.h"

namespace ge_engines {

int64_t PadBehind(const PoolSpec& spec, size_t axis) {
  return std::max<int64_t>(spec.pad_r[axis], 0);
}

bool HasEvenPads(const PoolSpec& spec) {
  return HasEvenPads(spec.src, spec.dst, spec.kernel, spec.stride, spec.pad_l);
}

bool EndsInside(const PoolSpec& spec) {
  for (size_t k = 0; k < spec.kernel.size(); ++k) {
    const int64_t room = spec.src[k + 2] + spec.pad_l[k] + spec.pad_r[k] - spec.kernel[k];
    if (room / spec.stride[k] + 1 != spec.dst[k + 2]) return false;
  }
  return true;
}

bool ParsePool(const Parser& parser, uint32_t i, Unit* unit, Why* why) {
  const ge_node& n = parser.node(i);
  auto& p = unit->spec.emplace<PoolSpec>();
  p.max = gp::View(n.op) == "MaxPool";
  p.src = parser.dims(n.in[0]);
  p.dst = unit->dims;
  if (p.src.size() < 3 || p.src.size() > 5) {
    return why->Say(GE_WHY_SHAPE, "rank " + std::to_string(p.src.size()) + ", only 3 to 5");
  }
  if (n.n_out > 1 && n.out[1] != 0) return why->Say(GE_WHY_ATTRIBUTE, "Indices are not computed");
  const auto kernel = gp::AttrInts(n, "kernel_shape");
  if (kernel.size() != p.src.size() - 2) return why->Say(GE_WHY_ATTRIBUTE, "no kernel_shape");
  p.kernel.assign(kernel.begin(), kernel.end());
  Dims dilation;
  if (!WindowOf(n, p.src, p.dst, p.kernel, &p.stride, &dilation, &p.pad_l, &p.pad_r, why)) {
    return false;
  }
  for (int64_t d : dilation) {
    if (d != 1) return why->Say(GE_WHY_ATTRIBUTE, "dilations are not taken");
  }
  p.count_pad = gp::AttrInt(n, "count_include_pad") != 0;
  const auto pads = gp::AttrInts(n, "pads");
  for (size_t k = 0; k < p.kernel.size(); ++k) {
    if (p.pad_r[k] >= p.kernel[k]) {
      return why->Say(GE_WHY_SHAPE, "a window lies wholly in the padding");
    }
    const int64_t stated = pads.size() == 2 * p.kernel.size() ? pads[k + p.kernel.size()] : 0;
    if (!p.max && p.count_pad && p.pad_r[k] > stated) {
      return why->Say(GE_WHY_NUMERICS, "ceil_mode with count_include_pad");
    }
  }
  return true;
}

namespace {
constexpr Operator kPoolOperators[] = {
    {"MaxPool", ParsePool},
    {"AveragePool", ParsePool},
};
}  // namespace

const UnitKind PoolSpec::kKind = {.name = "pool", .operators = kPoolOperators, .follows = true};

}  // namespace ge_engines
