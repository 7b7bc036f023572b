// infer, states and work of a plugin's operators.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <new>

#include "ge/engine/engine.h"
#include "ge/engine/op/one_node.h"
#include "ge/engine/op/op_plugin.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

constexpr int32_t kMaxRank = 32;     // more than INFER lets any value have
constexpr uint32_t kMaxInts = 1024;  // elements of a tensor whose content is tracked

// What one call of infer may ask and answer; nothing that the plugin gives is believed.
class InferCall {
 public:
  // `declared`: outputs of the operator, of which the node may omit the last.
  InferCall(InferContext& c, uint32_t declared)
      : c_(c), declared_(declared), set_(c.output_count(), false) {
    api_.h = GE_HDR(ge_infer, GE_TAG_INFER);
    api_.host = this;
    api_.output = [](void* h, uint32_t i, int32_t dtype, int32_t rank, const ge_dim* dims) {
      return Of(h).Guard([&] { return Of(h).Output(i, dtype, rank, dims); });
    };
    api_.ints = [](void* h, uint32_t i, uint32_t* n) -> const ge_dim* {
      const ge_dim* found = nullptr;
      Of(h).Guard([&] { return Of(h).Ints(i, n, &found); });
      return found;
    };
    api_.output_ints = [](void* h, uint32_t i, const ge_dim* values, uint32_t n) {
      return Of(h).Guard([&] { return Of(h).OutputInts(i, values, n); });
    };
    api_.dim = [](void* h, uint32_t op, const ge_dim* a, const ge_dim* b, ge_dim* out) {
      return Of(h).Guard([&] { return Of(h).Calculate(op, a, b, out); });
    };
    api_.data_dim = [](void* h, ge_str stem, ge_dim* out) {
      return Of(h).Guard([&] { return Of(h).DataDim(stem, out); });
    };
  }

  // `what` names the rule for messages.
  Status Run(const PluginOp& op, const char* what, ge_rc (*rule)(const ge_infer*, ge_err*),
             const ge_graph* view) {
    api_.graph = view;
    ge_err err = EmptyError();
    const ge_rc rc = CallPlugin(RuleText(op, what), &err, [&] { return rule(&api_, &err); });
    if (rc != GE_OK && err.msg_len == 0 && !refused_.empty()) return Told(op, what, rc);
    if (rc != GE_OK) return FromRule(op, what, rc, err);
    for (size_t i = 0; i < set_.size(); ++i) {
      if (set_[i] || !c_.has_output(i)) continue;
      return Status(Code::kPluginError,
                    fmt::format("plugin '{}': {} of {} gave no type for output {}; it has to call "
                                "ge_infer.output for each",
                                op.plugin, what, op.name, i));
    }
    return {};
  }

 private:
  static InferCall& Of(void* host) { return *static_cast<InferCall*>(host); }

  template <typename F>
  ge_rc Guard(F f) {
    try {
      return f();
    } catch (const std::bad_alloc&) {
      return GE_OUT_OF_MEMORY;
    }
  }

  ge_rc Output(uint32_t i, int32_t dtype, int32_t rank, const ge_dim* dims) {
    if (i >= set_.size()) return i < declared_ ? GE_OK : NoSuchOutput("output", i);
    const bool legal = dtype > 0 && dtype < kDTypeCount && rank >= -1 && rank <= kMaxRank &&
                       (rank <= 0 || dims != nullptr);
    if (!legal) {
      return Refuse(
          GE_INVALID_ARGUMENT,
          fmt::format("it called ge_infer.output for output {} with dtype {}, rank {}{}; "
                      "wanted a dtype from 1 to {}, a rank from -1 to {}, and dims",
                      i, dtype, rank, dims ? "" : ", dims NULL", kDTypeCount - 1, kMaxRank));
    }
    Type t = UnrankedTensor(static_cast<DType>(dtype));
    t.ranked = rank >= 0;
    for (int32_t k = 0; k < rank; ++k) {
      const auto d = DimFromAbi(dims[k], c_.dims());
      if (!d) {
        return Refuse(GE_INVALID_ARGUMENT,
                      fmt::format("it called ge_infer.output for output {} with a size {} of {} on "
                                  "axis {}, which no call made",
                                  i, dims[k].id, dims[k].value, k));
      }
      t.dims.push_back(*d);
    }
    if (c_.has_output(i)) c_.SetOutput(i, std::move(t));
    set_[i] = true;
    return GE_OK;
  }

  // What the host has against a call, for a rule that hands on the code alone.
  ge_rc Refuse(ge_rc rc, std::string why) {
    if (refused_.empty()) refused_ = std::move(why);
    return rc;
  }
  ge_rc NoSuchOutput(const char* call, uint32_t i) {
    return Refuse(
        GE_OUT_OF_RANGE,
        fmt::format("it called ge_infer.{} for output {}, and there are {}: {} of the operator, "
                    "{} of the node (n_out)",
                    call, i, std::max<size_t>(set_.size(), declared_), declared_, set_.size()));
  }
  Status Told(const PluginOp& op, const char* what, ge_rc rc) const {
    ge_err err = EmptyError();
    err.msg_len = static_cast<uint32_t>(std::min(refused_.size(), sizeof err.msg));
    std::copy_n(refused_.data(), err.msg_len, err.msg);
    return FromRule(op, what, rc, err);
  }

  ge_rc Ints(uint32_t i, uint32_t* n, const ge_dim** found) {
    *n = 0;
    if (i >= c_.input_count() || !c_.has_input(i)) return GE_OK;
    const std::vector<Dim>* ints = c_.input_ints(i);
    if (!ints) return GE_OK;
    auto& out = ints_.emplace_back();
    for (const Dim& d : *ints) out.push_back(AbiDim(d, c_.dims(), &names_));
    *n = static_cast<uint32_t>(out.size());
    *found = out.data();
    return GE_OK;
  }

  ge_rc OutputInts(uint32_t i, const ge_dim* values, uint32_t n) {
    if (i >= set_.size()) return i < declared_ ? GE_OK : NoSuchOutput("output_ints", i);
    if (n > kMaxInts || (n > 0 && !values)) {
      return Refuse(GE_OUT_OF_RANGE,
                    fmt::format("it called ge_infer.output_ints for output {} with {} elements{}; "
                                "wanted at most {}",
                                i, n, values ? "" : " at NULL", kMaxInts));
    }
    std::vector<Dim> ints;
    for (uint32_t k = 0; k < n; ++k) {
      const auto d = values[k].id ? DimFromAbi(values[k], c_.dims()) : KnownDim(values[k].value);
      if (!d) return GE_INVALID_ARGUMENT;
      ints.push_back(*d);
    }
    if (c_.has_output(i)) c_.SetOutputInts(i, std::move(ints));
    return GE_OK;
  }

  ge_rc Calculate(uint32_t op, const ge_dim* a, const ge_dim* b, ge_dim* out) {
    using Rule = std::optional<Dim> (DimTable::*)(Dim, Dim);
    static constexpr Rule kRules[] = {&DimTable::Add,      &DimTable::Sub,     &DimTable::Mul,
                                      &DimTable::FloorDiv, &DimTable::CeilDiv, &DimTable::Mod,
                                      &DimTable::Min,      &DimTable::Max};
    if (op < GE_DIM_ADD || op > GE_DIM_MAX || !a || !b || !out) return GE_INVALID_ARGUMENT;
    // Also between numbers that are no sizes yet: differences may be below zero.
    const auto read = [&](const ge_dim& d) {
      return d.id ? DimFromAbi(d, c_.dims()) : std::optional(KnownDim(d.value));
    };
    const auto x = read(*a), y = read(*b);
    if (!x || !y) return GE_INVALID_ARGUMENT;
    const auto made = (c_.dims().*kRules[op - 1])(*x, *y);
    if (!made) return GE_OUT_OF_RANGE;
    *out = AbiDim(*made, c_.dims(), &names_);
    return GE_OK;
  }

  ge_rc DataDim(ge_str stem, ge_dim* out) {
    const std::string name = stem.p ? std::string(stem.p, std::min<uint64_t>(stem.n, 64)) : "n";
    *out = AbiDim(c_.FreshDim(name, true), c_.dims(), &names_);
    return GE_OK;
  }

  InferContext& c_;
  const uint32_t declared_;
  std::vector<bool> set_;
  ge_infer api_{};
  std::deque<std::vector<ge_dim>> ints_;
  std::deque<std::string> names_;
  std::string refused_;  // the first call that was
};

// Attributes alone: no input and no output of the node is there.
class StateContext : public InferContext {
 public:
  StateContext(const Graph& graph, const Node& node, size_t states)
      : graph_(graph), node_(node), dims_(graph.dims), types(states) {}
  const Node& node() const override { return node_; }
  DimTable& dims() override { return dims_; }
  size_t input_count() const override { return 0; }
  bool has_input(size_t) const override { return false; }
  const Type& input_type(size_t) const override { return types[0]; }
  const std::vector<Dim>* input_ints(size_t) const override { return nullptr; }
  const Const* input_const(size_t) const override { return nullptr; }
  const Const& tensor_attr(ConstRef ref) const override { return graph_.consts[ref.id]; }
  size_t output_count() const override { return types.size(); }
  bool has_output(size_t i) const override { return i < types.size(); }
  void SetOutput(size_t i, Type type) override { types[i] = std::move(type); }
  void SetOutputInts(size_t, std::vector<Dim>) override {}
  Dim FreshDim(const std::string& stem, bool) override {
    return dims_.OfSymbol(dims_.FreshSymbol(stem));
  }

 private:
  const Graph& graph_;
  const Node& node_;
  DimTable dims_;

 public:
  std::vector<Type> types;
};

}  // namespace

Status InferByPlugin(const PluginOp& op, InferContext& context) {
  std::vector<OneNode::Input> inputs(context.input_count());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (context.has_input(i)) inputs[i] = {&context.input_type(i), context.input_const(i)};
  }
  GE_ASSIGN_OR_RETURN(
      const OneNode one,
      OneNode::Make(context.node(), inputs, std::vector<const Type*>(context.output_count()),
                    context.dims(), [&](ConstRef ref) { return &context.tensor_attr(ref); }));
  return InferCall(context, op.def.n_output).Run(op, "infer", op.def.infer, one.view());
}

Result<std::vector<Type>> StatesByPlugin(const PluginOp& op, const Graph& graph, const Node& node) {
  size_t states = 0;
  for (uint32_t i = 0; i < op.def.n_input; ++i) {
    states += (op.def.input[i].flags & GE_PORT_STATE) != 0 ? 1 : 0;
  }
  Node bare = node;
  bare.inputs.clear();
  bare.outputs.clear();
  StateContext c(graph, bare, states);
  GE_ASSIGN_OR_RETURN(const OneNode one, OneNode::Make(bare, {}, {}, graph.dims, [&](ConstRef ref) {
                        return &graph.consts[ref.id];
                      }));
  GE_RETURN_IF_ERROR(InferCall(c, 0).Run(op, "states", op.def.states, one.view()));
  for (const Type& t : c.types) {
    if (t.is_static() && ByteCount(t)) continue;
    return Status(Code::kPluginError,
                  fmt::format("plugin '{}': states of {} gave {}; wanted a dtype and sizes that "
                              "attributes decide",
                              op.plugin, op.name, TypeToString(t, graph.dims)));
  }
  return c.types;
}

Work WorkByPlugin(const PluginOp& op, const Node& node, std::span<const Type> in,
                  std::span<const Type> out) {
  static const DimTable kNone;  // sizes are known where work is asked for
  std::vector<OneNode::Input> inputs(node.inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (node.inputs[i]) inputs[i].type = &in[i];
  }
  std::vector<const Type*> outputs;
  for (const Type& t : out) outputs.push_back(&t);
  Work work = PerOutput<1>(node, in, out);
  const auto is_static = [](const Type& t) { return t.is_static(); };
  if (!std::all_of(in.begin(), in.end(), is_static)) return work;
  if (!std::all_of(out.begin(), out.end(), is_static)) return work;
  const auto one = OneNode::Make(node, inputs, outputs, kNone, nullptr);
  if (!one.ok()) return work;
  double flops = 0, bytes = 0;
  ge_err err = EmptyError();
  const ge_rc rc = CallPlugin(RuleText(op, "work"), &err,
                              [&] { return op.def.work(one->view(), &flops, &bytes, &err); });
  if (rc == GE_OK && flops >= 0 && bytes >= 0) work = {flops, bytes};
  return work;
}

Status ShardByPlugin(const PluginOp& op, const Graph& graph, const Function& function,
                     const Node& node, void* to, ge_rc (*way)(void* to, const ge_shard*)) {
  std::vector<OneNode::Input> inputs;
  std::vector<const Type*> outputs;
  for (const ValueId v : node.inputs) {
    const Value& value = function.value(v);
    inputs.push_back(
        {v ? &value.type : nullptr, v && value.constant ? &graph.consts[value.constant] : nullptr});
  }
  for (const ValueId v : node.outputs) outputs.push_back(v ? &function.value(v).type : nullptr);
  GE_ASSIGN_OR_RETURN(const OneNode one,
                      OneNode::Make(node, inputs, outputs, graph.dims,
                                    [&](ConstRef ref) { return &graph.consts[ref.id]; }));
  ge_err err = EmptyError();
  const ge_rc rc = CallPlugin(RuleText(op, "shard"), &err,
                              [&] { return op.def.shard(one.view(), to, way, &err); });
  return rc == GE_OK ? Status() : FromRule(op, "shard", rc, err);
}

}  // namespace ge
