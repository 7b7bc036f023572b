// The operators of a plugin (ge_plugin_op.h) as records of the operator table, so that every stage
// sees them as it sees the built-in ones. What a rule of the plugin gives is checked here. The
// records may be called by any thread.
#pragma once

#include <memory>

#include "ge/base/status.h"
#include "ge/engine/plugin/plugin.h"
#include "ge/ge_plugin_op.h"
#include "ge/ops/op_table.h"

namespace ge {

// As PassContext::infer_node: types what decompositions add.
using InferNodeHook = Status (*)(Graph* graph, FunctionId fn, size_t node);

// PLUGIN_ERROR where a record is not legal, INVALID_ARGUMENT where its operator is there already.
Status AddOps(const Plugin& plugin, InferNodeHook infer_node, OpTable* table);

// An operator of a plugin as its rules are called.
struct PluginOp {
  ge_op_def def{};
  std::string plugin;  // for messages: its path
  std::string name;    // "acme.Swish"
  InferNodeHook infer_node = nullptr;
};

// ---- the parts of AddOps, each in its own file ----
// Checks and copies a record of an array of the plugin's.
Result<std::shared_ptr<const PluginOp>> ReadPluginOp(const Plugin& plugin, uint32_t index);
// For PluginCall: "plugin './acme.so', infer of acme.Swish".
std::string RuleText(const PluginOp& op, std::string_view rule);
// What a rule that failed says.
Status FromRule(const PluginOp& op, std::string_view rule, ge_rc rc, const ge_err& err);
Status InferByPlugin(const PluginOp& op, InferContext& context);
Result<std::vector<Type>> StatesByPlugin(const PluginOp& op, const Graph& graph, const Node& node);
Work WorkByPlugin(const PluginOp& op, const Node& node, std::span<const Type> in,
                  std::span<const Type> out);
// Empty where the plugin's rule has no answer; a failure is logged.
std::vector<ValueId> DecomposeByPlugin(const PluginOp& op, Transaction& transaction, FunctionId fn,
                                       const Node& node);
// Applies the grad (by_output) or jvp rule to a node as it would be in function `fn`, ahead of its
// id: from gradients of the outputs those of the inputs, or from tangents of the inputs those of
// the outputs; 0 = zero. UNSUPPORTED where the rule has none for this node. What it added is taken
// out again where it fails.
Result<std::vector<ValueId>> DeriveByPlugin(const PluginOp& op, bool by_output,
                                            Transaction& transaction, FunctionId fn,
                                            const Node& node, const std::vector<ValueId>& given);
// What shard says of a node, each way given to `way`.
Status ShardByPlugin(const PluginOp& op, const Graph& graph, const Function& function,
                     const Node& node, void* to, ge_rc (*way)(void* to, const ge_shard*));
Status RunPluginKernel(const PluginOp& op, KernelCall& call);

}  // namespace ge
