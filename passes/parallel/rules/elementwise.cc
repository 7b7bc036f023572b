// Operators that make each element of its own.
#include "passes/parallel/rules/rule_text.h"

namespace ge::parallel {

std::string Elementwise(const RuleNode& node) {
  if (node.out().size() > kMostDims) return {};
  std::string text;
  for (size_t i = 0; i < node.o.in.size(); ++i) {
    if (node.in(i).size() > node.out().size()) return {};
    text += (i > 0 ? "," : "") + Broadcast(node.in(i), node.out());
  }
  text += "->";
  for (size_t i = 0; i < node.o.out.size(); ++i) {
    text += (i > 0 ? "," : "") + Letters(node.out(i).size());
  }
  return text;
}

std::string Alike(const RuleNode& node) {
  if (node.in(0).size() > kMostDims || node.in(0) != node.out()) return {};
  const std::string dims = Letters(node.in(0).size());
  std::string text = dims;
  for (size_t i = 1; i < node.o.in.size(); ++i) text += ",-";
  text += " ->" + dims;
  for (size_t i = 1; i < node.o.out.size(); ++i) text += "," + dims;
  return text;
}

std::string Dropout(const RuleNode& node) { return node.Has(2) ? std::string() : Alike(node); }

}  // namespace ge::parallel
