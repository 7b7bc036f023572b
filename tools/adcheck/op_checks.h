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

// Empty if no input has a gradient.
Result<std::vector<OpCheck>> ChecksOf(const Case& sample, const OpRule* rule,
                                      const Options& options, std::mt19937_64& random);
const OpRule* FindOpRule(const std::vector<OpRule>& rules, const std::string& name);
// Whether a rule refused an unknown size or rank, as it may.
bool WantsSizes(const CheckResult& result);

}  // namespace ge::adcheck
