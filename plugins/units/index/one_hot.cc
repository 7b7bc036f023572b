#include "plugins/units/index/one_hot.h"

#include "plugins/units/parser.h"

namespace ge_engines {

namespace {

bool ParseOneHot(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  if (n.n_in != 3 || n.in[1] == 0 || n.in[2] == 0) {
    return why->Say(GE_WHY_SHAPE, "needs three inputs");
  }
  const auto is_index = [&](uint32_t v) { return g.dtype(v) == GE_I32 || g.dtype(v) == GE_I64; };
  const uint32_t bits = gp::ElementBits(g.dtype(n.out[0]));
  if (!is_index(n.in[0]) || !is_index(n.in[1]) || g.dtype(n.in[2]) != g.dtype(n.out[0]) ||
      (bits != 8 && bits != 16 && bits != 32 && bits != 64)) {
    return why->Say(GE_WHY_DTYPE,
                    "only indices and depths of int32 and int64, elements of 1, 2, 4 or 8 bytes");
  }
  auto& s = u->spec.emplace<OneHotSpec>();
  if (!AxisOf(n, u->dims.size(), gp::AttrInt(n, "axis"), &s.axis, why)) return false;
  const Dims index = g.dims(n.in[0]);
  Dims rest = u->dims;
  rest.erase(rest.begin() + s.axis);
  if (rest != index || Product(g.dims(n.in[1])) != 1 || Product(g.dims(n.in[2])) != 2) {
    return why->Say(GE_WHY_SHAPE, "one depth, two values and one more axis are wanted");
  }
  u->in = {n.in[0], n.in[1], n.in[2]};
  return true;
}

constexpr Operator kOneHotOperators[] = {
    {"OneHot", ParseOneHot, Types::kAny, 0},
};
}  // namespace

const UnitKind OneHotSpec::kKind = {.name = "one_hot", .operators = kOneHotOperators};

}  // namespace ge_engines
