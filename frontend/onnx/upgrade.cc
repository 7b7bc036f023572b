#include "frontend/onnx/upgrade.h"

#include <algorithm>

namespace ge {
namespace {

const UpgradeRule* FindRule(const Node& n) {
  if (!n.domain.empty()) return nullptr;
  for (const UpgradeRule& rule : UpgradeRules()) {
    if (rule.op == n.op) return &rule;
  }
  return nullptr;
}

Status UpgradeNode(NodeUpgrade* u) {
  const Node& n = u->node;
  if (n.domain == "ai.onnx.ml") return UpgradeMachineLearning(*u);
  if (!n.domain.empty() || u->opset >= kCanonicalOpset) return {};
  if (u->opset < 7) GE_RETURN_IF_ERROR(UpgradeFirstOpsets(*u));
  const UpgradeRule* rule = FindRule(n);
  return rule && rule->adapt && u->opset < rule->since ? rule->adapt(*u) : Status();
}

class FunctionUpgrade {
 public:
  FunctionUpgrade(ImportState* s, FunctionId fn, std::vector<ValueHint> params)
      : s_(s), fn_(fn), hints_(f().values.size()), read_(f().values.size()) {
    for (size_t v = 1; v < hints_.size(); ++v) {
      const Type& t = f().values[v].type;
      if (!t.is_tensor()) continue;
      hints_[v] = {t.dtype, t.ranked ? static_cast<int>(t.rank()) : -1};
      auto rank = s->declared_ranks.find({fn, static_cast<ValueId>(v)});
      if (rank != s->declared_ranks.end()) hints_[v].rank = rank->second;
    }
    for (size_t i = 0; i < params.size() && i < f().params.size(); ++i) {
      Merge(f().params[i], params[i]);
    }
    for (const Node& n : f().nodes) {
      for (const ValueId v : n.inputs) read_[v] = true;
    }
    for (const ValueId v : f().results) read_[v] = true;
  }

  Status Run() {
    std::vector<Node> old = std::move(f().nodes);
    f().nodes.clear();
    for (Node& n : old) {
      std::vector<std::vector<ValueHint>> results;
      for (const Callee& c : n.callees) {
        GE_RETURN_IF_ERROR(UpgradeBody(n, c, &results).AtNode(NodeLabel(n)));
      }
      HintOutputsOf(n, results);
      const auto own = s_->node_opsets.find({fn_, n.id});
      const OpsetPair opsets = own == s_->node_opsets.end() ? s_->opsets() : own->second;
      NodeUpgrade u(&s_->graph, fn_, opsets, &hints_, read_, std::move(n));
      GE_RETURN_IF_ERROR(UpgradeNode(&u).AtNode(NodeLabel(u.node)));
      auto& nodes = f().nodes;
      std::move(u.before.begin(), u.before.end(), std::back_inserter(nodes));
      nodes.push_back(std::move(u.node));
      std::move(u.after.begin(), u.after.end(), std::back_inserter(nodes));
    }
    return {};
  }

  std::vector<ValueHint> Results() {
    std::vector<ValueHint> hints;
    for (ValueId v : f().results) hints.push_back(hints_[v]);
    return hints;
  }

 private:
  Function& f() { return s_->graph.fn(fn_); }

  void Merge(ValueId v, ValueHint hint) {
    if (hints_[v].dtype == DType::kUndefined) hints_[v].dtype = hint.dtype;
    if (hints_[v].rank < 0) hints_[v].rank = hint.rank;
  }

  // Depth is bounded by the limit on nested graphs; each body is called by one node only.
  Status UpgradeBody(const Node& n, const Callee& c, std::vector<std::vector<ValueHint>>* results) {
    std::vector<ValueHint> params;
    size_t first = n.op == "If" ? 1 : 0;
    for (size_t i = first; i < n.inputs.size(); ++i) {
      params.push_back(hints_[n.inputs[i]]);
      if (n.op == "Scan") params.back().rank = -1;  // a scanned input loses its axis
    }
    FunctionUpgrade body(s_, c.fn, std::move(params));
    GE_RETURN_IF_ERROR(body.Run());
    results->push_back(body.Results());
    return {};
  }

  void HintOutputsOf(const Node& n, const std::vector<std::vector<ValueHint>>& results) {
    if (results.empty()) {
      std::vector<ValueHint> declared;
      for (ValueId v : n.outputs) declared.push_back(hints_[v]);
      HintOutputs(s_->graph, n, &hints_);
      for (size_t i = 0; i < n.outputs.size(); ++i) {
        ValueHint inferred = std::exchange(hints_[n.outputs[i]], declared[i]);
        if (n.outputs[i] != 0) Merge(n.outputs[i], inferred);
      }
      return;
    }
    size_t extra = n.op == "Loop" ? 1 : 0;  // the condition is no output
    for (size_t i = 0; i < n.outputs.size() && i + extra < results[0].size(); ++i) {
      if (n.outputs[i] == 0) continue;
      ValueHint hint = results[0][i + extra];
      if (n.op != "If") hint.rank = -1;  // scan outputs gain an axis
      Merge(n.outputs[i], hint);
    }
  }

  ImportState* s_;
  FunctionId fn_;
  std::vector<ValueHint> hints_;
  std::vector<bool> read_;  // by a node of the function as it was, or as its result
};

}  // namespace

int64_t OldestOpsetOf(const OpDef& op) {
  for (const UpgradeRule& rule : UpgradeRules()) {
    if (rule.op == op.name) return rule.since;
  }
  return op.since_version;
}

Status UpgradeToCanonical(ImportState* state, FunctionId fn) {
  return FunctionUpgrade(state, fn, {}).Run();
}

}  // namespace ge
