#include "plugins/units/reduce/softmax.h"

#include "plugins/units/parser.h"

namespace ge_engines {

namespace {

bool ParseSoftmax(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  const int rank = static_cast<int>(u->dims.size());
  auto& axis = u->spec.emplace<SoftmaxSpec>().axis;
  axis = static_cast<int>(gp::AttrInt(n, "axis"));
  if (axis < 0) axis += rank;
  if (rank == 0 || axis < 0 || axis >= rank) {
    return why->Say(GE_WHY_ATTRIBUTE, "axis is out of range");
  }
  return true;
}

constexpr Operator kSoftmaxOperators[] = {
    {"Softmax", ParseSoftmax},
};
}  // namespace

const UnitKind SoftmaxSpec::kKind = {.name = "softmax", .operators = kSoftmaxOperators};

}  // namespace ge_engines
