// One node: its rule's view of the graph, and what becomes of the answer.
#include <algorithm>
#include <charconv>

#include "ge/infer/left_out.h"
#include "ge/infer/module_infer.h"
#include "ge/ir/model_meta.h"
#include "ge/ops/op_table.h"

namespace ge::infer {
namespace {

constexpr size_t kMaxInts = 1024;  // Elements of a tensor whose content is tracked.

std::string ValueLabel(const Function& f, ValueId v) {
  return f.value(v).name.empty() ? "value " + std::to_string(v) : "value '" + f.value(v).name + "'";
}

class NodeContext : public InferContext {
 public:
  NodeContext(Graph* g, const Function& f, const Node& n)
      : g_(*g), f_(f), n_(n), more_(n.outputs.size() > 1 ? n.outputs.size() : 0) {}

  const Node& node() const override { return n_; }
  DimTable& dims() override { return g_.dims; }
  size_t input_count() const override { return n_.inputs.size(); }
  bool has_input(size_t i) const override { return i < n_.inputs.size() && n_.inputs[i] != 0; }
  const Type& input_type(size_t i) const override { return f_.value(n_.inputs[i]).type; }
  const std::vector<Dim>* input_ints(size_t i) const override {
    if (!has_input(i)) return nullptr;
    const auto& ints = f_.value(n_.inputs[i]).ints;
    return ints ? &*ints : nullptr;
  }
  const Const* input_const(size_t i) const override {
    if (!has_input(i)) return nullptr;
    const ConstId c = f_.value(n_.inputs[i]).constant;
    return c ? &g_.consts[c] : nullptr;
  }
  const Const& tensor_attr(ConstRef ref) const override { return g_.consts[ref.id]; }
  size_t output_count() const override { return n_.outputs.size(); }
  bool has_output(size_t i) const override { return i < n_.outputs.size() && n_.outputs[i] != 0; }
  void SetOutput(size_t i, Type type) override {
    if (i < n_.outputs.size()) made(i).type = std::move(type);
  }
  void SetOutputInts(size_t i, std::vector<Dim> values) override {
    if (i < n_.outputs.size() && values.size() <= kMaxInts) made(i).ints = std::move(values);
  }
  Dim FreshDim(const std::string& stem, bool data_dependent) override;
  const Function* callee(std::string_view role) const override {
    for (const Callee& c : n_.callees) {
      if (c.role == role && c.fn && c.fn < g_.functions.size()) return &g_.functions[c.fn];
    }
    return nullptr;
  }
  const State* state(StateId id) const override {
    return id && id < g_.states.size() ? &g_.states[id] : nullptr;
  }
  const Type* declared_output(size_t i) const override {
    if (!has_output(i) || f_.value(n_.outputs[i]).type.kind == TypeKind::kUnknown) return nullptr;
    return &f_.value(n_.outputs[i]).type;
  }

  Type& made_type(size_t i) { return made(i).type; }
  std::optional<std::vector<Dim>>& made_ints(size_t i) { return made(i).ints; }
  const std::vector<Dim>& fresh() const { return fresh_; }

 private:
  Graph& g_;
  const Function& f_;
  const Node& n_;
  struct Made {
    Type type;
    std::optional<std::vector<Dim>> ints;
  };
  Made& made(size_t i) { return more_.empty() ? only_ : more_[i]; }
  Made only_;               // of most nodes
  std::vector<Made> more_;  // of those with several outputs
  std::vector<Dim> fresh_;
};

// The name depends on the node and the call alone, so that inferring again makes no new symbols.
Dim NodeContext::FreshDim(const std::string& stem, bool data_dependent) {
  Symbol s;
  s.name = stem + "_" + std::to_string(f_.id) + "_" + std::to_string(n_.id) + "_" +
           std::to_string(fresh_.size());
  s.origin = "node '" + NodeLabel(n_) + "'";
  s.data_dependent = data_dependent;
  SymbolId id = g_.dims.FindSymbol(s.name);
  if (!id) {
    id = g_.dims.AddSymbol(s);
  } else if (g_.dims.symbol(id).origin != s.origin) {  // The user's own symbol has this name.
    id = g_.dims.FreshSymbol(s.name);
    g_.dims.symbol(id).origin = s.origin;
    g_.dims.symbol(id).data_dependent = data_dependent;
  }
  fresh_.push_back(g_.dims.OfSymbol(id));
  return fresh_.back();
}

std::string DomainName(std::string_view domain) {
  return domain.empty() ? "ai.onnx" : std::string(domain);
}

// The domains that have an operator of this name; one of them may have been meant.
std::string DomainsWith(const Graph& graph, const std::string& name) {
  std::string out;
  const auto look = [&](const OpDef& op) {
    if (op.name == name) out += (out.empty() ? "'" : ", '") + DomainName(op.domain) + "'";
  };
  for (const OpDef* op : AllOps()) look(*op);
  if (graph.ops == nullptr) return out;
  for (const OpDef& op : graph.ops->all()) look(op);
  return out;
}

// What the session's plugins bring of a domain that is not ours.
std::string PluginHint(const Graph& graph, const std::string& domain) {
  std::string names;
  if (graph.ops != nullptr) {
    for (const OpDef& op : graph.ops->all()) {
      if (op.domain == domain) names += (names.empty() ? "" : ", ") + std::string(op.name);
    }
  }
  const auto opset = graph.opsets.find(domain);
  const std::string version = opset != graph.opsets.end() ? ", which the model uses at version " +
                                                                std::to_string(opset->second)
                                                          : "";
  if (!names.empty()) {
    return "; of this domain" + version + ", the loaded plugins bring " + names;
  }
  return "; no loaded plugin brings operators of this domain" + version +
         ": name one that does with --plugins FILE.so (plugins of ge_session_options)";
}

// What a model of a newer opset wants and the newest known one lacks, newer versions may well have.
Status SayNewerOpset(const Graph& graph, const Node& n, Status status) {
  if (status.ok() || !n.domain.empty()) return status;
  const auto at = graph.meta.find(kSourceOpsetKey);
  if (at == graph.meta.end()) return status;
  int64_t opset = 0;
  std::from_chars(at->second.data(), at->second.data() + at->second.size(), opset);
  if (opset <= kCanonicalOpset) return status;
  return Status(status.code(), status.message() + "; the model uses opset " +
                                   std::to_string(opset) +
                                   " of ai.onnx, of which operators are known up to opset " +
                                   std::to_string(kCanonicalOpset));
}

// Says what is different from the operators that there are, and never suggests the same one.
Status UnknownOp(const Graph& graph, const Node& n) {
  if (const std::string_view instead = InsteadOf(n.domain, n.op); !instead.empty()) {
    return Status(Code::kUnsupported, "operator '" + n.op + "' of domain '" + n.domain +
                                          "' is not computed here: " + std::string(instead));
  }
  std::string text =
      "operator '" + n.op + "' of domain '" + DomainName(n.domain) + "' is not known";
  const std::string same = DomainsWith(graph, n.op);
  std::string near;
  for (const std::string& name : NearestOps(n.domain, n.op)) {
    near += (near.empty() ? "" : ", ") + name;
  }
  if (!same.empty()) {
    text += "; an operator of this name is there in domain " + same + ": is that one meant?";
  } else if (!near.empty()) {
    text += "; did you mean " + near + "?";
  }
  if (!n.domain.empty() && n.domain != "ge") text += PluginHint(graph, n.domain);
  return Status(Code::kUnsupported, text);
}

Status CheckMade(const Node& n, size_t i, const Type& t, const DimTable& dims) {
  if (t.kind == TypeKind::kUnknown) {
    return Status(Code::kInternal,
                  "the rule of " + n.op + " gave no type for output " + std::to_string(i));
  }
  for (size_t axis = 0; axis < t.dims.size(); ++axis) {
    if (!t.dims[axis].known() || t.dims[axis].value >= 0) continue;
    return Status(Code::kInvalidGraph, "output " + std::to_string(i) + " would have size " +
                                           std::to_string(t.dims[axis].value) + " on axis " +
                                           std::to_string(axis) + " (" + TypeToString(t, dims) +
                                           "); the inputs are too small for the attributes");
  }
  const bool sized = t.is_static() && IsKnown(t.dtype) && t.dtype != DType::kString;
  if (sized && !ByteCount(t)) {
    return Status(Code::kLimitExceeded, "output " + std::to_string(i) + " would be " +
                                            TypeToString(t, dims) +
                                            ", which is larger than 2^63 bytes");
  }
  return {};
}

// Does a declared shape give the tracked content another length?
bool FitsContent(const Type& t, size_t length) {
  const auto count = ElementCount(t);
  return !count || *count == static_cast<int64_t>(length);
}

}  // namespace

int64_t CapturesOf(const Node& node) {
  const int64_t n = AttrInt(node, "captures");
  return std::clamp<int64_t>(n, 0, static_cast<int64_t>(node.inputs.size()));
}

Status WantKnown(const Graph& graph, const Node& node) {
  if (FindOp(graph, node) != nullptr) return {};
  return SayNewerOpset(graph, node, UnknownOp(graph, node));
}

Status InferOneNode(Graph* graph, FunctionId fn, size_t index, bool checked) {
  Function& f = graph->fn(fn);
  const Node& n = f.nodes[index];
  const OpDef* op = FindOp(*graph, n);
  if (!op) return SayNewerOpset(*graph, n, UnknownOp(*graph, n));
  NodeContext context(graph, f, n);
  if (!checked) {
    GE_RETURN_IF_ERROR(SayNewerOpset(*graph, n, CheckNodeAgainstOp(n, *op)));
    GE_RETURN_IF_ERROR(SayNewerOpset(*graph, n, CheckInputTypes(context, *op)));
  }
  if (!op->infer) {
    return Status(Code::kUnsupported, "operator '" + n.op + "' has no rule for shapes yet");
  }
  GE_RETURN_IF_ERROR(op->infer(context));
  for (size_t i = 0; i < n.outputs.size(); ++i) {
    if (!n.outputs[i]) continue;
    GE_RETURN_IF_ERROR(CheckMade(n, i, context.made_type(i), graph->dims));
    Value& v = f.value(n.outputs[i]);
    Type& made = context.made_type(i);
    const bool plain = v.type.kind == TypeKind::kUnknown || v.type == made;  // nothing to merge
    if (plain || MergeTensors(v.type, context.fresh(), &made)) {
      v.type = std::move(made);
    } else {  // containers, or what contradicts
      GE_ASSIGN_OR_RETURN(v.type, MergeTypes(v.type, made, graph->dims, context.fresh(),
                                             ValueLabel(f, n.outputs[i])));
    }
    v.ints = std::move(context.made_ints(i));
    if (v.ints && !FitsContent(v.type, v.ints->size())) v.ints.reset();
  }
  return {};
}

}  // namespace ge::infer
