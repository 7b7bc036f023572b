#include "ge/compile/states/add_states.h"

#include <fmt/format.h>

#include <set>
#include <utility>
#include <vector>

#include "ge/ops/op.h"

namespace ge {
namespace {

Node StateNode(Function* f, const char* op, StateId state, const Node& of) {
  Node n;
  n.id = f->next_node_id++;
  n.domain = "ge";
  n.op = op;
  n.effects = {{EffectKind::kState, state, 0}};
  n.loc = of.loc;
  n.origin = {{"add-states", {NodeLabel(of)}}};
  return n;
}

Const Zeros(const Type& type, const std::string& name) {
  Const c;
  c.name = name;
  c.type = type;
  c.splat.assign(static_cast<size_t>(DTypeBits(type.dtype) + 7) / 8, std::byte{0});
  return c;
}

class Adder {
 public:
  Adder(Graph* graph, Function* f) : graph_(*graph), f_(*f) {
    for (const State& s : graph->states) names_.insert(s.name);
  }

  Status Run() {
    std::vector<Node> nodes;
    for (Node& n : f_.nodes) {
      const OpDef* op = FindOp(graph_, n);
      const bool bare = op && op->states && n.inputs.size() + op->states == op->inputs.size();
      if (!bare) {
        nodes.push_back(std::move(n));
        continue;
      }
      GE_RETURN_IF_ERROR(AddAround(*op, std::move(n), &nodes));
    }
    f_.nodes = std::move(nodes);
    return {};
  }

 private:
  Status AddAround(const OpDef& op, Node n, std::vector<Node>* nodes) {
    GE_RETURN_IF_ERROR(CheckAttrsAgainstOp(n, op));  // the rule relies on them
    GE_ASSIGN_OR_RETURN(const std::vector<Type> types, op.state_types(graph_, n));
    n.outputs.resize(op.outputs.size() - op.states, 0);
    std::vector<Node> behind;
    for (uint32_t i = 0; i < op.states; ++i) {
      const Port& port = op.inputs[op.inputs.size() - op.states + i];
      const StateId state = NewState(NodeLabel(n) + "." + port.name, types[i]);
      Node read = StateNode(&f_, "Read", state, n), assign = StateNode(&f_, "Assign", state, n);
      read.outputs = {AddValue(&f_, types[i])};
      n.inputs.push_back(read.outputs[0]);
      n.outputs.push_back(AddValue(&f_, types[i]));
      assign.inputs = {n.outputs.back()};
      nodes->push_back(std::move(read));
      behind.push_back(std::move(assign));
    }
    nodes->push_back(std::move(n));
    for (Node& assign : behind) nodes->push_back(std::move(assign));
    graph_.opsets.emplace("ge", 1);
    return {};
  }

  StateId NewState(std::string name, const Type& type) {
    for (int k = 2; !names_.insert(name).second; ++k) name = fmt::format("{}_{}", name, k);
    State s;
    s.name = name;
    s.type = type;
    s.init = graph_.AddConst(Zeros(type, name));
    graph_.states.push_back(std::move(s));
    return static_cast<StateId>(graph_.states.size() - 1);
  }

  Graph& graph_;
  Function& f_;
  std::set<std::string> names_;
};

}  // namespace

Status AddStates(Graph* graph) {
  if (graph->ops == nullptr) return {};
  for (size_t f = 1; f < graph->functions.size(); ++f) {
    GE_RETURN_IF_ERROR(Adder(graph, &graph->functions[f]).Run());
  }
  return {};
}

}  // namespace ge
