#include "plugins/units/elementwise/relation.h"

#include <algorithm>
#include <iterator>

#include "plugins/units/parser.h"

namespace ge_engines {

namespace {

bool IsSmallOrUnsigned(int32_t dtype) {
  return dtype == GE_I8 || dtype == GE_U8 || dtype == GE_I16 || dtype == GE_U16 ||
         dtype == GE_U32 || dtype == GE_U64;
}

bool ParseRelation(const Parser& g, uint32_t i, Unit* u, Why* why) {
  static constexpr std::string_view kOps[] = {
      "Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual", "And", "Or", "Xor", "Not"};
  const ge_node& n = g.node(i);
  auto& op = u->spec.emplace<RelationSpec>().op;
  op = static_cast<Relation>(std::find(std::begin(kOps), std::end(kOps), gp::View(n.op)) - kOps);
  const uint32_t wanted = op == Relation::kNot ? 1 : 2;
  if (n.n_in != wanted || n.in[wanted - 1] == 0) {
    return why->Say(GE_WHY_SHAPE, "an operand is missing");
  }
  if (wanted == 2) u->in.push_back(n.in[1]);
  const bool logic = op >= Relation::kAnd;
  for (uint32_t v : u->in) {
    const int32_t t = g.dtype(v);
    if (t != g.dtype(n.in[0]) || g.dtype(n.out[0]) != GE_BOOL || (logic && t != GE_BOOL)) {
      return why->Say(GE_WHY_DTYPE, "inputs differ in dtype, or a logical one is not bool");
    }
    if (!g.IsRealOrWhole(t) && t != GE_BOOL && !IsSmallOrUnsigned(t)) {
      return why->Say(GE_WHY_DTYPE, "only float32, integers and bool");
    }
    if (t == GE_BOOL && !logic && op != Relation::kEqual) {
      return why->Say(GE_WHY_DTYPE, "bools have no order");
    }
    if (!Broadcasts(g.dims(v), u->dims)) return why->Say(GE_WHY_SHAPE, "dims do not broadcast");
  }
  return true;
}

constexpr Operator kRelationOperators[] = {
    {"Equal", ParseRelation, Types::kAny, 0},
    {"Less", ParseRelation, Types::kAny, 0},
    {"Greater", ParseRelation, Types::kAny, 0},
    {"LessOrEqual", ParseRelation, Types::kAny, 0},
    {"GreaterOrEqual", ParseRelation, Types::kAny, 0},
    {"And", ParseRelation, Types::kAny, 0},
    {"Or", ParseRelation, Types::kAny, 0},
    {"Xor", ParseRelation, Types::kAny, 0},
    {"Not", ParseRelation, Types::kAny, 0},
};
}  // namespace

const UnitKind RelationSpec::kKind = {
    .name = "relation", .operators = kRelationOperators, .joins_cast = true};

}  // namespace ge_engines
