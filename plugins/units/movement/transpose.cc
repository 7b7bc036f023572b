#include "plugins/units/movement/transpose.h"

#include "plugins/units/parser.h"

namespace ge_engines {

namespace {

bool ParseTranspose(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  auto& axes = u->spec.emplace<TransposeSpec>().perm;
  const auto perm = gp::AttrInts(n, "perm");
  const size_t rank = u->dims.size();
  for (size_t k = 0; k < rank; ++k) {
    axes.push_back(perm.size() == rank ? perm[k] : static_cast<int64_t>(rank - 1 - k));
    if (axes[k] < 0 || axes[k] >= static_cast<int64_t>(rank)) {
      return why->Say(GE_WHY_ATTRIBUTE, "perm is out of range");
    }
  }
  return true;
}

constexpr Operator kTransposeOperators[] = {
    {"Transpose", ParseTranspose, Types::kWord},
};
}  // namespace

const UnitKind TransposeSpec::kKind = {.name = "transpose", .operators = kTransposeOperators};

}  // namespace ge_engines
