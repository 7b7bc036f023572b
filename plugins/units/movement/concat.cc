#include "plugins/units/movement/concat.h"

#include "plugins/units/parser.h"

namespace ge_engines {

namespace {

bool ParseConcat(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  auto& axis = u->spec.emplace<ConcatSpec>().axis;
  axis = static_cast<int>(gp::AttrInt(n, "axis"));
  if (axis < 0) axis += static_cast<int>(u->dims.size());
  if (axis < 0 || axis >= static_cast<int>(u->dims.size())) {
    return why->Say(GE_WHY_ATTRIBUTE, "axis is out of range");
  }
  u->in.clear();
  for (uint32_t k = 0; k < n.n_in; ++k) {
    const uint32_t v = n.in[k];
    if (v == 0) return why->Say(GE_WHY_SHAPE, "an input is missing");
    if (Product(g.dims(v)) == 0) continue;  // nothing to join
    u->in.push_back(v);
    if (g.dtype(v) != g.dtype(u->out[0])) return why->Say(GE_WHY_DTYPE, "inputs differ in dtype");
  }
  return true;
}

constexpr Operator kConcatOperators[] = {
    {.op = "Concat", .parse = ParseConcat, .types = Types::kWord, .data = 0, .empty_inputs = true},
};
}  // namespace

const UnitKind ConcatSpec::kKind = {
    .name = "concat", .operators = kConcatOperators, .follows = true};

}  // namespace ge_engines
