// The checks of one case: one for each output of floats, with sizes as numbers and as symbols, and
// one of all outputs together.
#pragma once

#include <string>
#include <vector>

#include "tools/adcheck/case.h"
#include "tools/adcheck/check.h"
#include "tools/adcheck/command.h"
#include "tools/adcheck/rule_table.h"

namespace ge::adcheck {

struct OpCheck {
  std::string name;  // "y0", "y0 of unknown sizes", "all outputs"
  bool symbolic = false;
  CheckSpec spec;
};

// Nothing where no input has a gradient.
Result<std::vector<OpCheck>> ChecksOf(const Case& sample, const OpRule* rule,
                                      const Options& options, std::mt19937_64& random);
const OpRule* FindOpRule(const std::vector<OpRule>& rules, const std::string& name);
// A refusal for a size or rank that is not known, which a rule may give.
bool WantsSizes(const CheckResult& result);

}  // namespace ge::adcheck
