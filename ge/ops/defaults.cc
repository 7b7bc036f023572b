#include "ge/ops/defaults.h"

#include <algorithm>
#include <bit>

namespace ge {
namespace {

bool SameDefault(const Attr::Payload& a, const Attr::Payload& b) {
  if (a.index() != b.index()) return false;
  if (const auto* x = std::get_if<int64_t>(&a)) return *x == std::get<int64_t>(b);
  if (const auto* x = std::get_if<double>(&a)) {
    return std::bit_cast<uint64_t>(*x) == std::bit_cast<uint64_t>(std::get<double>(b));
  }
  if (const auto* x = std::get_if<std::string>(&a)) return *x == std::get<std::string>(b);
  const auto* x = std::get_if<std::vector<int64_t>>(&a);
  return x != nullptr && *x == std::get<std::vector<int64_t>>(b);
}

bool IsDefault(const OpDef& op, const Attr& attr) {
  const AttrDef* def = FindAttrDef(op, attr.name);
  return def != nullptr && def->default_value && SameDefault(*def->default_value, attr.value);
}

void FillFrom(const OpDef* op, Node* node) {
  if (op == nullptr) return;
  const auto is_missing = [&](const AttrDef& d) {
    return d.default_value && node->attr(d.name) == nullptr;
  };
  const auto missing = std::count_if(op->attrs.begin(), op->attrs.end(), is_missing);
  if (missing == 0) return;
  node->attrs.reserve(node->attrs.size() + static_cast<size_t>(missing));
  for (const AttrDef& d : op->attrs) {
    if (is_missing(d)) node->attrs.push_back({d.name, *d.default_value});
  }
}

}  // namespace

void FillDefaults(Node* node) { FillFrom(FindOp(node->domain, node->op), node); }

void FillDefaults(const Graph& graph, Node* node) { FillFrom(FindOp(graph, *node), node); }

void FillDefaults(Graph* graph) {
  for (Function& f : graph->functions) {
    for (Node& n : f.nodes) FillDefaults(*graph, &n);
  }
}

bool IsDefault(const Node& node, const Attr& attr) {
  const OpDef* op = FindOp(node.domain, node.op);
  return op != nullptr && IsDefault(*op, attr);
}

std::vector<const Attr*> StatedAttrs(const Node& node) {
  std::vector<const Attr*> stated;
  stated.reserve(node.attrs.size());
  const OpDef* op = node.attrs.empty() ? nullptr : FindOp(node.domain, node.op);
  for (const Attr& a : node.attrs) {
    if (op == nullptr || !IsDefault(*op, a)) stated.push_back(&a);
  }
  return stated;
}

}  // namespace ge
