#include "plugins/cpu/onednn/parse.h"

#include "plugins/cpu/kit/parse.h"

namespace ge_engines::cpu::onednn {
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

constexpr Operator kOwn[] = {
    {"ge.ConvGradInput", ParseConvGradInput, Types::kFloat, 2},
    {"ge.ConvGradWeight", ParseConvGradWeight, Types::kFloat, 2},
};

}  // namespace

std::span<const Operator> OwnOperators() { return kOwn; }

}  // namespace ge_engines::cpu::onednn
