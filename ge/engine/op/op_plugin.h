// The operators of a plugin (ge_plugin_op.h) as records of the operator table, so every stage sees
// them like the built-in ones. The answers of the plugin's rules are checked here. Any thread may
// call the records.
#pragma once

#include <memory>

#include "ge/base/status.h"
#include "ge/engine/plugin/plugin.h"
#include "ge/ge_plugin_op.h"
#include "ge/ops/op_table.h"

namespace ge {

// As PassContext::infer_node: types the nodes added by decompositions.
using InferNodeHook = Status (*)(Graph* graph, FunctionId fn, size_t node);

// PLUGIN_ERROR where a record is not legal, INVALID_ARGUMENT where its operator is there already.
Status AddOps(const Plugin& plugin, InferNodeHook infer_node, OpTable* table);

// An operator of a plugin, with the data for calling its rules.
struct PluginOp {
  ge_op_def def{};
  std::string plugin;  // for messages: its path
  std::string name;    // "acme.Swish"
  InferNodeHook infer_node = nullptr;
};

// ---- the parts of AddOps, each in its own file ----
// Checks and copies a record of the plugin's array.
Result<std::shared_ptr<const PluginOp>> ReadPluginOp(const Plugin& plugin, uint32_t index);
// For PluginCall: "plugin './acme.so', infer of acme.Swish".
std::string RuleText(const PluginOp& op, std::string_view rule);
// The Status of a failed rule.
Status FromRule(const PluginOp& op, std::string_view rule, ge_rc rc, const ge_err& err);
Status InferByPlugin(const PluginOp& op, InferContext& context);
Result<std::vector<Type>> StatesByPlugin(const PluginOp& op, const Graph& graph, const Node& node);
Work WorkByPlugin(const PluginOp& op, const Node& node, std::span<const Type> in,
                  std::span<const Type> out);
// Empty where the plugin's rule has no answer; a failure is logged.
std::vector<ValueId> DecomposeByPlugin(const PluginOp& op, Transaction& transaction, FunctionId fn,
                                       const Node& node);
// Applies the grad (by_output) or jvp rule to a node placed ahead of its id in function `fn`:
// gradients of the outputs give those of the inputs, or tangents of the inputs those of the
// outputs; 0 = zero. UNSUPPORTED where the rule has none for this node. A failed rule's additions
// are taken out again.
Result<std::vector<ValueId>> DeriveByPlugin(const PluginOp& op, bool by_output,
                                            Transaction& transaction, FunctionId fn,
                                            const Node& node, const std::vector<ValueId>& given);
// Calls `way` for each way of sharding that the rule states for a node.
Status ShardByPlugin(const PluginOp& op, const Graph& graph, const Function& function,
                     const Node& node, void* to, ge_rc (*way)(void* to, const ge_shard*));
Status RunPluginKernel(const PluginOp& op, KernelCall& call);

}  // namespace ge
