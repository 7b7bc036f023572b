// Transaction: the one way for passes to change a graph. Edits apply at once to its Graph; the
// runner keeps a copy and restores it when the pass or the verification after it fails. Until
// Commit, a new node stands at the end of its function's node list and an erased one leaves an
// empty node with id 0, so node indices stay good while a pass walks; Commit puts every node in its
// place. AddNode and AddConst invalidate references to nodes, values and constants. An edit costs
// about as much as it changes, in a graph of any size. Used by one thread.
#pragma once

#include <exception>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ge/base/status.h"
#include "ge/ir/graph.h"
#include "ge/ir/use_lists.h"
#include "ge/ir/walk.h"

namespace ge {

class Transaction {
 public:
  Transaction(Graph* graph, std::string pass) : graph_(graph), pass_(std::move(pass)) {}
  // Commits, which may throw for want of memory. When an exception passes, nothing is committed:
  // its catcher throws the graph away.
  ~Transaction() noexcept(false) {
    if (std::uncaught_exceptions() == exceptions_) Commit();
  }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  const Graph& graph() const { return *graph_; }
  // For typing an added node; not to add or remove anything.
  Graph* mutable_graph() { return graph_; }
  DimTable& dims() { return graph_->dims; }
  const std::string& pass() const { return pass_; }
  // The number of edits so far. A node added and erased again does not count, nor does a constant
  // without readers; Compact removes their remains.
  int edits() const { return edits_; }
  bool touched() const { return touched_ || edits_ > 0; }  // whether anything was done at all
  // Whether all edits only removed nodes or replaced a value by one known to be the same: then
  // inferring again would change nothing.
  bool types_hold() const { return types_hold_; }
  // Call it after giving each value the type that inference would give it.
  void SayTyped(bool typed) { typed_ = typed; }
  bool typed() const { return typed_; }

  // ---- what stands in the graph now, edits included ----
  const Node* NodeOf(FunctionId fn, NodeId node) { return Find(fn, node); }  // null: not there
  const Node* Producer(FunctionId fn, ValueId value);      // null for params and constants
  std::vector<Use> Readers(FunctionId fn, ValueId value);  // node readers; indices as of now
  bool IsResult(FunctionId fn, ValueId value);
  bool IsParam(FunctionId fn, ValueId value);
  // False when `from` is a result and `to` is a parameter or a result too: the user's name of one
  // of them would be lost, so the node between them has to stay.
  bool CanReplace(FunctionId fn, ValueId from, ValueId to);

  // Adds a node with fresh outputs of the given types, before `before` (0 = at the end).
  // `replaces` are recorded as its origin. Missing `attrs` get their defaults. Answers its output
  // values.
  std::vector<ValueId> AddNode(FunctionId fn, NodeId before, std::string domain, std::string op,
                               std::vector<ValueId> inputs, std::vector<Attr> attrs,
                               std::vector<Type> output_types,
                               const std::vector<const Node*>& replaces);
  // Types the outputs of the last added node, by `infer` (PassContext::infer_node).
  Status InferLast(FunctionId fn, Status (*infer)(Graph*, FunctionId, size_t)) {
    return infer(graph_, fn, graph_->fn(fn).nodes.size() - 1);
  }
  ValueId AddConst(FunctionId fn, Const constant);
  // A value that is a constant of the graph.
  ValueId ShareConst(FunctionId fn, ConstId c);
  // Every reader of `from`, and every result equal to it, now reads `to`. When `from` was a result
  // or `to` has no name, `to` takes over that of `from` (see CanReplace).
  void ReplaceUses(FunctionId fn, ValueId from, ValueId to);
  // The value has other numbers from now on than those that its name stands for in the model; it
  // has none until it replaces another value. Results keep theirs.
  void ForgetName(FunctionId fn, ValueId value);
  // Puts copies of the nodes of `callee`, named by `call`, in place of the call; inputs of the call
  // behind the first `skip` are the arguments. Outputs of the copies have no shapes yet. False,
  // with nothing changed, where copies would act differently: the call is ordered by `after`, or
  // the callee has attribute parameters or is the function itself.
  bool Inline(FunctionId fn, NodeId call, FunctionId callee, size_t skip);
  // Empties the given functions without references left, and functions named by them alone.
  // Commits.
  void ForgetUnnamed(std::vector<FunctionId> functions);
  void SetInput(FunctionId fn, NodeId node, uint32_t slot, ValueId to);
  void SetAttr(FunctionId fn, NodeId node, Attr attr);
  void SetType(FunctionId fn, ValueId value, Type type);
  void AddOrigin(FunctionId fn, NodeId node, const Node& from);
  // The node's outputs must have no readers left when the pass ends; the verifier checks it.
  void Erase(FunctionId fn, NodeId node);
  // Leaves an unread output out of its node (as an omitted optional output).
  void DropOutput(FunctionId fn, NodeId node, uint32_t slot);
  // ---- edit_model.cc: what lies around nodes ----
  void SetCallees(FunctionId fn, NodeId node, std::vector<Callee> callees);
  // New effects of the node are added to the function's own.
  void SetEffects(FunctionId fn, NodeId node, std::vector<Effect> effects);
  void SetAfter(FunctionId fn, NodeId node, std::vector<NodeId> after);
  // Invalidates references to functions, as does CopyFunction. The name is new; no parameters,
  // nodes and results.
  FunctionId AddFunction(std::string name);
  // Copies the values and nodes, with the same ids, into a function of another name.
  FunctionId CopyFunction(FunctionId of, std::string name);
  ValueId AddParam(FunctionId fn, std::string name, Type type);
  // `names`: of the results, by position; empty = they keep their names.
  void SetResults(FunctionId fn, std::vector<ValueId> results, std::vector<std::string> names);
  StateId AddState(State state);
  void AddEntry(Entry entry);
  void ReplaceEntry(size_t entry, FunctionId fn);
  // `init` and `init_fn`: of its first content, one of both.
  void ReplaceState(StateId state, Type type, ConstId init, FunctionId init_fn);
  void AddMeta(std::string key, std::string text);
  // Commits, and puts the function's nodes in topological order; see ge/ir/walk.h.
  Status Sort(FunctionId fn);

  // Puts new nodes in place and removes erased ones.
  // Done by the destructor and by the runner; a pass may call it between two walks.
  void Commit();
  // The graph itself, for a pass that builds functions anew; all indices into it are forgotten.
  Graph* Rebuild() {
    Commit();
    index_.clear();
    first_new_.clear();
    CountEdit();
    return graph_;
  }

 private:
  // Node id -> index into Function::nodes. A table, since ids are dense but in strange files.
  class Places {
   public:
    static constexpr uint32_t kNone = UINT32_MAX;
    // Ids from here on are looked up by hash.
    void Reserve(size_t nodes) { table_.assign(2 * nodes + 64, kNone); }
    uint32_t Find(NodeId id) const {
      if (id < table_.size()) return table_[id];
      const auto it = rest_.find(id);
      return it == rest_.end() ? kNone : it->second;
    }
    void Set(NodeId id, uint32_t at) {
      // New nodes have the next ids: the table grows with them.
      if (id == table_.size()) table_.push_back(kNone);
      (id < table_.size() ? table_[id] : rest_[id]) = at;
    }
    void Erase(NodeId id) {
      if (id < table_.size()) table_[id] = kNone;
      if (id >= table_.size()) rest_.erase(id);
    }

   private:
    std::vector<uint32_t> table_;
    std::unordered_map<NodeId, uint32_t> rest_;
  };
  struct Index {
    Places at;
    std::vector<int32_t> producer;  // by value; -1 = none
    // May hold former readers. Empty until a pass asks: most ask for none.
    std::optional<UseLists> uses;
    std::unordered_map<ValueId, std::vector<uint32_t>> results;  // places in Function::results
    std::vector<bool> params;                                    // by value
    std::vector<std::pair<uint32_t, uint32_t>> added;  // node index, index of the node after it
    std::unordered_map<NodeId, std::vector<NodeId>> erased;  // node id -> its `after` list
  };
  Index& IndexOf(FunctionId fn);
  UseLists& UsesOf(FunctionId fn);
  void CommitFunction(Function* function, Index* index);
  void SettleFunction(Function* function, Index* index);
  // Commits one function: afterwards its nodes stand in their order.
  void Settle(FunctionId fn);
  Node* Find(FunctionId fn, NodeId node);
  // A complete node but for its id.
  NodeId Insert(FunctionId fn, NodeId before, Node node);
  Graph* graph_;
  std::string pass_;
  std::map<FunctionId, Index> index_;
  // Whether this transaction has added the node.
  bool IsNew(FunctionId fn, NodeId node) const {
    const auto it = first_new_.find(fn);
    return it != first_new_.end() && node >= it->second;
  }
  // Counts an edit of a node; a new node counts once, however often it is edited.
  void Count(FunctionId fn, NodeId node) {
    touched_ = true;
    types_hold_ = false;
    edits_ += IsNew(fn, node) ? 0 : 1;
  }
  void CountEdit() {
    types_hold_ = false;
    ++edits_;
  }
  std::map<FunctionId, NodeId> first_new_;  // by function seen so far
  int edits_ = 0;
  bool touched_ = false, typed_ = false, types_hold_ = true;
  const int exceptions_ = std::uncaught_exceptions();  // when it was made
};

// Drops values without references and renumbers the rest densely; drops unused constants.
void Compact(Graph* graph);

}  // namespace ge
