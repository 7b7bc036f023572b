#include "passes/parallel/rules.h"

#include <algorithm>
#include <string>

#include "ge/ge_plugin.hpp"
#include "passes/kit/fn.h"
#include "passes/parallel/rules/rule_text.h"

namespace ge::parallel {
namespace {

std::string OfShape(const RuleNode&) { return {}; }

struct Rule {
  // By one of both.
  Rule(const char* said) : text(said) {}
  Rule(RuleText found) : code(found) {}
  const char* text = nullptr;
  RuleText code = nullptr;
};

struct Line {
  const char* domain;
  const char* op;
  Rule rule;
  Terms terms;
};

const Line kLines[] = {
#define GE_SPLIT(domain, op, rule, terms) {domain, #op, rule, Terms::terms},
#include "passes/parallel/rules.def"
#undef GE_SPLIT
};

const Line* LineOf(const ge_node& node) {
  const auto* line = std::find_if(std::begin(kLines), std::end(kLines), [&](const Line& l) {
    return plugin::View(node.domain) == l.domain && plugin::View(node.op) == l.op;
  });
  return line == std::end(kLines) || node.n_body > 0 || node.n_effect > 0 ? nullptr : line;
}

Operands OperandsOf(const ge_graph* graph, const ge_node& n) {
  Operands o;
  for (uint32_t i = 0; i < n.n_in; ++i) {
    o.in.push_back(DimsOf(graph, n.in[i]));
    o.omitted.push_back(n.in[i] == 0);
  }
  for (uint32_t i = 0; i < n.n_out; ++i) {
    o.out.push_back(DimsOf(graph, n.out[i]));
    o.unmade.push_back(n.out[i] == 0);
  }
  return o;
}

std::string TextOf(const Line& line, const RuleNode& node) {
  if (line.rule.code == nullptr) return line.rule.text;
  return node.o.out.empty() || node.o.unmade[0] ? std::string() : line.rule.code(node);
}

// A quotient of whole numbers is rounded, so that it has no terms.
Terms TermsOf(const Line& line, const ge_graph* graph, const ge_node& node) {
  if (line.terms != Terms::kQuotient) return line.terms;
  const bool rounded = !passes::IsFloat(GE_VALUE(graph, node.out[0])->type.dtype);
  return rounded ? Terms::kNone : Terms::kFirst;
}

}  // namespace

std::vector<int64_t> DimsOf(const ge_graph* graph, uint32_t value) {
  if (value == 0) return {};
  const ge_type& t = GE_VALUE(graph, value)->type;
  return {t.dims, t.dims + std::max(0, t.rank)};
}

std::string NodeText(const ge_node& node) {
  const std::string domain(plugin::View(node.domain)), name(plugin::View(node.name));
  return domain + (domain.empty() ? "" : ".") + std::string(plugin::View(node.op)) +
         (name.empty() ? "" : " '" + name + "'");
}

Split SplitOf(const ge_graph* graph, const ge_node& node, int64_t shares) {
  return SplitOf(graph, node, shares, nullptr);
}

Split SplitOf(const ge_graph* graph, const ge_node& node, int64_t shares, const Change& change) {
  Split split;
  const Line* line = LineOf(node);
  if (line == nullptr) return split;
  split.known = true;
  split.terms = TermsOf(*line, graph, node);
  if (line->rule.code == RuleText{OfShape}) {
    split.of_shape = true;
    return split;
  }
  const Operands o = OperandsOf(graph, node);
  std::string text = TextOf(*line, {graph, node, o});
  if (change) text = change(std::move(text));
  if (!text.empty()) split.ways = WaysOf(text, o, shares);
  return split;
}

std::vector<Way> WaysOfTerms(const ge_node& node, Terms terms) {
  if (terms == Terms::kNone || node.n_out != 1) return {};
  std::vector<Way> ways;
  const Way whole{std::vector<int>(node.n_in, kWhole), {kTerm}};
  if (terms == Terms::kAll) return {{std::vector<int>(node.n_in, kTerm), {kTerm}}};
  for (uint32_t i = 0; i < (terms == Terms::kOne ? node.n_in : 1); ++i) {
    ways.push_back(whole);
    ways.back().in[i] = kTerm;
  }
  return ways;
}

std::vector<std::string> RuleNames() {
  std::vector<std::string> names;
  for (const Line& l : kLines)
    names.push_back(*l.domain == 0 ? l.op : std::string(l.domain) + "." + l.op);
  return names;
}

}  // namespace ge::parallel
