#include "tools/adcheck/op_checks.h"

#include <fmt/format.h>

namespace ge::adcheck {
namespace {

// Outputs of floats, by name.
std::vector<std::string> FloatOutputs(const Graph& graph) {
  std::vector<std::string> names;
  const Function& f = graph.fn(graph.entries[0].fn);
  for (const ValueId v : f.results) {
    if (Thing::IsReal(f.value(v).type.dtype)) names.push_back(f.value(v).name);
  }
  return names;
}

// The same model with one result that depends on every output, bent so that second derivatives of
// one meet those of the others.
std::string Joined(const std::string& text, const std::vector<std::string>& outputs) {
  std::string nodes, terms, more = text;
  for (const std::string& y : outputs) {
    nodes += fmt::format("  {0}s = Sin({0})\n  {0}p = Mul({0}, {0}s)\n", y);
    nodes += fmt::format("  {0}t = ReduceSum({0}p, _) {{keepdims=0}}\n", y);
    terms += (terms.empty() ? "" : ", ") + y + "t";
  }
  nodes += fmt::format("  loss = Sum({})\n", terms);
  const size_t arrow = more.find(" -> ("), close = more.find(')', arrow);
  more.replace(arrow, close - arrow + 1, " -> (loss)");
  const size_t end = more.rfind("}\nentry");
  more.insert(end, nodes);
  return more;
}

}  // namespace

const OpRule* FindOpRule(const std::vector<OpRule>& rules, const std::string& name) {
  for (const OpRule& r : rules) {
    if (r.name == name) return &r;
  }
  return nullptr;
}

bool WantsSizes(const CheckResult& result) {
  return result.refused && result.failure.find("not known") != std::string::npos;
}

Result<std::vector<OpCheck>> ChecksOf(const Case& sample, const OpRule* rule,
                                      const Options& options, std::mt19937_64& random) {
  CheckSpec spec;
  spec.order = options.order;
  spec.inputs = FillInputs(sample, random);
  std::string reason;
  for (const uint32_t i : Filled(sample)) {
    if (rule == nullptr || rule->Of(i, &reason) == InputRule::kRule) {
      spec.wrt.push_back(fmt::format("x{}", i));
    }
  }
  std::vector<OpCheck> checks;
  if (spec.wrt.empty()) return checks;
  for (size_t i = 0; i < sample.slopes.size() && i < spec.wrt.size(); ++i) {
    spec.expected[spec.wrt[i]].f = sample.slopes[i];
    if (i < sample.bends.size()) spec.bends[spec.wrt[i]].f = sample.bends[i];
  }
  spec.text = TextOf(sample, false);
  GE_ASSIGN_OR_RETURN(const Graph graph, ParseAndInfer(spec.text));
  const std::vector<std::string> outputs = FloatOutputs(graph);
  for (const std::string& y : outputs) {
    spec.of = y;
    checks.push_back({y, false, spec});
  }
  const std::string symbolic = TextOf(sample, true);
  const bool loads = !sample.only_static && symbolic != spec.text && ParseAndInfer(symbolic).ok();
  for (const std::string& y : outputs) {
    if (!loads) break;
    spec.of = y;
    spec.text = symbolic;
    checks.push_back({y + " of unknown sizes", true, spec});
  }
  if (outputs.size() > 1 && sample.slopes.empty()) {
    spec.of = "loss";
    spec.text = Joined(TextOf(sample, false), outputs);
    checks.push_back({"all outputs", false, spec});
  }
  return checks;
}

}  // namespace ge::adcheck
