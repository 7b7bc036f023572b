// PassEdit: presents a Transaction as the ge_edit of a plugin's pass (ge_plugin_pass.h). It checks
// every number and record given to it; it keeps the first failure, which ends all editing. Lives
// for one run of one pass, in its thread; or as long as a graph that is made by calls
// (graph_edit.h), where a call that fails is taken back and ends nothing.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "ge/base/status.h"
#include "ge/engine/pass/edit_undo.h"
#include "ge/engine/pass/model_picture.h"
#include "ge/ops/op.h"
#include "ge/stage/pass.h"

namespace ge {

class PassEdit {
 public:
  // `options`: by position of the record's.
  PassEdit(PassKind kind, const std::vector<ge_attr>& options, Transaction* transaction,
           const PassContext& context);
  PassEdit(const PassEdit&) = delete;
  PassEdit& operator=(const PassEdit&) = delete;
  const ge_edit* api() const { return &api_; }
  // The first failure; of a graph made by calls the last one.
  const Status& failed() const { return failed_; }
  // From now on a call that fails is taken back by `undo`, and later ones work: a graph made by
  // calls. `check_calls` says whether a node fits the functions that it names.
  using CheckCalls = Status (*)(const Graph& graph, const Function& function, const Node& node);
  void UndoFailures(EditUndo* undo, CheckCalls check_calls);
  // A value of a type that nothing computes; see ge_graph_placeholder.
  ge_rc AddPlaceholder(FunctionId fn, const ge_param& given, uint32_t* value);
  // As ge_edit.constant, of a payload that is there.
  ge_rc AddConst(FunctionId fn, Const c, uint32_t* out);
  // Whether edits have given results of functions other types, of which their callers do not know.
  bool retyped() const { return retyped_; }
  // Failures of derivative rules that the pass asked for: no answer, or an illegal one.
  const std::vector<Status>& rule_failures() const { return rule_failures_; }
  // Puts the nodes of each edited function in order; INVALID_GRAPH prints a cycle.
  Status Finish();

 private:
  static PassEdit& Of(void* host) { return *static_cast<PassEdit*>(host); }
  // Runs an edit, or nothing after a failure. Lets no exception out.
  template <typename Body>
  ge_rc Edit(const Touched& touched, Body body);
  template <typename Body>
  ge_rc EditOrUndo(const Touched& touched, Body body) noexcept;
  // What changes `fn`, not only behind its end.
  static Touched AllOf(FunctionId fn) { return {Touched::Part::kFunction, fn}; }
  // A question: its failure is no failure of the pass.
  template <typename Body>
  ge_rc Ask(Body body);
  // Pictures are there after a failure, too: a pass need not check.
  template <typename Body>
  static ge_rc Look(Body body);
  void FillApi();
  void FillModelApi();
  void FillReplaceApi();

  const Graph& graph() const { return t_.graph(); }
  // The picture of `fn` is out of date from now on.
  void Outdate(FunctionId fn) { current_.erase(fn); }
  void Edited(FunctionId fn) {
    edited_.insert(fn);
    Outdate(fn);
  }
  Status WantFunction(FunctionId fn) const;
  Status WantValue(FunctionId fn, ValueId value, bool absent = false) const;
  Result<const Node*> WantNode(FunctionId fn, NodeId node) const;
  Status WantValues(FunctionId fn, const uint32_t* values, uint32_t n, const char* what) const;
  // Of a graph made by calls: nodes of an edited function are put in order and typed anew, so that
  // what does not fit is told now.
  Status Resettle(FunctionId fn);

  // pass_edit.cc: pictures, nodes, values
  const ge_model* Model();
  const ge_graph* Picture(FunctionId fn);
  const ge_value* ValueOf(FunctionId fn, ValueId value);
  Status AddNode(FunctionId fn, NodeId before, const ge_new_node* given, uint32_t* id,
                 uint32_t* out);
  ge_rc AddNodeOrZero(FunctionId fn, NodeId before, const ge_new_node* given, uint32_t* id,
                      uint32_t* out);
  Result<std::vector<const Node*>> Replaced(FunctionId fn, NodeId before, const ge_links* links);
  Status TypeLast(FunctionId fn);
  Status TypeOrRefuse(FunctionId fn);
  Status AddConstant(FunctionId fn, const ge_type* type, const void* data, uint64_t bytes,
                     uint32_t* out);
  Status ReplaceUses(FunctionId fn, ValueId from, ValueId to);
  Status SetInput(FunctionId fn, NodeId node, uint32_t i, ValueId value);
  Status SetAttr(FunctionId fn, NodeId node, const ge_attr* attr);
  Status SetLinks(FunctionId fn, NodeId node, const ge_links* given);
  struct Links {
    std::vector<Callee> callees;
    std::vector<Effect> effects;
    std::vector<NodeId> after;
  };
  // `appended`: the last node of the function; null: any other, which the transaction finds.
  void SetLinked(FunctionId fn, NodeId node, Links links, Node* appended);
  std::string NameOf(ge_str given);
  Result<Links> ReadLinks(FunctionId fn, const ge_links* given);
  // A complete node but for its id and outputs, behind all others. Costs what the node costs: the
  // transaction, which has to know the whole function, is not asked.
  std::vector<ValueId> Append(FunctionId fn, Node node, uint32_t n_out);
  Status Erase(FunctionId fn, NodeId node);
  Result<Attr> AttrOf(const ge_attr& attr);

  // pass_edit_model.cc: functions, states, entries
  Status WantNew(FunctionId fn, const char* what) const;
  Status WantDerive(const char* what) const;  // what it does, as "adds a state"
  Status WantNewName(const std::string& name, const std::string& overload) const;
  Status AddFunction(const ge_function* given, uint32_t* fn);
  Status CopyFunction(FunctionId of, ge_str name, uint32_t* fn);
  Result<Type> TypeOf(const ge_param& given);
  Status AddParam(FunctionId fn, const ge_param* given, uint32_t* value);
  // Whether results may stand where placeholders stood.
  Status WantPlaceholdersKept(FunctionId fn, const uint32_t* values, uint32_t n);
  // Whether each result can have its name: names are of values.
  Status WantNames(FunctionId fn, const uint32_t* values, const std::vector<std::string>& names);
  Status SetResults(FunctionId fn, const uint32_t* values, const ge_str* names, uint32_t n);
  // What a state begins with: the bytes given, else one element repeated, which takes no room.
  Result<Const> FirstContent(const ge_state& given, const Type& type,
                             const std::string& name) const;
  Result<Const> Content(const ge_type& of, const void* data, uint64_t bytes) const;
  Status AddState(const ge_state* given, uint32_t* state);
  Status AddEntry(ge_str name, FunctionId fn, uint32_t role);

  // pass_edit_replace.cc: what was there before
  Status ReplaceEntry(ge_str name, FunctionId fn);
  Status ReplaceState(StateId state, const ge_state* given);
  Status AddMetadata(ge_str name, ge_str json);
  // Whether replaced entries have their signature, and all entries know of replaced states.
  Status CheckReplaced();
  Status CheckReplacedNow();
  Status WantSameSide(const Entry& entry, const char* side, const Function& old,
                      const std::vector<ValueId>& was, const std::vector<ValueId>& is);
  Status WantPresentState(const Entry& entry, const Function& f, const Node& n) const;

  // pass_edit_rules.cc: questions of a pass
  Status Price(FunctionId fn, const uint32_t* nodes, uint32_t n, double* ns);
  ge_rc AskRule(const ge_rule* given);
  Status ApplyRule(const ge_rule* given, bool* found);
  Status Decompose(const ge_rule& rule, const OpDef& op, const Node& node);
  Status Derive(const ge_rule& rule, const OpDef& op, const Node& node);
  ge_rc AskShard(FunctionId fn, NodeId node, void* to, ge_rc (*way)(void*, const ge_shard*));
  Result<Node> AsIn(const ge_rule& rule, const Node& node);
  Status WorkOfNode(FunctionId fn, NodeId node, double* flops, double* bytes);

  const PassKind kind_;
  Transaction& t_;
  const PassContext& context_;
  const FunctionId first_new_;  // this run added the functions from here on
  ge_edit api_{};
  Status failed_;
  std::vector<Status> rule_failures_;
  std::set<FunctionId> edited_;
  std::map<size_t, FunctionId> former_;  // by place of a replaced entry, its function at first
  std::set<StateId> replaced_states_;
  std::unique_ptr<ModelPicture> model_;
  std::map<FunctionId, std::unique_ptr<FunctionPicture>> pictures_;
  std::set<FunctionId> current_;  // functions with a current picture; a picture costs as much as
                                  // the function is large, and passes ask often
  ValuePicture value_;
  bool retype_ = false;  // whether an edit may have changed a type inferred before
  // Nodes whose named functions were set: their types follow from functions, maybe grown since.
  std::vector<std::pair<FunctionId, NodeId>> naming_;
  std::set<std::pair<FunctionId, ValueId>> placeholders_;
  EditUndo* undo_ = nullptr;  // null: of a pass
  CheckCalls check_calls_ = nullptr;
  Status no_memory_;  // made ahead
  bool retyped_ = false;
};

ge_rc RcOf(const Status& status);

template <typename Body>
ge_rc PassEdit::Edit(const Touched& touched, Body body) {
  if (undo_) return EditOrUndo(touched, body);
  if (!failed_.ok()) return GE_FAILED_PRECONDITION;
  try {
    failed_ = body();
  } catch (const std::bad_alloc&) {
    failed_ = Status(Code::kResourceExhausted, "there is no memory for an edit");
  }
  return RcOf(failed_);
}

template <typename Body>
ge_rc PassEdit::EditOrUndo(const Touched& touched, Body body) noexcept {
  bool begun = false;
  Status status;
  try {
    undo_->Begin(touched);
    begun = true;
    status = body();
    if (status.ok()) t_.Commit();
  } catch (const std::exception&) {  // there is no memory, or no room for so many elements
    status = no_memory_;
  }
  if (status.ok()) {
    undo_->End();
    return GE_OK;
  }
  if (begun) undo_->Undo();
  failed_ = std::move(status);
  return RcOf(failed_);
}

template <typename Body>
ge_rc PassEdit::Ask(Body body) {
  if (undo_) return EditOrUndo({}, body);
  return failed_.ok() ? Look(body) : static_cast<ge_rc>(GE_FAILED_PRECONDITION);
}

template <typename Body>
ge_rc PassEdit::Look(Body body) {
  try {
    return RcOf(body());
  } catch (const std::bad_alloc&) {
    return GE_OUT_OF_MEMORY;
  }
}

}  // namespace ge
