#include "plugins/ascend/sim/rules.h"

namespace ge_engines::ascend::sim {
namespace {

constexpr RuleRow kRows[] = {
#define GE_RULE(id, name, status, told, sentence) {name, acl::status, told, sentence},
#include "plugins/ascend/sim/rules.def"
};

}  // namespace

const RuleRow& RowOf(Rule rule) { return kRows[static_cast<size_t>(rule)]; }

Rule RuleNamed(std::string_view name) {
  size_t k = 0;
  while (k < static_cast<size_t>(Rule::kCount) && kRows[k].name != name) ++k;
  return static_cast<Rule>(k);
}

}  // namespace ge_engines::ascend::sim
