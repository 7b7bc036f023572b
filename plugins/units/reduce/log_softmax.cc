#include "plugins/units/reduce/log_softmax.h"

#include "plugins/units/parser.h"

namespace ge_engines {

namespace {

bool ParseLogSoftmax(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  auto& s = u->spec.emplace<LogSoftmaxSpec>();
  return AxisOf(n, u->dims.size(), gp::AttrInt(n, "axis"), &s.axis, why);
}

constexpr Operator kLogSoftmaxOperators[] = {
    {"LogSoftmax", ParseLogSoftmax},
};
}  // namespace

const UnitKind LogSoftmaxSpec::kKind = {
    .name = "log_softmax", .operators = kLogSoftmaxOperators, .in_place = InPlace::kFirst};

}  // namespace ge_engines
