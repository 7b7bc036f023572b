#include "plugins/units/training/add_rows.h"

#include "plugins/units/parser.h"

namespace ge_engines {

namespace {

bool ParseAddRows(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  const bool floats = g.IsReal(g.dtype(n.in[0])) && g.IsReal(g.dtype(n.in[2]));
  const bool indices = g.dtype(n.in[1]) == GE_I64 || g.dtype(n.in[1]) == GE_I32;
  if (!floats || !indices) return why->Say(GE_WHY_DTYPE, "only float32");
  u->in.assign(n.in, n.in + 3);
  u->spec = AddRowsSpec();
  return true;
}

constexpr Operator kAddRowsOperators[] = {
    {"ge.AddRows", ParseAddRows, Types::kAny, 0},
};
}  // namespace

const UnitKind AddRowsSpec::kKind = {
    .name = "add_rows", .operators = kAddRowsOperators, .in_place = InPlace::kOutputs};

}  // namespace ge_engines
