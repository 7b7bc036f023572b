#include "ge/ops/edit.h"

#include <algorithm>
#include <utility>

#include "ge/ops/defaults.h"

namespace ge {
namespace {

constexpr uint32_t kLast = UINT32_MAX;  // "after every other node"

void MergeNames(const std::vector<std::string>& names, std::vector<std::string>* into) {
  for (const std::string& n : names) {
    if (std::find(into->begin(), into->end(), n) == into->end()) into->push_back(n);
  }
}

// The user's names behind a node: its own and those that its origins list.
std::vector<std::string> UserNames(const Node& node) {
  std::vector<std::string> names;
  if (!node.name.empty()) names.push_back(node.name);
  for (const Origin& o : node.origin) MergeNames(o.from_nodes, &names);
  if (names.empty()) names.push_back(NodeLabel(node));
  return names;
}

}  // namespace

Transaction::Index& Transaction::IndexOf(FunctionId fn) {
  Function& f = graph_->fn(fn);
  auto [it, fresh] = index_.try_emplace(fn);
  Index& x = it->second;
  if (fresh) {
    x.producer = BuildProducers(f);
    x.params.resize(f.values.size());
    for (uint32_t i = 0; i < f.results.size(); ++i) x.results[f.results[i]].push_back(i);
    for (ValueId v : f.params) x.params[v] = true;
    x.at.Reserve(f.nodes.size());
    for (uint32_t i = 0; i < f.nodes.size(); ++i) {
      x.at.Set(f.nodes[i].id, i);
      f.next_node_id = std::max(f.next_node_id, f.nodes[i].id + 1);
    }
    first_new_.try_emplace(fn, f.next_node_id);
  }
  if (x.producer.size() < f.values.size()) {
    x.producer.resize(f.values.size(), -1);
    x.params.resize(f.values.size());
  }
  return x;
}

UseLists& Transaction::UsesOf(FunctionId fn) {
  Index& x = IndexOf(fn);
  const Function& f = graph_->fn(fn);
  if (!x.uses) x.uses.emplace(f);
  x.uses->Grow(f.values.size());
  return *x.uses;
}

Node* Transaction::Find(FunctionId fn, NodeId node) {
  const uint32_t at = IndexOf(fn).at.Find(node);
  return at == Places::kNone ? nullptr : &graph_->fn(fn).nodes[at];
}

const Node* Transaction::Producer(FunctionId fn, ValueId value) {
  const int32_t i = IndexOf(fn).producer[value];
  return i < 0 ? nullptr : &graph_->fn(fn).nodes[i];
}

std::vector<Use> Transaction::Readers(FunctionId fn, ValueId value) {
  UseLists& uses = UsesOf(fn);
  const Function& f = graph_->fn(fn);
  return uses.Of(value, [&](const Use& u) {
    const Node& n = f.nodes[u.node_index];
    return u.slot < n.inputs.size() && n.inputs[u.slot] == value;
  });
}

bool Transaction::IsResult(FunctionId fn, ValueId value) {
  const auto& results = IndexOf(fn).results;
  const auto places = results.find(value);
  return places != results.end() && !places->second.empty();
}

bool Transaction::IsParam(FunctionId fn, ValueId value) { return IndexOf(fn).params[value]; }

bool Transaction::CanReplace(FunctionId fn, ValueId from, ValueId to) {
  return !IsResult(fn, from) || (!IsParam(fn, to) && !IsResult(fn, to));
}

std::vector<ValueId> Transaction::AddNode(FunctionId fn, NodeId before, std::string domain,
                                          std::string op, std::vector<ValueId> inputs,
                                          std::vector<Attr> attrs, std::vector<Type> output_types,
                                          const std::vector<const Node*>& replaces) {
  Function& f = graph_->fn(fn);
  Node n;
  n.domain = std::move(domain);
  n.op = std::move(op);
  n.inputs = std::move(inputs);
  n.attrs = std::move(attrs);
  FillDefaults(*graph_, &n);
  Origin origin{pass_, {}};
  for (const Node* r : replaces) MergeNames(UserNames(*r), &origin.from_nodes);
  if (!replaces.empty()) {
    n.loc = replaces[0]->loc;
    n.hints = replaces[0]->hints;
  }
  n.origin.push_back(std::move(origin));
  for (Type& t : output_types) n.outputs.push_back(AddValue(&f, std::move(t)));
  std::vector<ValueId> outputs = n.outputs;
  Insert(fn, before, std::move(n));
  return outputs;
}

NodeId Transaction::Insert(FunctionId fn, NodeId before, Node n) {
  Index& x = IndexOf(fn);
  Function& f = graph_->fn(fn);
  n.id = f.next_node_id++;
  const auto at = static_cast<uint32_t>(f.nodes.size());
  f.nodes.push_back(std::move(n));  // first: no place waits for a node for which there is no memory
  const Node& made = f.nodes.back();
  for (uint32_t s = 0; s < made.inputs.size(); ++s) {
    if (made.inputs[s] && x.uses) UsesOf(fn).Add(made.inputs[s], Use{at, s});
  }
  for (ValueId v : made.outputs) {
    if (v) x.producer[v] = static_cast<int32_t>(at);
  }
  x.at.Set(made.id, at);
  x.added.emplace_back(at, before ? x.at.Find(before) : kLast);  // none = kLast
  CountEdit();
  touched_ = true;
  return made.id;
}

ValueId Transaction::AddConst(FunctionId fn, Const constant) {
  touched_ = true;
  return AddConstValue(graph_, &graph_->fn(fn), std::move(constant));
}

ValueId Transaction::ShareConst(FunctionId fn, ConstId c) {
  touched_ = true;
  Function& f = graph_->fn(fn);
  const ValueId v = AddValue(&f, graph_->consts[c].type, graph_->consts[c].name);
  f.value(v).constant = c;
  return v;
}

void Transaction::ReplaceUses(FunctionId fn, ValueId from, ValueId to) {
  if (from == to) return;
  Index& x = IndexOf(fn);
  Function& f = graph_->fn(fn);
  UseLists& uses = UsesOf(fn);
  for (const Use& u : Readers(fn, from)) {
    f.nodes[u.node_index].inputs[u.slot] = to;
  }
  uses.Move(from, to);
  const bool nameless = f.values[to].name.empty() && f.values[to].constant == 0;
  const bool takes = !IsResult(fn, to) && !x.params[to] && (IsResult(fn, from) || nameless);
  if (takes && !f.values[from].name.empty()) {
    f.values[to].name = std::exchange(f.values[from].name, {});
  }
  if (IsResult(fn, from)) {
    for (uint32_t place : x.results[from]) f.results[place] = to;
    auto& places = x.results[to];
    const std::vector<uint32_t> moved = std::move(x.results[from]);
    places.insert(places.end(), moved.begin(), moved.end());
    x.results.erase(from);
  }
  const Value &was = f.values[from], &now = f.values[to];
  // A constant's numbers are known, which may tell sizes of who reads it.
  types_hold_ &= now.constant == 0 && was.type == now.type && was.ints == now.ints;
  ++edits_;
}

void Transaction::ForgetName(FunctionId fn, ValueId value) {
  if (!IsResult(fn, value) && !IsParam(fn, value)) graph_->fn(fn).values[value].name.clear();
}

void Transaction::SetInput(FunctionId fn, NodeId node, uint32_t slot, ValueId to) {
  Node* n = Find(fn, node);
  if (!n) return;
  if (slot >= n->inputs.size()) n->inputs.resize(slot + 1, 0);
  n->inputs[slot] = to;
  Index& x = IndexOf(fn);
  if (to && x.uses) UsesOf(fn).Add(to, Use{x.at.Find(node), slot});
  Count(fn, node);
}

void Transaction::SetAttr(FunctionId fn, NodeId node, Attr attr) {
  Node* n = Find(fn, node);
  if (!n) return;
  Count(fn, node);
  for (Attr& a : n->attrs) {
    if (a.name == attr.name) {
      a = std::move(attr);
      return;
    }
  }
  n->attrs.push_back(std::move(attr));
}

void Transaction::SetType(FunctionId fn, ValueId value, Type type) {
  graph_->fn(fn).values[value].type = std::move(type);
  CountEdit();
}

void Transaction::AddOrigin(FunctionId fn, NodeId node, const Node& from) {
  Node* n = Find(fn, node);
  if (!n) return;
  const std::vector<std::string> names = UserNames(from);
  for (Origin& o : n->origin) {
    if (o.pass == pass_) {
      MergeNames(names, &o.from_nodes);
      return;
    }
  }
  n->origin.push_back(Origin{pass_, names});
}

void Transaction::Erase(FunctionId fn, NodeId node) {
  Node* n = Find(fn, node);
  if (!n) return;
  Index& x = IndexOf(fn);
  for (ValueId v : n->outputs) {
    if (v) x.producer[v] = -1;
  }
  x.erased[node] = n->after;
  x.at.Erase(node);
  *n = Node{};
  // Who tries a node and takes it out again has changed nothing.
  edits_ += IsNew(fn, node) ? -1 : 1;
}

void Transaction::DropOutput(FunctionId fn, NodeId node, uint32_t slot) {
  Node* n = Find(fn, node);
  if (!n || slot >= n->outputs.size() || !n->outputs[slot]) return;
  IndexOf(fn).producer[n->outputs[slot]] = -1;
  n->outputs[slot] = 0;
  while (!n->outputs.empty() && !n->outputs.back()) n->outputs.pop_back();
  ++edits_;
}

void Transaction::CommitFunction(Function* function, Index* x) {
  if (x->added.empty() && x->erased.empty()) return;
  if (x->added.empty()) {
    std::erase_if(function->nodes, [](const Node& n) { return n.id == 0; });
    return;
  }
  const size_t old_count = function->nodes.size() - x->added.size();
  std::unordered_map<uint32_t, std::vector<uint32_t>> before;
  for (const auto& [at, next] : x->added) before[next].push_back(at);
  std::vector<uint32_t> order, stack;
  order.reserve(function->nodes.size());
  auto place = [&](uint32_t root) {  // Everything that precedes `root`, then `root`.
    stack.push_back(root);
    while (!stack.empty()) {
      const uint32_t i = stack.back();
      auto it = before.find(i);
      if (it == before.end()) {
        stack.pop_back();
        if (function->nodes[i].id) order.push_back(i);
        continue;
      }
      stack.insert(stack.end(), it->second.rbegin(), it->second.rend());
      before.erase(it);
    }
  };
  const auto at_end = before.find(kLast);
  const std::vector<uint32_t> last =
      at_end == before.end() ? std::vector<uint32_t>{} : at_end->second;
  for (uint32_t i = 0; i < old_count; ++i) place(i);
  for (uint32_t i : last) place(i);
  std::vector<Node> nodes;
  nodes.reserve(order.size());
  for (uint32_t i : order) nodes.push_back(std::move(function->nodes[i]));
  function->nodes = std::move(nodes);
}

void Transaction::SettleFunction(Function* function, Index* x) {
  CommitFunction(function, x);
  if (x->erased.empty()) return;
  for (Node& n :
       function->nodes) {  // Who waited for an erased node waits for what that waited for.
    if (n.after.empty()) continue;
    std::vector<NodeId> todo = n.after, kept;
    for (size_t i = 0; i < todo.size(); ++i) {
      auto it = x->erased.find(todo[i]);
      if (it != x->erased.end()) {
        todo.insert(todo.end(), it->second.begin(), it->second.end());
      } else if (std::find(kept.begin(), kept.end(), todo[i]) == kept.end()) {
        kept.push_back(todo[i]);
      }
    }
    n.after = std::move(kept);
  }
}

void Transaction::Settle(FunctionId fn) {
  const auto found = index_.find(fn);
  if (found == index_.end()) return;
  SettleFunction(&graph_->fn(fn), &found->second);
  index_.erase(found);
}

void Transaction::Commit() {
  for (auto& [fn, x] : index_) SettleFunction(&graph_->fn(fn), &x);
  index_.clear();
}

namespace {

// Graphs outlive what was taken out of them: pieces of a model hold a node or two of its thousands.
template <typename T>
void GiveBackRoom(std::vector<T>* list) {
  if (list->capacity() > list->size() + list->size() / 4) list->shrink_to_fit();
}

}  // namespace

void Compact(Graph* graph) {
  std::vector<bool> const_used(graph->consts.size(), false);
  for (Function& f : graph->functions) {
    std::vector<bool> used(f.values.size(), false);
    auto each = [&](auto&& visit) {
      for (ValueId& v : f.params) visit(v);
      for (ValueId& v : f.results) visit(v);
      for (Node& n : f.nodes) {
        for (ValueId& v : n.inputs) visit(v);
        for (ValueId& v : n.outputs) visit(v);
      }
    };
    each([&](ValueId& v) { used[v] = true; });
    std::vector<ValueId> renamed(f.values.size(), 0);
    ValueId next = 1;
    for (ValueId v = 1; v < f.values.size(); ++v) {
      if (!used[v]) continue;
      renamed[v] = next;
      if (next != v) f.values[next] = std::move(f.values[v]);
      const_used[f.values[next].constant] = true;
      ++next;
    }
    if (!f.values.empty()) f.values.resize(next);
    GiveBackRoom(&f.values);
    GiveBackRoom(&f.nodes);
    each([&](ValueId& v) { v = renamed[v]; });
  }
  auto each_const = [&](auto&& visit) {
    for (State& s : graph->states) visit(s.init);
    for (Function& f : graph->functions) {
      for (Node& n : f.nodes) {
        for (Attr& a : n.attrs) {
          if (auto* ref = std::get_if<ConstRef>(&a.value)) visit(ref->id);
        }
      }
    }
  };
  each_const([&](ConstId& c) { const_used[c] = true; });
  std::vector<ConstId> renamed(graph->consts.size(), 0);
  ConstId next = 1;
  for (ConstId c = 1; c < graph->consts.size(); ++c) {
    if (!const_used[c]) continue;
    renamed[c] = next;
    if (next != c) graph->consts[next] = std::move(graph->consts[c]);
    ++next;
  }
  graph->consts.resize(next);
  GiveBackRoom(&graph->consts);
  each_const([&](ConstId& c) { c = renamed[c]; });
  for (Function& f : graph->functions) {
    for (Value& v : f.values) v.constant = renamed[v.constant];
  }
}

}  // namespace ge
