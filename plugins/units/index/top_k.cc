#include "plugins/units/index/top_k.h"

#include "plugins/units/parser.h"

namespace ge_engines {

namespace {

bool ParseTopK(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  auto& s = u->spec.emplace<TopKSpec>();
  if (n.n_in != 2 || n.in[1] == 0 || g.dtype(n.in[1]) != GE_I64 || Product(g.dims(n.in[1])) != 1) {
    return why->Say(GE_WHY_SHAPE, "K is not one int64");
  }
  const uint32_t places = n.n_out > 1 ? n.out[1] : 0;
  const bool number = g.IsRealOrWhole(g.dtype(n.in[0])) || g.dtype(n.in[0]) == GE_F64;
  if (!number || g.dtype(n.out[0]) != g.dtype(n.in[0]) ||
      (places != 0 && g.dtype(places) != GE_I64)) {
    return why->Say(GE_WHY_DTYPE, "only float32, float64, int32 and int64");
  }
  Dims want = g.dims(n.in[0]);
  if (!AxisOf(n, want.size(), gp::AttrInt(n, "axis"), &s.axis, why)) return false;
  auto& dim = want[static_cast<size_t>(s.axis)];
  const bool fits = u->dims.size() == want.size() && u->dims[static_cast<size_t>(s.axis)] <= dim;
  if (fits) dim = u->dims[static_cast<size_t>(s.axis)];
  if (!fits || want != u->dims || (places != 0 && g.dims(places) != want)) {
    return why->Say(GE_WHY_SHAPE, "the outputs do not fit the input");
  }
  s.largest = gp::AttrInt(n, "largest") != 0;
  u->in.push_back(n.in[1]);
  u->out.push_back(places);
  return true;
}

constexpr Operator kTopKOperators[] = {
    {"TopK", ParseTopK, Types::kAny, 0},
};
}  // namespace

const UnitKind TopKSpec::kKind = {.name = "top_k", .operators = kTopKOperators};

}  // namespace ge_engines
