#include "ge/control/host_op.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace ge {

#define GE_HOST_OP_ENTRY(stem) extern const HostOp ge_host_##stem;
#include "ge/control/host_ops.inc"
#undef GE_HOST_OP_ENTRY

namespace {

const HostOp* Find(std::string_view domain, std::string_view name) {
  static const HostOp* const kAll[] = {
#define GE_HOST_OP_ENTRY(stem) &ge_host_##stem,
#include "ge/control/host_ops.inc"
#undef GE_HOST_OP_ENTRY
  };
  // Every node of every plan is asked about, and few are such.
  static const auto* const by_name = [] {
    auto* map = new std::unordered_multimap<std::string_view, const HostOp*>;
    for (const HostOp* op : kAll) map->emplace(op->name, op);
    return map;
  }();
  const auto [first, end] = by_name->equal_range(name);
  for (auto it = first; it != end; ++it) {
    if (it->second->domain == domain) return it->second;
  }
  return nullptr;
}

// Sequences, optionals and strings.
bool HasNumbersOnly(const Function& fn, const Node& node) {
  const auto number = [&](ValueId v) {
    const Type& t = fn.value(v).type;
    return v == 0 || (t.is_tensor() && t.dtype != DType::kString);
  };
  return std::all_of(node.inputs.begin(), node.inputs.end(), number) &&
         std::all_of(node.outputs.begin(), node.outputs.end(), number);
}

}  // namespace

const HostOp* FindHostOp(const Function& fn, const Node& node) {
  const HostOp* op = Find(node.domain, node.op);
  const bool engines = op != nullptr && op->only_without_numbers && HasNumbersOnly(fn, node);
  return engines ? nullptr : op;
}

const OpDef* FindDataSized(const Graph& graph, const Node& node) {
  const OpDef* op = graph.ops == nullptr ? nullptr : FindOp(graph, node);
  return op != nullptr && op->data_sized ? op : nullptr;
}

bool IsHostOnly(std::string_view domain, std::string_view name) {
  const HostOp* op = Find(domain, name);
  return op != nullptr && !op->only_without_numbers;
}

bool IsControl(const Node& node) {
  return !node.callees.empty() || (node.domain == "ge" && node.op == "CallIndirect");
}

}  // namespace ge
