#include "plugins/units/elementwise/cast.h"

#include "plugins/units/movement/reshape.h"
#include "plugins/units/parser.h"

namespace ge_engines {

namespace {

bool ParseCast(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  u->spec = CastSpec();
  const int32_t from = g.dtype(n.in[0]), to = g.dtype(n.out[0]);
  const auto half = [](int32_t t) { return t == GE_F16 || t == GE_BF16; };
  if (from == to) {
    u->spec = ViewSpec();
  } else if ((half(from) && to != GE_F32) || (half(to) && from != GE_F32)) {
    return why->Say(GE_WHY_DTYPE, std::string("a cast of ") + gp::DTypeName(from) + " to " +
                                      gp::DTypeName(to) +
                                      ", of 16-bit floats only from or to "
                                      "float32");
  }
  if (n.n_in != 1 || g.dims(n.in[0]) != u->dims) return why->Say(GE_WHY_SHAPE, "dims differ");
  return true;
}

constexpr Operator kCastOperators[] = {
    {"Cast", ParseCast, Types::kCast, 0},
};
}  // namespace

const UnitKind CastSpec::kKind = {.name = "cast", .operators = kCastOperators};

}  // namespace ge_engines
