#include "passes/parallel/rules/rule_text.h"

#include <algorithm>

#include "passes/kit/fn.h"

namespace ge::parallel {
namespace {

constexpr int kMostSteps = 8;  // back to what a value is made of

bool IsZeroValue(const ge_graph* g, uint32_t value, int steps) {
  const ge_value& v = *GE_VALUE(g, value);
  if ((v.flags & GE_VALUE_CONSTANT) != 0) {
    const auto* bytes = static_cast<const char*>(v.data);
    return bytes != nullptr && std::all_of(bytes, bytes + v.data_bytes, [](char b) { return !b; });
  }
  if (steps == 0 || v.producer == UINT32_MAX) return false;
  const ge_node& n = *GE_NODE(g, v.producer);
  const std::string_view op = plugin::View(n.op);
  if (n.domain.n != 0) return false;
  if (op == "ConstantOfShape") return n.n_attr == 0;
  const bool moves = op == "Expand" || op == "Reshape" || op == "Identity" || op == "Unsqueeze";
  return moves && IsZeroValue(g, n.in[0], steps - 1);
}

}  // namespace

int64_t RuleNode::Int(const char* name, int64_t otherwise) const {
  return plugin::AttrInt(n, name, otherwise);
}

std::string RuleNode::Text(const char* name) const {
  return std::string(plugin::AttrString(n, name));
}

size_t RuleNode::Axis(const char* name, int64_t otherwise, size_t rank) const {
  const int64_t axis = Int(name, otherwise);
  return static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis);
}

std::optional<std::vector<int64_t>> RuleNode::Ints(size_t input) const {
  std::vector<int64_t> numbers;
  if (!Has(input) || !passes::KnownInts(*GE_VALUE(g, n.in[input]), &numbers)) return std::nullopt;
  return numbers;
}

bool RuleNode::IsZero(size_t input) const {
  return Has(input) && IsZeroValue(g, n.in[input], kMostSteps);
}

std::string Letters(size_t n, size_t first) {
  std::string text;
  for (size_t d = 0; d < n; ++d) text += Letter(first + d);
  return text;
}

std::string Broadcast(const std::vector<int64_t>& x, const std::vector<int64_t>& y) {
  std::string text;
  for (size_t d = 0; d < x.size(); ++d) {
    const size_t at = y.size() - x.size() + d;
    text += x[d] == y[at] ? Letter(at) : '.';
  }
  return text;
}

}  // namespace ge::parallel
