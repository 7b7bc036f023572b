// ge-adcheck --list: what is said of the gradient of every operator, and of which nothing is.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "ge/ops/op.h"
#include "tools/adcheck/op_checks.h"

namespace ge::adcheck {
namespace {

struct Line {
  std::string name, state;                                       // "RULE", "ZERO", ... "NONE"
  std::vector<std::pair<std::string, std::string>> inputs = {};  // port, what holds for it
};

bool HasFloat(const std::vector<Port>& ports) {
  for (const Port& p : ports) {
    if ((p.dtypes & kFloats) != 0) return true;
  }
  return false;
}

// Control flow has no record in the table: passes/grad/control/flow.cc goes through it. A Gradient
// is other nodes by then.
bool IsFlow(const std::string& name) {
  return name == "If" || name == "Loop" || name == "Scan" || name == "ge.Call" ||
         name == "ge.Gradient";
}

Line ByRule(const OpDef& op, const OpRule& rule, Line line) {
  bool any = false, error = false;
  for (uint32_t i = 0; i < op.inputs.size(); ++i) {
    std::string reason;
    const InputRule state = rule.Of(i, &reason);
    any = any || (state == InputRule::kRule && rule.has_back);
    error = error || state == InputRule::kError;
    std::string text = state == InputRule::kRule   ? "RULE"
                       : state == InputRule::kZero ? "ZERO"
                                                   : "ERROR";
    if (state == InputRule::kRule && !rule.has_back) text = "NONE";
    line.inputs.emplace_back(op.inputs[i].name, text + (reason.empty() ? "" : " (" + reason + ")"));
  }
  line.state = any ? "RULE" : error ? "ERROR" : "ZERO";
  return line;
}

Line LineOf(const OpDef& op, const std::vector<OpRule>& rules) {
  Line line{ge::FullName(op), "", {}};
  const OpRule* rule = FindOpRule(rules, line.name);
  if (rule != nullptr) return ByRule(op, *rule, line);
  if (IsFlow(line.name)) {
    line.state = "FLOW";
  } else if (op.decompose) {
    line.state = "by decomposition";
  } else if (!HasFloat(op.outputs)) {
    line.state = "ZERO (no result is of floats)";
  } else if (!HasFloat(op.inputs)) {
    line.state = "ZERO (no input is of floats)";
  } else {
    line.state = "NONE";
  }
  return line;
}

}  // namespace

int ListOps(const Options& options) {
  const std::vector<OpRule> rules = AllOpRules();
  nlohmann::json all = nlohmann::json::array();
  int none = 0, count = 0;
  for (const OpDef* op : AllOps()) {
    const Line line = LineOf(*op, rules);
    if (!IsAsked(options, line.name)) continue;
    ++count;
    none += line.state == "NONE";
    if (options.json) {
      nlohmann::json inputs = nlohmann::json::object();
      for (const auto& [port, text] : line.inputs) inputs[port] = text;
      all.push_back({{"name", line.name}, {"state", line.state}, {"inputs", inputs}});
      continue;
    }
    std::string text;
    for (const auto& [port, what] : line.inputs)
      text += (text.empty() ? "" : ", ") + port + " " + what;
    fmt::print("{:<36} {}{}\n", line.name, line.state, text.empty() ? "" : ": " + text);
  }
  if (options.json) fmt::print("{}\n", nlohmann::json{{"ops", all}, {"without", none}}.dump());
  if (!options.json) fmt::print("{} operators, {} of which nothing is said\n", count, none);
  return none == 0 ? 0 : 1;
}

}  // namespace ge::adcheck
