#include "plugins/units/reduce/double_softmax.h"

#include "plugins/units/parser.h"

namespace ge_engines {

namespace {

bool ParseDoubleSoftmax(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  auto& s = u->spec.emplace<DoubleSoftmaxSpec>();
  s.log = gp::View(n.op) == "LogSoftmax";
  return AxisOf(n, u->dims.size(), gp::AttrInt(n, "axis"), &s.axis, why);
}

constexpr Operator kDoubleSoftmaxOperators[] = {
    {"Softmax", ParseDoubleSoftmax, Types::kDouble},
    {"LogSoftmax", ParseDoubleSoftmax, Types::kDouble},
};
}  // namespace

const UnitKind DoubleSoftmaxSpec::kKind = {
    .name = "double_softmax", .operators = kDoubleSoftmaxOperators, .in_place = InPlace::kFirst};

}  // namespace ge_engines
