#include "tools/adcheck/rule_table.h"

#include "passes/grad/rule.h"

namespace ge::adcheck {

InputRule OpRule::Of(uint32_t input, std::string* reason) const {
  for (const Exception& e : exceptions) {
    if (e.input != input && e.input != grad::kAllInputs) continue;
    *reason = e.reason;
    return e.error ? InputRule::kError : InputRule::kZero;
  }
  return InputRule::kRule;
}

std::vector<OpRule> AllOpRules() {
  std::vector<OpRule> all;
  for (const grad::Rule& rule : grad::AllRules()) {
    OpRule r;
    r.name = rule.domain[0] ? std::string(rule.domain) + "." + rule.op : rule.op;
    r.has_back = rule.back != nullptr || rule.apart != nullptr;
    for (const grad::NoGradient& n : rule.none)
      r.exceptions.push_back({n.input, n.error, n.reason});
    all.push_back(std::move(r));
  }
  return all;
}

}  // namespace ge::adcheck
