#include "plugins/units/conv/conv_grad.h"

#include "plugins/units/parser.h"

namespace ge_engines {

namespace {

bool ParseConvGradInput(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  auto& spec = u->spec.emplace<ConvGradSpec>();
  u->in.push_back(n.in[1]);
  return ConvShapeOf(n, u->dims, g.dims(n.in[1]), g.dims(n.in[0]), &spec.conv, why);
}

bool ParseConvGradWeight(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  auto& spec = u->spec.emplace<ConvGradSpec>();
  spec.of_weights = true;
  u->in.push_back(n.in[1]);
  return ConvShapeOf(n, g.dims(n.in[0]), u->dims, g.dims(n.in[1]), &spec.conv, why);
}

size_t GradFilterOf(const Unit& u) {
  return !As<ConvGradSpec>(u)->of_weights && u.in.size() > 1 && u.in[1] != u.in[0] ? 1 : 0;
}

constexpr Operator kConvGradOperators[] = {
    {"ge.ConvGradInput", ParseConvGradInput, Types::kFloat, 2},
};
}  // namespace

namespace {
constexpr Operator kConvGradWeightOperators[] = {
    {"ge.ConvGradWeight", ParseConvGradWeight, Types::kFloat, 2},
};
}  // namespace

const UnitKind kConvGradWeight = {.name = "conv_grad_weight",
                                  .operators = kConvGradWeightOperators};

const UnitKind ConvGradSpec::kKind = {
    .name = "conv_grad", .operators = kConvGradOperators, .filter = GradFilterOf};

}  // namespace ge_engines
