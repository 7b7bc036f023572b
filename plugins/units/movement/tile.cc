#include "plugins/units/movement/tile.h"

#include "plugins/units/movement/reshape.h"
#include "plugins/units/parser.h"

namespace ge_engines {

namespace {

bool ParseTile(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  u->spec = TileSpec();
  const Dims x = g.dims(n.in[0]);
  bool fits = x.size() == u->dims.size() && !x.empty();
  for (size_t k = 0; fits && k < x.size(); ++k) fits = u->dims[k] % x[k] == 0;
  if (!fits) return why->Say(GE_WHY_SHAPE, "the output is no repeated input");
  if (x == u->dims) u->spec = ViewSpec();
  return g.dtype(n.in[0]) == g.dtype(n.out[0]) || why->Say(GE_WHY_DTYPE, "input and output differ");
}

constexpr Operator kTileOperators[] = {
    {"Tile", ParseTile, Types::kAny},
};
}  // namespace

const UnitKind TileSpec::kKind = {.name = "tile", .operators = kTileOperators};

}  // namespace ge_engines
