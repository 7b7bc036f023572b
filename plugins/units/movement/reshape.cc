#include "plugins/units/movement/reshape.h"

#include "plugins/units/parser.h"

namespace ge_engines {

namespace {

bool ParseView(const Parser& g, uint32_t, Unit* u, Why* why) {
  u->spec = ViewSpec();
  if (Product(g.dims(u->in[0])) != Product(u->dims)) {
    return why->Say(GE_WHY_SHAPE, "element counts");
  }
  if (g.dtype(u->in[0]) != g.dtype(u->out[0])) {
    return why->Say(GE_WHY_DTYPE, "input and output differ");
  }
  return true;
}

constexpr Operator kReshapeOperators[] = {
    {"Reshape", ParseView, Types::kAny},  {"Flatten", ParseView, Types::kAny},
    {"Squeeze", ParseView, Types::kAny},  {"Unsqueeze", ParseView, Types::kAny},
    {"Identity", ParseView, Types::kAny},
};
}  // namespace

const UnitKind ViewSpec::kKind = {.name = "reshape", .operators = kReshapeOperators};

}  // namespace ge_engines
