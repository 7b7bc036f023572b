// What a pass may ask: prices, and the rules of operators.
#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "ge/engine/from_abi.h"
#include "ge/engine/op/op_plugin.h"
#include "ge/engine/pass/pass_edit.h"
#include "ge/engine/plugin/record.h"
#include "ge/ops/op.h"

namespace ge {
Status PassEdit::Price(FunctionId fn, const uint32_t* nodes, uint32_t n, double* ns) {
  GE_RETURN_IF_ERROR(WantFunction(fn));
  if (n > 0 && !nodes) return NotLegal("nodes are to be priced, but not said where they are");
  std::vector<NodeId> ids;
  for (uint32_t i = 0; i < n; ++i) {
    GE_RETURN_IF_ERROR(WantNode(fn, nodes[i]).status());
    ids.push_back(nodes[i]);
  }
  if (!context_.price) return Status(Code::kUnsupported, "no engine is there to be asked");
  GE_ASSIGN_OR_RETURN(*ns, context_.price(graph(), fn, ids));
  return {};
}

// The node as it would be in the function that the rule adds to.
Result<Node> PassEdit::AsIn(const ge_rule& rule, const Node& node) {
  Node copy = node;
  const FunctionId to = rule.to_fn ? rule.to_fn : rule.fn;
  copy.id = rule.before;
  if (rule.before) GE_RETURN_IF_ERROR(WantNode(to, rule.before).status());
  if (to != rule.fn && !rule.in_value) {
    return NotLegal(
        "a rule is to add to another function; wanted values there for the node's inputs");
  }
  for (size_t i = 0; rule.in_value && i < copy.inputs.size(); ++i) {
    GE_RETURN_IF_ERROR(WantValue(to, rule.in_value[i], copy.inputs[i] == 0));
    copy.inputs[i] = rule.in_value[i];
  }
  for (size_t i = 0; i < copy.outputs.size(); ++i) {
    const ValueId given = rule.out_value ? rule.out_value[i] : 0;
    if (given) GE_RETURN_IF_ERROR(WantValue(to, given));
    if (given) copy.outputs[i] = given;
    if (given || to == rule.fn || copy.outputs[i] == 0) continue;
    // A type to go by; who reads it all the same reads what nothing makes.
    const Type type = graph().fn(rule.fn).value(copy.outputs[i]).type;
    Outdate(to);
    copy.outputs[i] = AddValue(&t_.mutable_graph()->fn(to), type);
  }
  return copy;
}

ge_rc PassEdit::AskRule(const ge_rule* given) {
  bool found = true;
  ge_rc rc = GE_OK;
  if (undo_) {
    const bool known = given && given->h.size >= kFirstSize<ge_rule>;
    const FunctionId to = !known ? 0 : given->to_fn ? given->to_fn : given->fn;
    rc = EditOrUndo(AllOf(to), [&]() -> Status {
      GE_RETURN_IF_ERROR(ApplyRule(given, &found));
      return found && given->made ? Resettle(to) : Status();
    });
    if (rc != GE_OK && known && given->made) std::fill_n(given->made, given->n_made, 0u);
  } else {
    rc = Ask([&] { return ApplyRule(given, &found); });
  }
  return rc == GE_OK && !found ? static_cast<ge_rc>(GE_NOT_FOUND) : rc;
}

Status PassEdit::ApplyRule(const ge_rule* given, bool* found) {
  if (!given) return NotLegal("a rule is given as NULL");
  GE_ASSIGN_OR_RETURN(const ge_rule rule, ReadRecord(given, "a rule"));
  GE_ASSIGN_OR_RETURN(const Node* node, WantNode(rule.fn, rule.node));
  if (rule.to_fn) GE_RETURN_IF_ERROR(WantFunction(rule.to_fn));
  if (rule.kind < GE_RULE_DECOMPOSE || rule.kind > GE_RULE_JVP) {
    return NotLegal(fmt::format("a rule of kind {} is asked for", rule.kind));
  }
  const OpDef* op = FindOp(graph(), *node);
  const bool plain = node->effects.empty() && node->callees.empty();
  if (rule.kind == GE_RULE_DECOMPOSE) {
    *found = plain && op && op->decompose;
    return *found && rule.made ? Decompose(rule, *op, Node(*node)) : Status();
  }
  const ge_op_def* def = plain && op && op->of_plugin ? &op->of_plugin->def : nullptr;
  *found = def && (rule.kind == GE_RULE_GRAD ? def->grad != nullptr : def->jvp != nullptr);
  return *found && rule.made ? Derive(rule, *op, Node(*node)) : Status();
}

Status PassEdit::Decompose(const ge_rule& rule, const OpDef& op, const Node& node) {
  GE_ASSIGN_OR_RETURN(const Node copy, AsIn(rule, node));
  const FunctionId to = rule.to_fn ? rule.to_fn : rule.fn;
  if (rule.n_made != node.outputs.size()) return NotLegal("a rule's results have another number");
  t_.mutable_graph()->opsets.emplace("", kCanonicalOpset);
  Edited(to);
  retype_ = true;
  const NodeId first = graph().fn(to).next_node_id;
  const std::vector<ValueId> made = op.decompose(t_, to, copy);
  if (made.size() == node.outputs.size()) {
    std::copy(made.begin(), made.end(), rule.made);
    return {};
  }
  std::vector<NodeId> left;
  for (const Node& n : graph().fn(to).nodes) {
    if (n.id >= first) left.push_back(n.id);
  }
  for (const NodeId id : left) t_.Erase(to, id);
  return Status(Code::kUnsupported, "this node has no decomposition");
}

Status PassEdit::Derive(const ge_rule& rule, const OpDef& op, const Node& node) {
  GE_ASSIGN_OR_RETURN(const Node copy, AsIn(rule, node));
  const FunctionId to = rule.to_fn ? rule.to_fn : rule.fn;
  const bool by_output = rule.kind == GE_RULE_GRAD;
  const size_t n_given = by_output ? node.outputs.size() : node.inputs.size();
  const size_t n_made = by_output ? node.inputs.size() : node.outputs.size();
  if (rule.n_given != n_given || rule.n_made != n_made) {
    return NotLegal(fmt::format("a rule is given {} values and room for {}; wanted {} and {}",
                                rule.n_given, rule.n_made, n_given, n_made));
  }
  GE_RETURN_IF_ERROR(WantValues(to, rule.given, rule.n_given, "given values"));
  Edited(to);
  retype_ = true;
  const Result<std::vector<ValueId>> made = DeriveByPlugin(*op.of_plugin, by_output, t_, to, copy,
                                                           {rule.given, rule.given + rule.n_given});
  if (!made.ok()) {
    constexpr size_t kMostTold = 8;
    if (!undo_ && rule_failures_.size() < kMostTold) rule_failures_.push_back(made.status());
    return made.status();
  }
  std::copy(made->begin(), made->end(), rule.made);
  return {};
}

ge_rc PassEdit::AskShard(FunctionId fn, NodeId node, void* to,
                         ge_rc (*way)(void*, const ge_shard*)) {
  bool found = false;
  const ge_rc rc = Ask([&]() -> Status {
    GE_ASSIGN_OR_RETURN(const Node* n, WantNode(fn, node));
    const OpDef* op = FindOp(graph(), *n);
    found = op && op->of_plugin && op->of_plugin->def.shard;
    if (!found) return {};
    return ShardByPlugin(*op->of_plugin, graph(), graph().fn(fn), *n, to, way);
  });
  return rc == GE_OK && !found ? static_cast<ge_rc>(GE_NOT_FOUND) : rc;
}

Status PassEdit::WorkOfNode(FunctionId fn, NodeId node, double* flops, double* bytes) {
  GE_ASSIGN_OR_RETURN(const Node* n, WantNode(fn, node));
  const OpDef* op = FindOp(graph(), *n);
  if (!op) return Status(Code::kUnsupported, "nobody knows the operator");
  const Function& f = graph().fn(fn);
  std::vector<Type> in, out;
  for (const ValueId v : n->inputs) in.push_back(f.value(v).type);
  for (const ValueId v : n->outputs) out.push_back(f.value(v).type);
  for (size_t i = 0; i < in.size() + out.size(); ++i) {
    const bool input = i < in.size();
    const ValueId v = input ? n->inputs[i] : n->outputs[i - in.size()];
    if (v && !f.value(v).type.is_static()) {
      return Status(Code::kUnsupported, "sizes of the node are not known");
    }
  }
  const Work work = WorkOf(*op, *n, in, out);
  *flops = work.flops;
  *bytes = work.bytes;
  return {};
}

}  // namespace ge
