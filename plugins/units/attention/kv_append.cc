#include "plugins/units/attention/kv_append.h"

#include "plugins/units/parser.h"

namespace ge_engines {

namespace {

bool ParseAppend(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  auto& axis = u->spec.emplace<AppendSpec>().axis;
  const Dims cache = g.dims(n.in[0]);
  const int rank = static_cast<int>(cache.size());
  axis = static_cast<int>(gp::AttrInt(n, "axis"));
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return why->Say(GE_WHY_ATTRIBUTE, "axis is out of range");
  if (n.n_in != 3 || n.in[1] == 0 || n.in[2] == 0) {
    return why->Say(GE_WHY_SHAPE, "needs three inputs");
  }
  Dims want = cache;
  const Dims rows = g.dims(n.in[2]);
  if (rows.size() == cache.size()) {
    want[static_cast<size_t>(axis)] = rows[static_cast<size_t>(axis)];
  }
  if (rows != want || u->dims != cache || Product(g.dims(n.in[1])) != 1) {
    return why->Say(GE_WHY_SHAPE, "the new rows do not fit the cache");
  }
  if (g.dtype(n.in[1]) != GE_I64 || g.dtype(n.in[2]) != g.dtype(n.in[0]) ||
      g.dtype(n.out[0]) != g.dtype(n.in[0])) {
    return why->Say(GE_WHY_DTYPE, "cache and rows differ, or the length is not int64");
  }
  for (const uint32_t v : {n.in[1], n.in[2]}) u->in.push_back(v);
  return true;
}

constexpr Operator kKvAppendOperators[] = {
    {"ge.KvAppend", ParseAppend, Types::kAny, 0},
};
}  // namespace

const UnitKind AppendSpec::kKind = {
    .name = "kv_append", .operators = kKvAppendOperators, .in_place = InPlace::kFirst};

}  // namespace ge_engines
