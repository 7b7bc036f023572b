// Pictures, nodes and values.
#include "ge/engine/pass/pass_edit.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "ge/engine/from_abi.h"
#include "ge/engine/plugin/plugin.h"
#include "ge/engine/plugin/record.h"
#include "ge/ops/defaults.h"

namespace ge {
namespace {

constexpr uint32_t kMostListed = 1u << 16;  // inputs, attributes, outputs of one node

Status WantList(const void* list, uint32_t n, const char* what) {
  if (n <= kMostListed && (n == 0 || list != nullptr)) return {};
  return NotLegal(fmt::format("{} {} are given at {}; wanted at most {}, and where they are", n,
                              what, fmt::ptr(list), kMostListed));
}

// The links that a new node carries; null: none.
Result<const ge_links*> LinksOf(const ge_hdr& h) {
  static constexpr uint16_t kKnown[] = {GE_TAG_LINKS};
  if (const ge_hdr* x = ge_not_understood(&h, kKnown, 1)) {
    return Status(
        Code::kUnsupported,
        fmt::format("a new node carries extension {:#x}, which this host does not know", x->tag));
  }
  for (const ge_hdr* x = h.next; x != nullptr; x = x->next) {
    if (x->tag == GE_TAG_LINKS) return reinterpret_cast<const ge_links*>(x);
  }
  return static_cast<const ge_links*>(nullptr);
}

bool MayBeSame(const Dim& a, const Dim& b) { return !a.known() || !b.known() || a == b; }

// Whether a reader of one can be given the other, as far as is known.
bool SameType(const Type& a, const Type& b) {
  if (a.kind == TypeKind::kUnknown || b.kind == TypeKind::kUnknown) return true;
  if (a.kind != b.kind || a.dtype != b.dtype) return false;
  if (!a.ranked || !b.ranked) return true;
  return a.dims.size() == b.dims.size() &&
         std::equal(a.dims.begin(), a.dims.end(), b.dims.begin(), MayBeSame);
}

bool SameSizes(const Type& a, const Type& b) { return a.is_static() && a == b; }

// Whether a call takes and gives just what its function does, all sizes known: then it is typed.
bool IsSettledCall(const Graph& g, const Function& f, const Node& n) {
  if (n.domain != "ge" || n.op != "Call" || n.callees.size() != 1) return false;
  const Function& of = g.fn(n.callees[0].fn);
  bool same = n.inputs.size() == of.params.size() && n.outputs.size() == of.results.size();
  for (size_t i = 0; same && i < n.inputs.size(); ++i) {
    same = n.inputs[i] != 0 && SameSizes(f.value(n.inputs[i]).type, of.value(of.params[i]).type);
  }
  for (size_t i = 0; same && i < n.outputs.size(); ++i) {
    same = n.outputs[i] == 0 || SameSizes(f.value(n.outputs[i]).type, of.value(of.results[i]).type);
  }
  return same;
}

}  // namespace

ge_rc RcOf(const Status& status) {
  switch (status.code()) {
    case Code::kOk:
      return GE_OK;
    case Code::kResourceExhausted:
      return GE_OUT_OF_MEMORY;
    case Code::kUnsupported:
      return GE_UNIMPLEMENTED;
    case Code::kFailedPrecondition:
      return GE_FAILED_PRECONDITION;
    case Code::kCancelled:
      return GE_CANCELLED;
    case Code::kDeadlineExceeded:
      return GE_DEADLINE;
    case Code::kInternal:
    case Code::kPluginError:
      return GE_INTERNAL;
    default:
      return GE_INVALID_ARGUMENT;
  }
}

PassEdit::PassEdit(PassKind kind, const std::vector<ge_attr>& options, Transaction* transaction,
                   const PassContext& context)
    : kind_(kind),
      t_(*transaction),
      context_(context),
      first_new_(static_cast<FunctionId>(transaction->graph().functions.size())) {
  api_.h = GE_HDR(ge_edit, GE_TAG_EDIT);
  api_.host = this;
  api_.api = HostApi();
  api_.option = options.data();
  api_.n_option = static_cast<uint32_t>(options.size());
  api_.phase = context.phase == kAtBind ? GE_PHASE_BIND : GE_PHASE_LOAD;
  FillApi();
  FillModelApi();
  FillReplaceApi();
}

void PassEdit::FillApi() {
  api_.model = [](void* h) { return Of(h).Model(); };
  api_.graph = [](void* h, uint32_t fn) { return Of(h).Picture(fn); };
  api_.value = [](void* h, uint32_t fn, uint32_t v) { return Of(h).ValueOf(fn, v); };
  api_.node = [](void* h, uint32_t fn, uint32_t before, const ge_new_node* n, uint32_t* id,
                 uint32_t* out) { return Of(h).AddNodeOrZero(fn, before, n, id, out); };
  api_.constant = [](void* h, uint32_t fn, const ge_type* t, const void* data, uint64_t bytes,
                     uint32_t* out) {
    *out = 0;
    return Of(h).Edit({.fn = fn}, [&] { return Of(h).AddConstant(fn, t, data, bytes, out); });
  };
  api_.replace_uses = [](void* h, uint32_t fn, uint32_t from, uint32_t to) {
    return Of(h).Edit(AllOf(fn), [&] { return Of(h).ReplaceUses(fn, from, to); });
  };
  api_.set_input = [](void* h, uint32_t fn, uint32_t node, uint32_t i, uint32_t value) {
    return Of(h).Edit(AllOf(fn), [&] { return Of(h).SetInput(fn, node, i, value); });
  };
  api_.set_attr = [](void* h, uint32_t fn, uint32_t node, const ge_attr* a) {
    return Of(h).Edit(AllOf(fn), [&] { return Of(h).SetAttr(fn, node, a); });
  };
  api_.links = [](void* h, uint32_t fn, uint32_t node, const ge_links* links) {
    return Of(h).Edit(AllOf(fn), [&] { return Of(h).SetLinks(fn, node, links); });
  };
  api_.erase = [](void* h, uint32_t fn, uint32_t node) {
    return Of(h).Edit(AllOf(fn), [&] { return Of(h).Erase(fn, node); });
  };
}

void PassEdit::UndoFailures(EditUndo* undo, CheckCalls check_calls) {
  no_memory_ = Status(Code::kResourceExhausted, "there is no memory for this call");
  check_calls_ = check_calls;
  undo_ = undo;
}

Status PassEdit::Finish() {
  for (const FunctionId fn : edited_) GE_RETURN_IF_ERROR(t_.Sort(fn));
  GE_RETURN_IF_ERROR(CheckReplaced());
  // Of what was added in between, to be copied or to try something, nothing has to be kept, nor of
  // what entries ran before.
  std::vector<FunctionId> loose;
  for (FunctionId fn = first_new_; fn < graph().functions.size(); ++fn) loose.push_back(fn);
  for (const auto& [place, fn] : former_) loose.push_back(fn);
  if (!loose.empty()) t_.ForgetUnnamed(std::move(loose));
  bool typed = !retype_ && context_.infer_node != nullptr;
  for (const auto& [fn, node] : naming_) {
    const Node* n = typed ? t_.NodeOf(fn, node) : nullptr;  // null: it was erased
    typed = typed && (n == nullptr || IsSettledCall(graph(), graph().fn(fn), *n));
  }
  t_.SayTyped(typed);
  return {};
}

Status PassEdit::WantFunction(FunctionId fn) const {
  if (fn > 0 && fn < graph().functions.size()) return {};
  return NotLegal(
      fmt::format("there is no function {}; they are 1 to {}", fn, graph().functions.size() - 1));
}

Status PassEdit::WantValue(FunctionId fn, ValueId value, bool absent) const {
  GE_RETURN_IF_ERROR(WantFunction(fn));
  const Function& f = graph().fn(fn);
  if (value < f.values.size() && (value > 0 || absent)) return {};
  return NotLegal(fmt::format("function '{}' has no value {}; they are 1 to {}", f.name, value,
                              f.values.size() - 1));
}

Status PassEdit::WantValues(FunctionId fn, const uint32_t* values, uint32_t n,
                            const char* what) const {
  GE_RETURN_IF_ERROR(WantList(values, n, what));
  for (uint32_t i = 0; i < n; ++i) GE_RETURN_IF_ERROR(WantValue(fn, values[i], true));
  return {};
}

Result<const Node*> PassEdit::WantNode(FunctionId fn, NodeId node) const {
  GE_RETURN_IF_ERROR(WantFunction(fn));
  if (const Node* n = node ? t_.NodeOf(fn, node) : nullptr) return n;
  return NotLegal(
      fmt::format("function '{}' has no node with id {}; wanted ge_node.id of one that was "
                  "not erased",
                  graph().fn(fn).name, node));
}

const ge_model* PassEdit::Model() {
  Look([&]() -> Status {
    model_ = std::make_unique<ModelPicture>(graph());
    return {};
  });
  return model_ ? model_->get() : nullptr;
}

const ge_graph* PassEdit::Picture(FunctionId fn) {
  if (!WantFunction(fn).ok()) return nullptr;
  if (current_.count(fn) != 0) return pictures_[fn]->get();
  const ge_graph* found = nullptr;
  Look([&]() -> Status {
    t_.Commit();
    GE_ASSIGN_OR_RETURN(pictures_[fn], FunctionPicture::Make(graph(), graph().fn(fn)));
    found = pictures_[fn]->get();
    current_.insert(fn);
    return {};
  });
  return found;
}

const ge_value* PassEdit::ValueOf(FunctionId fn, ValueId value) {
  value_.record = {};
  Look([&]() -> Status {
    GE_RETURN_IF_ERROR(WantValue(fn, value));
    value_.Set(graph(), graph().fn(fn), value);
    return {};
  });
  return &value_.record;
}

Result<Attr> PassEdit::AttrOf(const ge_attr& attr) {
  return AttrFromAbi(
      attr, [&](Const c) { return t_.mutable_graph()->AddConst(std::move(c)); },
      graph().functions.size());
}

Result<std::vector<const Node*>> PassEdit::Replaced(FunctionId fn, NodeId before,
                                                    const ge_links* links) {
  std::vector<const Node*> out;
  if (links && links->n_replaces > 0) {
    GE_RETURN_IF_ERROR(WantList(links->replaces, links->n_replaces, "replaced nodes"));
    for (uint32_t i = 0; i < links->n_replaces; ++i) {
      GE_ASSIGN_OR_RETURN(const Node* n, WantNode(fn, links->replaces[i]));
      out.push_back(n);
    }
  } else if (before) {
    GE_ASSIGN_OR_RETURN(const Node* n, WantNode(fn, before));
    out.push_back(n);
  }
  return out;
}

// A failed call leaves no numbers of what was taken back.
ge_rc PassEdit::AddNodeOrZero(FunctionId fn, NodeId before, const ge_new_node* given, uint32_t* id,
                              uint32_t* out) {
  const Touched touched = before ? AllOf(fn) : Touched{.fn = fn};
  const ge_rc rc = Edit(touched, [&] { return AddNode(fn, before, given, id, out); });
  if (rc == GE_OK || !undo_) return rc;
  if (id) *id = 0;
  const bool known = given && given->h.size >= kFirstSize<ge_new_node>;
  const uint32_t n = known && given->n_out != GE_NO_OUTPUT ? std::max(given->n_out, 1u) : 0;
  if (out && n <= kMostListed) std::fill_n(out, n, 0u);
  return rc;
}

Status PassEdit::AddNode(FunctionId fn, NodeId before, const ge_new_node* given, uint32_t* id,
                         uint32_t* out) {
  if (id) *id = 0;
  GE_RETURN_IF_ERROR(WantFunction(fn));
  if (!given) return NotLegal("a new node is given as NULL");
  GE_RETURN_IF_ERROR(WantFirstSize(given->h, kFirstSize<ge_new_node>, "a new node"));
  GE_ASSIGN_OR_RETURN(const ge_links* links, LinksOf(given->h));
  const ge_new_node& n = *given;
  const uint32_t n_out = n.n_out == GE_NO_OUTPUT ? 0 : std::max(n.n_out, 1u);
  GE_RETURN_IF_ERROR(WantList(out, n_out, "outputs"));
  std::fill_n(out, n_out, 0u);
  GE_RETURN_IF_ERROR(WantValues(fn, n.in, n.n_in, "inputs"));
  GE_RETURN_IF_ERROR(WantList(n.attr, n.n_attr, "attributes"));
  // In a graph made by calls a node stands for no other one, unless it says so.
  GE_ASSIGN_OR_RETURN(const std::vector<const Node*> replaces,
                      Replaced(fn, undo_ ? 0 : before, links));
  if (before) GE_RETURN_IF_ERROR(WantNode(fn, before).status());
  std::vector<Attr> attrs;
  for (uint32_t i = 0; i < n.n_attr; ++i) {
    GE_ASSIGN_OR_RETURN(Attr a, AttrOf(n.attr[i]));
    attrs.push_back(std::move(a));
  }
  Links linked;
  if (links) {
    GE_ASSIGN_OR_RETURN(linked, ReadLinks(fn, links));
  }
  const std::string domain = TextOf(n.domain), name = NameOf(n.name);
  const int64_t opset = domain.empty() ? kCanonicalOpset : 1;
  undo_ ? undo_->AddOpset(domain, opset) : (void)t_.mutable_graph()->opsets.emplace(domain, opset);
  std::vector<ValueId> made, inputs(n.in, n.in + n.n_in);
  const bool append = undo_ && !before && replaces.empty();
  if (append) {
    Node node;
    node.domain = domain;
    node.op = TextOf(n.op);
    node.inputs = std::move(inputs);
    node.attrs = std::move(attrs);
    made = Append(fn, std::move(node), n_out);
  } else {
    made = t_.AddNode(fn, before, domain, TextOf(n.op), std::move(inputs), std::move(attrs),
                      std::vector<Type>(n_out), replaces);
  }
  Edited(fn);
  Node& node = t_.mutable_graph()->fn(fn).nodes.back();
  node.name = name;
  // Of a pass each node is known to be; here it is the user's own.
  if (undo_ && !node.origin.empty() && replaces.empty()) node.origin.clear();
  const NodeId made_id = node.id;
  if (links) SetLinked(fn, made_id, std::move(linked), append ? &node : nullptr);
  GE_RETURN_IF_ERROR(TypeLast(fn));
  std::copy(made.begin(), made.end(), out);
  if (id) *id = made_id;
  return {};
}

// In a graph made by calls all is known that a new node reads and names.
Status PassEdit::TypeOrRefuse(FunctionId fn) {
  const Node& node = graph().fn(fn).nodes.back();
  Status typed;
  for (const Callee& c : node.callees) {
    const Function& f = graph().fn(c.fn);
    if (!f.results.empty() || (node.outputs.empty() && !f.nodes.empty())) continue;
    typed = NotLegal(fmt::format(
        "it names function '{}', which has no results yet; set them first, or placeholders where "
        "the function calls itself",
        f.name));
  }
  if (typed.ok()) typed = check_calls_(graph(), graph().fn(fn), node);
  if (typed.ok()) typed = t_.InferLast(fn, context_.infer_node);
  return typed.ok() ? typed : std::move(typed).AtNode(NodeLabel(node));
}

// The one that was added last.
Status PassEdit::TypeLast(FunctionId fn) {
  const Node& node = graph().fn(fn).nodes.back();
  if (!context_.infer_node) return {};
  if (undo_) return TypeOrRefuse(fn);
  bool unknown = false;
  for (const ValueId v : node.inputs) {
    unknown = unknown || (v && graph().fn(fn).value(v).type.kind == TypeKind::kUnknown);
  }
  const bool open = unknown || !node.callees.empty();
  retype_ = retype_ || unknown;
  const Status typed = t_.InferLast(fn, context_.infer_node);
  // What it names, or reads of what is not finished, may have no type yet; all is inferred anew
  // when the pass has returned.
  if (typed.ok() || open) return {};
  return Status(typed.code(), fmt::format("a new {} is not legal: {}", node.op, typed.message()));
}

Status PassEdit::AddConstant(FunctionId fn, const ge_type* type, const void* data, uint64_t bytes,
                             uint32_t* out) {
  GE_RETURN_IF_ERROR(WantFunction(fn));
  if (!type) return NotLegal("the type of a constant is given as NULL");
  GE_ASSIGN_OR_RETURN(Const c, Content(*type, data, bytes));
  Outdate(fn);
  *out = t_.AddConst(fn, std::move(c));
  return {};
}

ge_rc PassEdit::AddConst(FunctionId fn, Const c, uint32_t* out) {
  *out = 0;
  return Edit({.fn = fn}, [&]() -> Status {
    GE_RETURN_IF_ERROR(WantFunction(fn));
    Outdate(fn);
    *out = t_.AddConst(fn, std::move(c));
    return {};
  });
}

Status PassEdit::Resettle(FunctionId fn) {
  if (!undo_) return {};
  GE_RETURN_IF_ERROR(t_.Sort(fn));
  Graph& g = *t_.mutable_graph();
  Function& f = g.fn(fn);
  std::vector<Type> gave;
  for (const ValueId v : f.results) gave.push_back(f.value(v).type);
  for (size_t i = 0; i < f.nodes.size(); ++i) {
    const Node& n = f.nodes[i];
    for (const ValueId v : n.outputs) {
      if (v == 0) continue;
      if (n.effects.empty()) f.value(v).type = {};
      f.value(v).ints.reset();
    }
    Status typed = check_calls_(g, f, n);
    if (typed.ok()) typed = context_.infer_node(&g, fn, i);
    if (!typed.ok()) return std::move(typed).AtNode(NodeLabel(n));
  }
  for (size_t i = 0; i < gave.size(); ++i) {
    retyped_ = retyped_ || !(gave[i] == f.value(f.results[i]).type);
  }
  return {};
}

Status PassEdit::ReplaceUses(FunctionId fn, ValueId from, ValueId to) {
  GE_RETURN_IF_ERROR(WantValue(fn, from));
  GE_RETURN_IF_ERROR(WantValue(fn, to));
  const Function& f = graph().fn(fn);
  const Type of = f.value(from).type, by = f.value(to).type;
  if (!SameType(of, by)) {
    return NotLegal(fmt::format("value {} is {} and cannot stand for value {}, which is {}", to,
                                TypeToString(by, graph().dims), from,
                                TypeToString(of, graph().dims)));
  }
  Edited(fn);
  retype_ = retype_ || !(of == by) || !of.is_static();
  if (!t_.CanReplace(fn, from, to)) {  // both have names that the user gave
    const Node* maker = t_.Producer(fn, from);
    std::vector<const Node*> replaces;
    if (maker) replaces.push_back(maker);
    to = t_.AddNode(fn, 0, "", "Identity", {to}, {}, {by}, replaces)[0];
  }
  t_.ReplaceUses(fn, from, to);
  return Resettle(fn);
}

Status PassEdit::SetInput(FunctionId fn, NodeId node, uint32_t i, ValueId value) {
  GE_ASSIGN_OR_RETURN(const Node* n, WantNode(fn, node));
  GE_RETURN_IF_ERROR(WantValue(fn, value, true));
  if (i > n->inputs.size()) {
    return NotLegal(fmt::format("input {} of {} is set, which has {}", i, n->op, n->inputs.size()));
  }
  Edited(fn);
  const Type* now = i < n->inputs.size() && n->inputs[i] && value
                        ? &graph().fn(fn).value(n->inputs[i]).type
                        : nullptr;
  retype_ = retype_ || !now || !now->is_static() || !(*now == graph().fn(fn).value(value).type);
  t_.SetInput(fn, node, i, value);
  return Resettle(fn);
}

Status PassEdit::SetAttr(FunctionId fn, NodeId node, const ge_attr* given) {
  GE_RETURN_IF_ERROR(WantNode(fn, node).status());
  if (!given) return NotLegal("an attribute is given as NULL");
  GE_ASSIGN_OR_RETURN(Attr a, AttrOf(*given));
  Edited(fn);
  retype_ = true;
  t_.SetAttr(fn, node, std::move(a));
  return Resettle(fn);
}

Status PassEdit::SetLinks(FunctionId fn, NodeId node, const ge_links* given) {
  if (!given) return NotLegal("a node's links are given as NULL");
  GE_RETURN_IF_ERROR(WantNode(fn, node).status());
  GE_ASSIGN_OR_RETURN(Links links, ReadLinks(fn, given));
  Edited(fn);
  SetLinked(fn, node, std::move(links), nullptr);
  return Resettle(fn);
}

void PassEdit::SetLinked(FunctionId fn, NodeId node, Links links, Node* appended) {
  if (!links.callees.empty() && !undo_) naming_.emplace_back(fn, node);
  if (appended == nullptr) {
    t_.SetCallees(fn, node, std::move(links.callees));
    t_.SetEffects(fn, node, std::move(links.effects));
    t_.SetAfter(fn, node, std::move(links.after));
    return;
  }
  std::vector<Effect>& all = t_.mutable_graph()->fn(fn).effects;
  for (const Effect& e : links.effects) {
    const auto same = [&](const Effect& k) { return k.kind == e.kind && k.object == e.object; };
    if (std::none_of(all.begin(), all.end(), same)) all.push_back(e);
  }
  appended->callees = std::move(links.callees);
  appended->effects = std::move(links.effects);
  appended->after = std::move(links.after);
}

std::vector<ValueId> PassEdit::Append(FunctionId fn, Node node, uint32_t n_out) {
  Graph& g = *t_.mutable_graph();
  Function& f = g.fn(fn);
  FillDefaults(g, &node);
  for (uint32_t i = 0; i < n_out; ++i) node.outputs.push_back(AddValue(&f, Type{}));
  std::vector<ValueId> made = node.outputs;
  node.id = f.next_node_id++;
  f.nodes.push_back(std::move(node));
  return made;
}

std::string PassEdit::NameOf(ge_str given) {
  std::string name = TextOf(given);
  return undo_ && !name.empty() ? undo_->NameOf(name) : name;
}

Result<PassEdit::Links> PassEdit::ReadLinks(FunctionId fn, const ge_links* given) {
  GE_ASSIGN_OR_RETURN(const ge_links links, ReadRecord(given, "a node's links"));
  GE_RETURN_IF_ERROR(WantList(links.body, links.n_body, "bodies"));
  GE_RETURN_IF_ERROR(WantList(links.body_role, links.n_body, "roles"));
  GE_RETURN_IF_ERROR(WantList(links.effect, links.n_effect, "effects"));
  GE_RETURN_IF_ERROR(WantList(links.after, links.n_after, "nodes before it"));
  Links out;
  for (uint32_t i = 0; i < links.n_body; ++i) {
    GE_RETURN_IF_ERROR(WantFunction(links.body[i]));
    out.callees.push_back({TextOf(links.body_role[i]), links.body[i]});
  }
  for (uint32_t i = 0; i < links.n_effect; ++i) {
    const ge_effect& e = links.effect[i];
    const bool known =
        e.kind <= GE_EFFECT_STREAM &&
        (e.kind != GE_EFFECT_STATE || (e.object > 0 && e.object < graph().states.size()));
    if (!known) {
      return NotLegal(fmt::format("an effect is of kind {} on object {}; there are {} states",
                                  e.kind, e.object, graph().states.size() - 1));
    }
    out.effects.push_back({static_cast<EffectKind>(e.kind), e.object, e.sequence});
  }
  out.after.assign(links.after, links.after + links.n_after);
  for (const NodeId id : out.after) GE_RETURN_IF_ERROR(WantNode(fn, id).status());
  return out;
}

Status PassEdit::Erase(FunctionId fn, NodeId node) {
  GE_RETURN_IF_ERROR(WantNode(fn, node).status());
  Edited(fn);
  t_.Erase(fn, node);
  return {};
}

}  // namespace ge
