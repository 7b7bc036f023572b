// Rule: what a caller of the simulated vendor must keep; rules.def has them. Pure; any thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "plugins/ascend/api/acl.h"

// What the simulated libraries have for one another.
#define GE_SIM_SHARED __attribute__((visibility("default")))

namespace ge_engines::ascend::sim {

enum class Rule : uint8_t {
#define GE_RULE(id, name, status, told, sentence) id,
#include "plugins/ascend/sim/rules.def"
  kCount,
};

struct RuleRow {
  const char* name;
  acl::Status status;  // of a call that breaks it
  bool told;           // in the reports
  const char* sentence;
};
GE_SIM_SHARED const RuleRow& RowOf(Rule rule);
// kCount: there is none of that name.
Rule RuleNamed(std::string_view name);

}  // namespace ge_engines::ascend::sim
