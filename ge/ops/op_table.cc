#include "ge/ops/op_table.h"

#include <fmt/format.h>

namespace ge {

Status OpTable::Add(OpDef op, const std::string& plugin) {
  if (FindOp(op.domain, op.name) != nullptr) {
    return Status(Code::kInvalidArgument,
                  fmt::format("plugin '{}' brings operator {}, which is built in; give it a domain "
                              "of its own",
                              plugin, FullName(op)));
  }
  const auto [at, fresh] = at_.try_emplace({op.domain, op.name}, nullptr, plugin);
  if (!fresh) {
    return Status(Code::kInvalidArgument,
                  fmt::format("plugin '{}' brings operator {}, which '{}' has brought already; "
                              "name one of them",
                              plugin, FullName(op), at->second.second));
  }
  at->second.first = &ops_.emplace_back(std::move(op));
  return {};
}

const OpDef* OpTable::Find(std::string_view domain, std::string_view name) const {
  const auto at = at_.find({domain, name});
  return at == at_.end() ? nullptr : at->second.first;
}

const OpDef* FindOp(const Graph& graph, const Node& node) {
  const OpDef* op = FindOp(node.domain, node.op);
  return op == nullptr && graph.ops != nullptr ? graph.ops->Find(node.domain, node.op) : op;
}

}  // namespace ge
