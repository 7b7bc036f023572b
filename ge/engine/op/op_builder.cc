// decompose, grad and jvp of a plugin's operators: the nodes that its rules add.
#include <fmt/format.h>

#include <deque>
#include <new>

#include "ge/base/log.h"
#include "ge/engine/engine.h"
#include "ge/engine/from_abi.h"
#include "ge/engine/op/one_node.h"
#include "ge/engine/op/op_plugin.h"
#include "ge/engine/plugin/record.h"
#include "ge/ops/edit.h"

namespace ge {
namespace {

// Whether two shapes may be the same, as far as they are known.
bool MayBe(const Type& a, const Type& b) {
  if (!a.ranked || !b.ranked) return true;
  return std::equal(a.dims.begin(), a.dims.end(), b.dims.begin(), b.dims.end(),
                    [](const Dim& x, const Dim& y) { return !x.known() || !y.known() || x == y; });
}

constexpr uint32_t kMostValues = 1u << 16;  // that one rule may make

// Values by the number that the rule knows them by; the first failure stands for all.
class Builder {
 public:
  Builder(const PluginOp& op, Transaction& t, FunctionId fn, const Node& node)
      : op_(op), t_(t), fn_(fn), node_(node), values_{0} {
    for (const ValueId v : node.inputs) values_.push_back(v);
    for (const ValueId v : node.outputs) values_.push_back(v);
    first_own_ = values_.size();
    api_.h = GE_HDR(ge_builder, GE_TAG_BUILDER);
    api_.host = this;
    api_.node = [](void* h, const ge_new_node* n, uint32_t* out) {
      Builder& b = Of(h);
      return b.Guard([&] { return b.AddNode(n, out); });
    };
    api_.constant = [](void* h, const ge_type* t, const void* data, uint64_t bytes, uint32_t* out) {
      Builder& b = Of(h);
      *out = 0;
      return b.Guard([&] { return b.AddConstant(t, data, bytes, out); });
    };
    api_.value = [](void* h, uint32_t v) -> const ge_value* {
      Builder& b = Of(h);
      const ge_value* found = &b.absent_;
      b.Guard([&] { return b.ValueOf(v, &found); });
      return found;
    };
  }

  // What stands in the graph then is unread where there is no answer: Undo takes it out.
  Result<std::vector<ValueId>> Run() {
    std::vector<uint32_t> out(node_.outputs.size(), 0);
    GE_ASSIGN_OR_RETURN(const bool done, Call("decompose", [&](ge_err* err) {
                          return op_.def.decompose(&api_, out.data(), err);
                        }));
    if (!done) return std::vector<ValueId>();
    GE_ASSIGN_OR_RETURN(std::vector<ValueId> made, Made(out));
    for (size_t i = 0; i < out.size(); ++i) {
      // What the node itself gives is gone with it.
      const bool own = out[i] >= node_.inputs.size() + 1 && out[i] < first_own_;
      if (own || (out[i] == 0) != (node_.outputs[i] == 0)) return Strange(out[i], i);
    }
    GE_RETURN_IF_ERROR(CheckTypes(made, node_.outputs));
    return made;
  }

  // grad or jvp; `given` by output or by input.
  Result<std::vector<ValueId>> Derive(bool by_output, const std::vector<ValueId>& given) {
    std::vector<uint32_t> in;
    for (const ValueId v : given) {
      in.push_back(v ? static_cast<uint32_t>(values_.size()) : 0);
      if (v) values_.push_back(v);
    }
    const std::vector<ValueId>& like = by_output ? node_.inputs : node_.outputs;
    std::vector<uint32_t> out(like.size(), 0);
    GE_ASSIGN_OR_RETURN(const bool done, Call(by_output ? "grad" : "jvp", [&](ge_err* err) {
                          const auto rule = by_output ? op_.def.grad : op_.def.jvp;
                          return rule(&api_, in.data(), out.data(), err);
                        }));
    if (!done) {
      return Status(Code::kUnsupported,
                    fmt::format("plugin '{}': {} of {} answers GE_UNIMPLEMENTED for this node: {}",
                                op_.plugin, what_, op_.name,
                                declined_.empty() ? "no reason given" : declined_));
    }
    GE_ASSIGN_OR_RETURN(std::vector<ValueId> made, Made(out));
    GE_RETURN_IF_ERROR(CheckTypes(made, like));
    return made;
  }

  void Undo() {
    for (auto id = added_.rbegin(); id != added_.rend(); ++id) t_.Erase(fn_, *id);
  }

 private:
  // False: the rule has no answer for this node.
  template <typename Rule>
  Result<bool> Call(const char* what, Rule rule) {
    what_ = what;
    GE_ASSIGN_OR_RETURN(const OneNode one, View());
    api_.graph = one.view();
    ge_err err = EmptyError();
    const ge_rc rc = CallPlugin(RuleText(op_, what_), &err, [&] { return rule(&err); });
    api_.graph = nullptr;
    if (!failed_.ok()) return failed_;
    declined_.assign(err.msg, std::min<size_t>(err.msg_len, sizeof err.msg));
    if (rc == GE_UNIMPLEMENTED) return false;
    if (rc != GE_OK) return FromRule(op_, what_, rc, err);
    return true;
  }

  // What place i of a rule's answer is: "output 1", "the gradient of input 0".
  std::string Answer(size_t i) const {
    const bool of_input = std::string_view(what_) == "grad";
    const bool derives = of_input || std::string_view(what_) == "jvp";
    return fmt::format("{}{} {}",
                       of_input  ? "the gradient of "
                       : derives ? "the tangent of "
                                 : "",
                       of_input ? "input" : "output", i);
  }

  Status Strange(uint32_t value, size_t i) const {
    const bool decompose = std::string_view(what_) == "decompose";
    return Status(Code::kPluginError,
                  fmt::format("plugin '{}': {} of {} gave value {} for {}; wanted {}", op_.plugin,
                              what_, op_.name, value, Answer(i),
                              decompose ? "one that it built, or an input"
                                        : "0, one that it was given, or one that it built"));
  }

  Result<std::vector<ValueId>> Made(const std::vector<uint32_t>& out) const {
    std::vector<ValueId> made;
    for (size_t i = 0; i < out.size(); ++i) {
      if (out[i] >= values_.size()) return Strange(out[i], i);
      made.push_back(values_[out[i]]);
    }
    return made;
  }

  static Builder& Of(void* host) { return *static_cast<Builder*>(host); }
  const Function& F() const { return t_.graph().fn(fn_); }

  template <typename Body>
  ge_rc Guard(Body body) {
    if (!failed_.ok()) return GE_FAILED_PRECONDITION;
    try {
      failed_ = body();
    } catch (const std::bad_alloc&) {
      failed_ = Status(Code::kResourceExhausted, "no memory to take " + op_.name + " apart");
    }
    return failed_.ok() ? GE_OK : GE_INVALID_ARGUMENT;
  }

  Result<OneNode> View() {
    const Graph& g = t_.graph();
    std::vector<OneNode::Input> inputs;
    std::vector<const Type*> outputs;
    for (const ValueId v : node_.inputs) {
      const Value& value = F().value(v);
      inputs.push_back(
          {v ? &value.type : nullptr, v && value.constant ? &g.consts[value.constant] : nullptr});
    }
    for (const ValueId v : node_.outputs) outputs.push_back(v ? &F().value(v).type : nullptr);
    return OneNode::Make(node_, inputs, outputs, g.dims,
                         [&](ConstRef ref) { return &g.consts[ref.id]; });
  }

  // A part has to give what the node's output is; where that is not known, any tensor of its dtype.
  Status CheckTypes(const std::vector<ValueId>& made, const std::vector<ValueId>& like) const {
    for (size_t i = 0; i < made.size(); ++i) {
      if (!made[i] || !like[i]) continue;
      const Type& is = F().value(made[i]).type;
      const Type& wanted = F().value(like[i]).type;
      if (is.dtype == wanted.dtype && MayBe(is, wanted)) continue;
      return Status(Code::kPluginError,
                    fmt::format("plugin '{}': {} of {} gave {} for {}; {} {}", op_.plugin, what_,
                                op_.name, TypeToString(is, t_.graph().dims), Answer(i),
                                &like == &node_.inputs ? "the input is" : "infer said",
                                TypeToString(wanted, t_.graph().dims)));
    }
    return {};
  }

  Status Bad(const std::string& text) const {
    return Status(Code::kPluginError,
                  fmt::format("plugin '{}': {} of {}: {}", op_.plugin, what_, op_.name, text));
  }

  Status AddNode(const ge_new_node* n, uint32_t* out) {
    const uint32_t n_out = n->n_out ? n->n_out : 1;
    std::fill_n(out, n_out, 0u);
    if (values_.size() + n_out > kMostValues) return Bad("more than 65,536 values");
    std::vector<ValueId> in;
    for (uint32_t i = 0; i < n->n_in; ++i) {
      if (n->in[i] >= values_.size()) {
        return Bad(fmt::format("{} reads value {}, there are {}", TextOf(n->op), n->in[i],
                               values_.size()));
      }
      in.push_back(values_[n->in[i]]);
    }
    std::vector<Attr> attrs;
    for (uint32_t i = 0; i < n->n_attr; ++i) {
      GE_ASSIGN_OR_RETURN(Attr a, AttrOf(n->attr[i]));
      attrs.push_back(std::move(a));
    }
    const std::vector<ValueId> made =
        t_.AddNode(fn_, node_.id, TextOf(n->domain), TextOf(n->op), std::move(in), std::move(attrs),
                   std::vector<Type>(n_out), {&node_});
    added_.push_back(F().nodes.back().id);
    Status typed = t_.InferLast(fn_, op_.infer_node);
    if (!typed.ok()) return Bad(typed.message());
    for (uint32_t i = 0; i < n_out; ++i) {
      out[i] = static_cast<uint32_t>(values_.size());
      values_.push_back(made[i]);
    }
    return {};
  }

  Status AddConstant(const ge_type* type, const void* data, uint64_t bytes, uint32_t* out) {
    Result<Const> c = ConstFromAbi(*type, data, bytes);
    if (!c.ok()) return Bad(c.status().message());
    *out = static_cast<uint32_t>(values_.size());
    values_.push_back(t_.AddConst(fn_, *std::move(c)));
    return {};
  }

  Result<Attr> AttrOf(const ge_attr& attr) {
    const auto add = [&](Const c) { return F().value(t_.AddConst(fn_, std::move(c))).constant; };
    Result<Attr> read = AttrFromAbi(attr, add, t_.graph().functions.size());
    if (!read.ok()) return Bad(read.status().message());
    return read;
  }

  Status ValueOf(uint32_t v, const ge_value** found) {
    if (v == 0 || v >= values_.size()) return Bad(fmt::format("there is no value {}", v));
    const Type& t = F().value(values_[v]).type;
    ge_value& r = records_.emplace_back();
    auto& dims = dims_.emplace_back();
    auto& sizes = sizes_.emplace_back();
    for (const Dim& d : t.dims) {
      dims.push_back(d.known() ? d.value : -1);
      sizes.push_back(AbiDim(d, t_.graph().dims, &names_));
    }
    r.h = GE_HDR(ge_value, GE_TAG_VALUE);
    r.type.dtype = static_cast<int32_t>(t.dtype);
    r.type.bits = static_cast<uint32_t>(DTypeBits(t.dtype));
    r.type.rank = t.ranked ? static_cast<int32_t>(t.dims.size()) : -1;
    r.type.dims = dims.data();
    r.dim = sizes.data();
    r.producer = UINT32_MAX;
    *found = &r;
    return {};
  }

  const PluginOp& op_;
  Transaction& t_;
  const FunctionId fn_;
  const Node& node_;
  const char* what_ = "decompose";  // the rule that is called
  std::string declined_;            // what it said beside its last answer
  std::vector<ValueId> values_;     // by the rule's numbers; [0] is absent
  size_t first_own_ = 0;            // the first that the rule made
  std::vector<NodeId> added_;
  ge_builder api_{};
  ge_value absent_{};
  std::deque<ge_value> records_;
  std::deque<std::vector<int64_t>> dims_;
  std::deque<std::vector<ge_dim>> sizes_;
  std::deque<std::string> names_;
  Status failed_;
};

}  // namespace

std::vector<ValueId> DecomposeByPlugin(const PluginOp& op, Transaction& transaction, FunctionId fn,
                                       const Node& node) {
  Builder builder(op, transaction, fn, node);
  Result<std::vector<ValueId>> made = builder.Run();
  if (made.ok() && !made->empty()) return std::move(*made);
  builder.Undo();
  if (!made.ok()) LogLine(1, Status(made.status()).AtNode(NodeLabel(node)).ToString());
  return {};
}

Result<std::vector<ValueId>> DeriveByPlugin(const PluginOp& op, bool by_output,
                                            Transaction& transaction, FunctionId fn,
                                            const Node& node, const std::vector<ValueId>& given) {
  Builder builder(op, transaction, fn, node);
  Result<std::vector<ValueId>> made = builder.Derive(by_output, given);
  if (made.ok()) return made;
  builder.Undo();
  return Status(made.status()).AtNode(NodeLabel(node));
}

}  // namespace ge
