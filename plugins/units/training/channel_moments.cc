#include "plugins/units/training/channel_moments.h"

#include "plugins/units/parser.h"

namespace ge_engines {

namespace {

bool ParseMoments(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  if (g.dims(n.in[0]).size() < 2) return why->Say(GE_WHY_SHAPE, "no channels");
  if (n.n_out != 2 || n.out[1] == 0) return why->Say(GE_WHY_SHAPE, "an omitted output");
  u->spec = MomentsSpec();
  u->out.push_back(n.out[1]);
  return true;
}

constexpr Operator kChannelMomentsOperators[] = {
    {"ge.ChannelMoments", ParseMoments, Types::kFloat, 0},
};
}  // namespace

const UnitKind MomentsSpec::kKind = {
    .name = "channel_moments", .operators = kChannelMomentsOperators, .follows = true};

}  // namespace ge_engines
