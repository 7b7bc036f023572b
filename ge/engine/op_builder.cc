// decompose of a plugin's operators: the nodes that its rule adds.
#include <fmt/format.h>

#include <deque>
#include <new>

#include "ge/base/log.h"
#include "ge/engine/engine.h"
#include "ge/engine/one_node.h"
#include "ge/engine/op_plugin.h"
#include "ge/engine/record.h"
#include "ge/ops/edit.h"

namespace ge {
namespace {

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
    GE_ASSIGN_OR_RETURN(const OneNode one, View());
    api_.graph = one.view();
    std::vector<uint32_t> out(node_.outputs.size(), 0);
    ge_err err = EmptyError();
    const ge_rc rc = op_.def.decompose(&api_, out.data(), &err);
    if (!failed_.ok()) return failed_;
    if (rc == GE_UNIMPLEMENTED) return std::vector<ValueId>();
    if (rc != GE_OK) return FromRule(op_, "decompose", rc, err);
    std::vector<ValueId> made;
    for (size_t i = 0; i < out.size(); ++i) {
      // What the node itself gives is gone with it.
      const bool own = out[i] >= node_.inputs.size() + 1 && out[i] < first_own_;
      if (out[i] >= values_.size() || own || (out[i] == 0) != (node_.outputs[i] == 0)) {
        return Status(
            Code::kPluginError,
            fmt::format("plugin '{}': decompose of {} gave value {} for output {}; wanted "
                        "one that it built, or an input",
                        op_.plugin, op_.name, out[i], i));
      }
      made.push_back(values_[out[i]]);
    }
    GE_RETURN_IF_ERROR(CheckTypes(made));
    return made;
  }

  void Undo() {
    for (auto id = added_.rbegin(); id != added_.rend(); ++id) t_.Erase(fn_, *id);
  }

 private:
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
  Status CheckTypes(const std::vector<ValueId>& made) const {
    for (size_t i = 0; i < made.size(); ++i) {
      if (!made[i]) continue;
      const Type& is = F().value(made[i]).type;
      const Type& wanted = F().value(node_.outputs[i]).type;
      bool fits = is.dtype == wanted.dtype;
      if (is.is_static() && wanted.is_static()) fits = fits && is.dims == wanted.dims;
      if (fits) continue;
      return Status(Code::kPluginError,
                    fmt::format("plugin '{}': decompose of {} gave {} for output {}; infer said {}",
                                op_.plugin, op_.name, TypeToString(is, t_.graph().dims), i,
                                TypeToString(wanted, t_.graph().dims)));
    }
    return {};
  }

  Status Bad(const std::string& text) const {
    return Status(Code::kPluginError,
                  fmt::format("plugin '{}': decompose of {}: {}", op_.plugin, op_.name, text));
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

  Result<Const> ConstOf(const ge_type& type, const void* data, uint64_t bytes) const {
    const bool legal = type.dtype > 0 && type.dtype < kDTypeCount && type.dtype != GE_STRING &&
                       type.rank >= 0 && type.rank <= 32 && (type.rank == 0 || type.dims);
    if (!legal) return Bad("a constant's type is not legal; wanted numbers of a known rank");
    std::vector<int64_t> dims(type.dims, type.dims + (type.rank > 0 ? type.rank : 0));
    Type t = TensorType(static_cast<DType>(type.dtype), dims);
    const auto wanted = ByteCount(t);
    if (!wanted || static_cast<uint64_t>(*wanted) != bytes || (bytes && !data)) {
      return Bad(fmt::format("a constant of {} bytes is given {}", wanted.value_or(-1), bytes));
    }
    return MakeConst(std::move(t), data, bytes);
  }

  Status AddConstant(const ge_type* type, const void* data, uint64_t bytes, uint32_t* out) {
    GE_ASSIGN_OR_RETURN(Const c, ConstOf(*type, data, bytes));
    *out = static_cast<uint32_t>(values_.size());
    values_.push_back(t_.AddConst(fn_, std::move(c)));
    return {};
  }

  Result<Attr> AttrOf(const ge_attr& a) {
    Attr out{TextOf(a.name), int64_t{0}};
    switch (a.kind) {
      case GE_ATTR_INT:
        return out.value = a.i, out;
      case GE_ATTR_FLOAT:
        return out.value = a.f, out;
      case GE_ATTR_STRING:
        return out.value = TextOf(a.s), out;
      case GE_ATTR_INTS:
        return out.value = std::vector<int64_t>(a.ints, a.ints + a.n), out;
      case GE_ATTR_FLOATS:
        return out.value = std::vector<double>(a.floats, a.floats + a.n), out;
      case GE_ATTR_STRINGS: {
        std::vector<std::string> texts;
        for (uint32_t i = 0; i < a.n; ++i) texts.push_back(TextOf(a.strings[i]));
        return out.value = std::move(texts), out;
      }
      case GE_ATTR_TENSOR: {
        GE_ASSIGN_OR_RETURN(Const c, ConstOf(a.tensor_type, a.tensor, a.tensor_bytes));
        const ValueId v = t_.AddConst(fn_, std::move(c));
        return out.value = ConstRef{F().value(v).constant}, out;
      }
      default:
        return Bad(fmt::format("attribute '{}' is of kind {}", out.name, a.kind));
    }
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
    r.type.dims = dims.data(), r.dim = sizes.data();
    r.producer = UINT32_MAX;
    *found = &r;
    return {};
  }

  const PluginOp& op_;
  Transaction& t_;
  const FunctionId fn_;
  const Node& node_;
  std::vector<ValueId> values_;  // by the rule's numbers; [0] is absent
  size_t first_own_ = 0;         // the first that the rule made
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

std::vector<ValueId> DecomposeByPlugin(const PluginOp& op, Transaction& t, FunctionId fn,
                                       const Node& node) {
  Builder builder(op, t, fn, node);
  Result<std::vector<ValueId>> made = builder.Run();
  if (made.ok() && !made->empty()) return std::move(*made);
  builder.Undo();
  if (!made.ok()) LogLine(1, made.status().ToString());
  return {};
}

}  // namespace ge
