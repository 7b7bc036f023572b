#include "plugins/units/movement/expand.h"

#include "plugins/units/movement/reshape.h"
#include "plugins/units/parser.h"

namespace ge_engines {

namespace {

bool ParseExpand(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  if (g.dtype(n.in[0]) != g.dtype(n.out[0])) {
    return why->Say(GE_WHY_DTYPE, "input and output differ");
  }
  if (!Broadcasts(g.dims(n.in[0]), u->dims)) return why->Say(GE_WHY_SHAPE, "dims do not broadcast");
  u->spec = ExpandSpec();
  if (g.dims(n.in[0]) == u->dims) u->spec = ViewSpec();
  return true;
}

constexpr Operator kExpandOperators[] = {
    {"Expand", ParseExpand, Types::kWord},
};
}  // namespace

const UnitKind ExpandSpec::kKind = {.name = "expand", .operators = kExpandOperators};

}  // namespace ge_engines
