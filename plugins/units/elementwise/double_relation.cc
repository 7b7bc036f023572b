#include "plugins/units/elementwise/double_relation.h"

#include "plugins/units/parser.h"

namespace ge_engines {

namespace {

bool ParseDoubleRelation(const Parser& g, uint32_t i, Unit* u, Why* why) {
  static constexpr std::string_view kOps[] = {"Equal", "Less", "Greater", "LessOrEqual",
                                              "GreaterOrEqual"};
  const ge_node& n = g.node(i);
  if (n.n_in != 2 || n.in[1] == 0 || g.dtype(n.out[0]) != GE_BOOL) {
    return why->Say(GE_WHY_DTYPE, "wants two inputs, and makes bools");
  }
  if (!Broadcasts(g.dims(n.in[0]), u->dims) || !Broadcasts(g.dims(n.in[1]), u->dims)) {
    return why->Say(GE_WHY_SHAPE, "dims do not broadcast");
  }
  u->in.push_back(n.in[1]);
  return Named(gp::View(n.op), kOps, &u->spec.emplace<DoubleRelationSpec>().op);
}

constexpr Operator kDoubleRelationOperators[] = {
    {"Equal", ParseDoubleRelation, Types::kDoubleInputs, 0},
    {"Less", ParseDoubleRelation, Types::kDoubleInputs, 0},
    {"Greater", ParseDoubleRelation, Types::kDoubleInputs, 0},
    {"LessOrEqual", ParseDoubleRelation, Types::kDoubleInputs, 0},
    {"GreaterOrEqual", ParseDoubleRelation, Types::kDoubleInputs, 0},
};
}  // namespace

const UnitKind DoubleRelationSpec::kKind = {.name = "double_relation",
                                            .operators = kDoubleRelationOperators};

}  // namespace ge_engines
