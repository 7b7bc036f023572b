#include "plugins/units/movement/range.h"

#include "plugins/units/parser.h"

namespace ge_engines {

namespace {

bool ParseRange(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  u->spec = RangeSpec();
  u->in.clear();
  for (uint32_t k = 0; k < 3; ++k) {
    const uint32_t v = k < n.n_in ? n.in[k] : 0;
    if (v == 0 || Product(g.dims(v)) != 1) return why->Say(GE_WHY_SHAPE, "needs three numbers");
    if (!g.IsRealOrWhole(g.dtype(v)) || g.dtype(v) != g.dtype(n.out[0])) {
      return why->Say(GE_WHY_DTYPE, "only float32, int32 and int64");
    }
    u->in.push_back(v);
  }
  return true;
}

constexpr Operator kRangeOperators[] = {
    {"Range", ParseRange, Types::kNumber, 0},
};
}  // namespace

const UnitKind RangeSpec::kKind = {.name = "range", .operators = kRangeOperators};

}  // namespace ge_engines
