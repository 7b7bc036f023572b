#include "frontend/onnx/import_graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "ge/base/interrupt.h"
#include "ge/ir/walk.h"
#include "ge/ops/control.h"
#include "ge/wire/onnx.pb.h"

namespace ge {
namespace {

Status Invalid(std::string text) { return Status(Code::kInvalidGraph, std::move(text)); }

std::string LabelOf(const wire::Node& n, int index) {
  return n.name().empty() ? fmt::format("{}#{}", n.op_type(), index) : n.name();
}

std::string DomainOf(const wire::Node& n) { return n.domain() == "ai.onnx" ? "" : n.domain(); }

bool IsConstant(const wire::Node& n) { return n.op_type() == "Constant" && DomainOf(n).empty(); }

}  // namespace

std::string GraphImporter::UniqueFunctionName(const std::string& name) {
  const auto [at, fresh] = function_names_.try_emplace(name, 2);
  if (fresh) return name;
  for (int& number = at->second;;) {
    std::string unique = fmt::format("{}_{}", name, number++);
    if (function_names_.try_emplace(unique, 2).second) return unique;
  }
}

Status GraphImporter::Declare(Scope* scope, std::string_view name, ValueId value, std::string by) {
  auto [at, fresh] = scope->names.try_emplace(name, Declared{value, by, false});
  if (fresh) return {};
  return Invalid(fmt::format("the value '{}' is defined twice, by {} and by {}; rename one of them",
                             name, at->second.by, by));
}

ValueId GraphImporter::Resolve(Scope* scope, std::string_view name) {
  // The graphs between the definition and here each hand the value on as a parameter.
  std::vector<Scope*> path;
  Scope* at = scope;
  while (at && !at->names.count(name)) {
    path.push_back(at);
    at = at->parent;
  }
  if (!at) return 0;
  ValueId value = at->names.find(name)->second.value;
  if (value == 0) return 0;  // a function's input that the call omits
  for (; !path.empty(); path.pop_back()) {
    Value outer = Fn(*at).value(value);
    auto rank = s_->declared_ranks.find({at->fn, value});
    at = path.back();
    Function& f = Fn(*at);
    value = AddValue(&f, std::move(outer.type), outer.name);
    f.params.push_back(value);
    at->names[name] = Declared{value, "an enclosing graph", true};
    at->captures.push_back(name);
    if (rank != s_->declared_ranks.end()) s_->declared_ranks[{at->fn, value}] = rank->second;
  }
  return value;
}

Result<ValueId> GraphImporter::InputOf(const wire::Node& n, int i, const std::string& label,
                                       Scope* scope) {
  const std::string& name = n.input(i);
  if (name.empty()) return ValueId{0};
  GE_RETURN_IF_ERROR(CheckName(*s_, "a value", name));
  const ValueId value = Resolve(scope, name);
  const Scope* at = scope;
  while (value == 0 && at && !at->names.count(name)) at = at->parent;
  if (value != 0 || at) return value;
  return Invalid(fmt::format(
      "input {} of node '{}', '{}', is made by no node, input or initializer", i, label, name));
}

// A new value of this name with the type that the graph declares for it.
Result<ValueId> GraphImporter::TypedValue(Scope* scope, const std::string& name) {
  Type type;
  int rank = -1;
  if (auto info = scope->infos.find(name); info != scope->infos.end()) {
    GE_ASSIGN_OR_RETURN(type, ImportType(s_, info->second->type(), DimNaming::kUse,
                                         fmt::format("value '{}'", name), &rank));
  }
  ValueId value = AddValue(&Fn(*scope), std::move(type), name);
  if (rank >= 0) s_->declared_ranks[{scope->fn, value}] = rank;
  return value;
}

Status GraphImporter::CollectInfos(const wire::Graph& graph, Scope* scope) {
  for (const auto* list : {&graph.value_info(), &graph.output()}) {
    for (const auto& info : *list) {
      GE_RETURN_IF_ERROR(CheckName(*s_, "a value", info.name()));
      if (info.has_type()) scope->infos.emplace(info.name(), &info);
    }
  }
  return {};
}

// What PyTorch's exporter says of initializers that are no parameters of the model: numbers of the
// program, and buffers but for running statistics. They have no name, as those of nodes Constant.
static std::set<std::string_view> LiteralsOf(const wire::Graph& g) {
  constexpr char kKey[] = "pkg.torch.export.graph_signature.InputSpec.kind";
  std::set<std::string_view> literals;
  for (const auto& info : g.value_info()) {
    for (const auto& entry : info.metadata_props()) {
      const bool other = entry.value() == "CONSTANT_TENSOR" || entry.value() == "BUFFER";
      if (entry.key() == kKey && other) literals.insert(info.name());
    }
  }
  for (const auto& n : g.node()) {
    if (n.op_type() != "BatchNormalization" || !DomainOf(n).empty()) continue;
    for (int i = 3; i < n.input_size(); ++i) literals.erase(n.input(i));
  }
  return literals;
}

Status GraphImporter::AddInitializers(const wire::Graph& graph, Scope* scope) {
  const std::set<std::string_view> literals = LiteralsOf(graph);
  for (const auto& t : graph.initializer()) {
    if (t.name().empty()) return Invalid("an initializer has no name; every initializer needs one");
    if (!scope->parent && IsGiven(t.name())) continue;
    GE_ASSIGN_OR_RETURN(const ConstId c,
                        ImportTensorOnce(s_, t, fmt::format("initializer '{}'", t.name())));
    const ValueId value = ConstValue(*scope, c, t.name());
    if (literals.count(t.name()) != 0) s_->graph.consts[c].name.clear();
    GE_RETURN_IF_ERROR(Declare(scope, t.name(), value, "an initializer"));
  }
  if (graph.sparse_initializer_size() > 0) {
    return Status(Code::kUnsupported,
                  fmt::format("the sparse initializer '{}' is not supported yet; make it dense",
                              graph.sparse_initializer(0).values().name()));
  }
  return {};
}

bool GraphImporter::IsGiven(std::string_view initializer) const {
  const auto& given = s_->options.initializer_inputs;
  return std::find(given.begin(), given.end(), initializer) != given.end();
}

// Defaults that a caller may override: initializers that are inputs too, since IR version 4. Before
// it, every initializer had to be listed.
Status GraphImporter::FindDefaults(const wire::Graph& graph) {
  std::unordered_map<std::string_view, const wire::Tensor*> initializers;
  for (const auto& t : graph.initializer()) initializers.emplace(t.name(), &t);
  std::set<std::string_view> defaults;
  for (const auto& input : graph.input()) {
    const auto at = initializers.find(input.name());
    if (s_->ir_version < 4 || at == initializers.end()) continue;
    const wire::Tensor& t = *at->second;
    if (!defaults.insert(t.name()).second) continue;
    s_->stats->defaults.push_back(
        {t.name(), static_cast<DType>(t.data_type()), {t.dims().begin(), t.dims().end()}});
  }
  for (const std::string& name : s_->options.initializer_inputs) {
    if (defaults.count(name) != 0) continue;
    return Status(
        Code::kInvalidArgument,
        fmt::format("the model has no initializer '{}' that is an input too{}; it has {}", name,
                    s_->ir_version < 4 ? ", which IR version 4 began with" : "",
                    defaults.empty() ? "none" : fmt::to_string(fmt::join(defaults, ", "))));
  }
  return {};
}

// Inference and the import make up words for sizes that have none; callers ask for the model's own.
Status GraphImporter::KeepWords(const wire::Graph& graph) {
  for (const auto* list : {&graph.input(), &graph.output()}) {
    for (const auto& port : *list) {
      const wire::Type& type =
          port.type().has_optional_type() ? port.type().optional_type().elem_type() : port.type();
      if (!type.tensor_type().has_shape()) continue;
      const std::string what = fmt::format("an axis of '{}'", port.name());
      std::vector<AxisWords> axes;
      for (const auto& dim : type.tensor_type().shape().dim()) {
        GE_RETURN_IF_ERROR(CheckName(*s_, what, dim.dim_param()));
        GE_RETURN_IF_ERROR(CheckName(*s_, what, dim.denotation()));
        axes.push_back({dim.dim_param() == "?" ? "" : dim.dim_param(), dim.denotation()});
      }
      s_->stats->words.emplace(port.name(), std::move(axes));
    }
  }
  return {};
}

// An input that has an initializer is a constant, but where the caller gives it: up to IR version 3
// every initializer had to be listed among the inputs, and later exporters kept doing it.
Status GraphImporter::AddInputs(const wire::Graph& graph, Scope* scope) {
  std::set<std::string_view> seen;
  std::vector<const wire::ValueInfo*> given;
  for (const auto& input : graph.input()) {
    if (input.name().empty()) return Invalid("a graph input has no name; every input needs one");
    GE_RETURN_IF_ERROR(CheckName(*s_, "a graph input", input.name()));
    if (!seen.insert(input.name()).second) {
      return Invalid(fmt::format("the graph input '{}' is listed twice", input.name()));
    }
    if (scope->names.count(input.name())) continue;
    if (!scope->parent && IsGiven(input.name())) {
      given.push_back(&input);
    } else {
      GE_RETURN_IF_ERROR(AddInput(input, scope));
    }
  }
  for (const wire::ValueInfo* input : given) GE_RETURN_IF_ERROR(AddInput(*input, scope));
  return {};
}

Status GraphImporter::AddInput(const wire::ValueInfo& input, Scope* scope) {
  Type type;
  int rank = -1;
  std::string where = fmt::format("input '{}'", input.name());
  DimNaming naming = scope->parent ? DimNaming::kUse : DimNaming::kDefine;
  if (input.has_type()) {
    GE_ASSIGN_OR_RETURN(type, ImportType(s_, input.type(), naming, where, &rank));
  }
  if (!scope->parent && type.kind == TypeKind::kUnknown) {
    return Invalid(fmt::format("{} has no type, wanted its element type and shape", where));
  }
  Function& f = Fn(*scope);
  ValueId value = AddValue(&f, std::move(type), input.name());
  f.params.push_back(value);
  if (rank >= 0) s_->declared_ranks[{scope->fn, value}] = rank;
  return Declare(scope, input.name(), value, "an input");
}

Status GraphImporter::DeclareNodeOutputs(const NodeList& nodes, Scope* scope) {
  for (int i = 0; i < nodes.size(); ++i) {
    const wire::Node& n = nodes.Get(i);
    GE_RETURN_IF_ERROR(CheckName(*s_, "a node", n.name()));
    GE_RETURN_IF_ERROR(CheckName(*s_, "an operator", n.op_type()));
    std::string label = LabelOf(n, i);
    if (++s_->nodes > s_->options.max_nodes) {
      return Status(Code::kLimitExceeded, fmt::format("the model has more than {} nodes; raise the "
                                                      "limit",
                                                      s_->options.max_nodes));
    }
    GE_RETURN_IF_ERROR(CountCallNode());
    if (IsConstant(n)) {
      GE_RETURN_IF_ERROR(AddConstantNode(n, label, scope));
      continue;
    }
    for (const std::string& name : n.output()) {
      if (name.empty()) continue;
      GE_RETURN_IF_ERROR(CheckName(*s_, "a value", name).AtNode(label));
      GE_ASSIGN_OR_RETURN(ValueId value, TypedValue(scope, name));
      GE_RETURN_IF_ERROR(
          Declare(scope, name, value, fmt::format("node '{}'", label)).AtNode(label));
    }
  }
  return {};
}

Status GraphImporter::AddConstantNode(const wire::Node& n, const std::string& label, Scope* scope) {
  GE_RETURN_IF_ERROR(CheckOperator(n, label).AtNode(label));
  if (n.input_size() != 0 || n.output_size() != 1 || n.output(0).empty()) {
    return Invalid(fmt::format("Constant '{}' has {} inputs and {} outputs, wanted 0 and 1", label,
                               n.input_size(), n.output_size()))
        .AtNode(label);
  }
  auto c = ConstantOf(n, label, *scope);
  if (!c.ok()) return Status(c.status()).AtNode(label);
  // A number that the program writes, where initializers are what it keeps: a constant without a
  // name is no weight to those who look for some. Its value has the node's.
  s_->graph.consts[*c].name.clear();
  const ValueId value = ConstValue(*scope, *c, n.output(0));
  return Declare(scope, n.output(0), value, fmt::format("node '{}'", label)).AtNode(label);
}

ValueId GraphImporter::ConstValue(const Scope& scope, ConstId id, const std::string& name) {
  ValueId* shared = calls_.empty() ? nullptr : &const_values_[{scope.fn, id}];
  if (shared && *shared) return *shared;
  const Const& c = s_->graph.consts[id];
  const ValueId value = AddValue(&Fn(scope), c.type, name);
  Fn(scope).values[value].constant = id;
  if (shared) *shared = value;
  return value;
}

Result<ConstId> GraphImporter::ConstantOf(const wire::Node& n, const std::string& label,
                                          const Scope& scope) {
  if (n.attribute_size() != 1) {
    return Invalid(
        fmt::format("Constant '{}' has {} attributes, wanted one of value, value_int, "
                    "value_ints, value_float, value_floats, value_string, value_strings",
                    label, n.attribute_size()));
  }
  std::string where = fmt::format("attribute '{}' of node '{}'", n.attribute(0).name(), label);
  GE_ASSIGN_OR_RETURN(const wire::Attribute* given, Given(scope, n.attribute(0), where));
  if (!given) return Invalid(fmt::format("{} refers to a parameter that is not given", where));
  if (n.attribute(0).name() == "value") {
    if (!given->has_t()) return Invalid(fmt::format("{} holds no tensor", where));
    return ImportTensorOnce(s_, given->t(), where);
  }
  const auto known = s_->const_of.find(given);
  if (known != s_->const_of.end()) return known->second;
  GE_ASSIGN_OR_RETURN(Const c, ReadConstant(*given, n.attribute(0).name(), where));
  const ConstId id = s_->graph.AddConst(std::move(c));
  s_->const_of.emplace(given, id);
  return id;
}

// `name` of the attribute is Constant's; that of `attribute` may be of the parameter that gives it.
Result<Const> GraphImporter::ReadConstant(const wire::Attribute& attribute, std::string_view name,
                                          const std::string& where) {
  if (name == "sparse_value") {
    return Status(Code::kUnsupported,
                  fmt::format("{} is not supported yet; store it dense as value", where));
  }
  GE_ASSIGN_OR_RETURN(Attr attr, ImportAttr(s_, attribute, where));
  Const c;
  auto plain = [&](auto values, DType dtype, bool scalar) {
    std::vector<int64_t> dims;
    if (!scalar) dims.push_back(static_cast<int64_t>(values.size()));
    c = MakeConst(TensorType(dtype, dims), values.data(), values.size() * sizeof(values[0]));
    s_->stats->weight_bytes += c.bytes;
    s_->stats->copied_bytes += c.bytes;
  };
  if (auto* i = std::get_if<int64_t>(&attr.value); i && name == "value_int") {
    plain(std::vector<int64_t>{*i}, DType::kInt64, true);
  } else if (auto* f = std::get_if<double>(&attr.value); f && name == "value_float") {
    plain(std::vector<float>{static_cast<float>(*f)}, DType::kFloat, true);
  } else if (auto* is = std::get_if<std::vector<int64_t>>(&attr.value);
             is && name == "value_ints") {
    plain(*is, DType::kInt64, false);
  } else if (auto* fs = std::get_if<std::vector<double>>(&attr.value);
             fs && name == "value_floats") {
    plain(std::vector<float>(fs->begin(), fs->end()), DType::kFloat, false);
  } else if (auto* s = std::get_if<std::string>(&attr.value); s && name == "value_string") {
    c.type = TensorType(DType::kString, std::vector<int64_t>{});
    c.strings = {*s};
  } else if (auto* ss = std::get_if<std::vector<std::string>>(&attr.value);
             ss && name == "value_strings") {
    c.type = TensorType(DType::kString, std::vector<int64_t>{static_cast<int64_t>(ss->size())});
    c.strings = *ss;
  } else {
    return Invalid(
        fmt::format("{} is none that Constant has, or holds another kind of payload", where));
  }
  return c;
}

Status GraphImporter::CheckOperator(const wire::Node& n, const std::string& label) {
  if (n.op_type().empty()) {
    return Invalid(fmt::format("node '{}' has no op_type, wanted the name of an operator", label));
  }
  std::string domain = DomainOf(n);
  if (!s_->graph.opsets.count(domain)) {
    return Invalid(
        fmt::format("node '{}' uses {} of the domain '{}', for which the model imports "
                    "no opset; add it to opset_import",
                    label, n.op_type(), domain.empty() ? "ai.onnx" : domain));
  }
  return {};
}

Status GraphImporter::AddAttributes(const wire::Node& n, const std::string& label, Scope* scope,
                                    Node* node, std::vector<Body>* bodies) {
  constexpr int32_t kGraph = 5;  // ONNX's number of the attribute type
  std::set<std::string_view> seen;
  bodies->reserve(n.attribute_size());  // scopes are pointed at
  for (const auto& as_written : n.attribute()) {
    std::string where = fmt::format("attribute '{}' of node '{}'", as_written.name(), label);
    GE_ASSIGN_OR_RETURN(const wire::Attribute* given, Given(*scope, as_written, where));
    if (!given) continue;
    const wire::Attribute& a = *given;
    const std::string& as = as_written.name();
    GE_RETURN_IF_ERROR(CheckName(*s_, where, as));
    if (as.empty()) return Invalid(fmt::format("node '{}' has a nameless attribute", label));
    if (!seen.insert(as).second) return Invalid(fmt::format("{} is given twice", where));
    if (as == kCapturesAttr && node->domain.empty()) {
      return Invalid(fmt::format("{} is none of {}'s; remove it", where, node->op));
    }
    if (a.type() == kGraph || a.has_g()) {
      if (!a.has_g()) return Invalid(fmt::format("{} holds no graph", where));
      Body& body = bodies->emplace_back();
      body.role = as;
      body.scope.parent = scope;
      body.scope.opsets = scope->opsets;
      body.scope.depth = scope->depth + 1;
      if (body.scope.depth > s_->options.max_graph_depth) {
        return Status(Code::kLimitExceeded,
                      fmt::format("{} is a graph that lies {} graphs deep, more than the limit of "
                                  "{}; write a chain of branches as a loop, or as steps one after "
                                  "the other",
                                  where, body.scope.depth, s_->options.max_graph_depth));
      }
      std::string name = fmt::format("{}/{}.{}", Fn(*scope).name, label, as);
      // Names of nested bodies grow; functions need different ones, not whole ones.
      constexpr size_t kMost = 1024;
      if (name.size() > kMost) name = "..." + name.substr(name.size() - kMost);
      GE_RETURN_IF_ERROR(ImportGraph(a.g(), name, &body.scope));
    } else {
      GE_ASSIGN_OR_RETURN(Attr attr, ImportAttr(s_, a, where));
      attr.name = as;
      node->attrs.push_back(std::move(attr));
    }
  }
  return {};
}

// Every body of a node takes the same trailing parameters: all that any of them captures, in
// document order. Loop and Scan need their count, since their lists are variadic.
Status GraphImporter::CloseBodies(std::vector<Body>* bodies, Scope* scope, Node* node) {
  std::vector<std::string_view> all;
  std::set<std::string_view> seen;
  for (const Body& body : *bodies) {
    for (std::string_view name : body.scope.captures) {
      if (seen.insert(name).second) all.push_back(name);
    }
  }
  for (Body& body : *bodies) {
    Function& f = Fn(body.scope);
    f.params.resize(f.params.size() - body.scope.captures.size());
    for (std::string_view name : all) {
      auto own = body.scope.names.find(name);
      bool captured = own != body.scope.names.end() && own->second.captured;
      ValueId outer = Resolve(scope, name);
      Function& g = Fn(body.scope);  // Resolve may add values, never functions
      g.params.push_back(captured ? own->second.value
                                  : AddValue(&g, Fn(*scope).value(outer).type, std::string()));
    }
    node->callees.push_back({body.role, body.scope.fn});
  }
  for (std::string_view name : all) node->inputs.push_back(Resolve(scope, name));
  if (!all.empty() && (node->op == "Loop" || node->op == "Scan")) {
    node->attrs.push_back({kCapturesAttr, static_cast<int64_t>(all.size())});
  }
  return {};
}

// Names of nodes are notes in ONNX, here they are addresses: the second of a name gets a number,
// the first free one from the node's index on. Numbers that were tried are skipped by links, for a
// name may be long and what calls of functions write may have it thousands of times.
std::string GraphImporter::NameOfNode(FunctionId fn, std::string name, int index) {
  constexpr uint64_t kMix = 0x9e3779b97f4a7c15;
  const auto hash = [&](const std::string& s) {
    return std::hash<std::string>()(s) ^ (uint64_t{fn} * kMix);
  };
  const uint64_t stem = hash(name);
  if (name.empty() || node_names_.insert(stem).second) return name;
  const auto link = [&](int i) { return stem ^ ((static_cast<uint64_t>(i) + 1) * kMix); };
  for (int i = index;;) {
    for (auto at = node_numbers_.find(link(i)); at != node_numbers_.end();) {
      const auto next = node_numbers_.find(link(at->second));
      i = at->second;
      if (next != node_numbers_.end()) at->second = next->second;
      at = next;
    }
    node_numbers_[link(i)] = i + 1;
    std::string numbered = fmt::format("{}#{}", name, i);
    if (node_names_.insert(hash(numbered)).second) return numbered;
  }
}

Status GraphImporter::AddNode(const wire::Node& n, int index, Scope* scope) {
  GE_RETURN_IF_ERROR(CheckInterrupt());
  std::string label = LabelOf(n, index);
  GE_RETURN_IF_ERROR(CheckOperator(n, label));
  if (LocalFunctionOf(n)) return AddCall(n, label, scope);
  Node node;
  node.domain = DomainOf(n);
  node.op = n.op_type();
  node.name =
      NameOfNode(scope->fn, scope->call ? scope->call->label + "/" + label : n.name(), index);
  for (int i = 0; i < n.input_size(); ++i) {
    GE_ASSIGN_OR_RETURN(const ValueId value, InputOf(n, i, label, scope));
    node.inputs.push_back(value);
  }
  while (!node.inputs.empty() && node.inputs.back() == 0) node.inputs.pop_back();
  for (const std::string& name : n.output()) {
    node.outputs.push_back(name.empty() ? 0 : scope->names.find(name)->second.value);
  }
  std::vector<Body> bodies;
  GE_RETURN_IF_ERROR(AddAttributes(n, label, scope, &node, &bodies));
  // Omitted inputs before the captures must stay countable.
  if (node.op == "Loop") node.inputs.resize(std::max<size_t>(node.inputs.size(), 2));
  GE_RETURN_IF_ERROR(CloseBodies(&bodies, scope, &node));
  GE_RETURN_IF_ERROR(CountWritten(*scope, node));
  Function& f = Fn(*scope);
  node.id = f.next_node_id++;
  if (scope->opsets != s_->opsets()) s_->node_opsets[{f.id, node.id}] = scope->opsets;
  f.nodes.push_back(std::move(node));
  return {};
}

// Two results are two values with names of their own: a run hands each out in its own memory, and
// callers ask for them by name.
void GraphImporter::AddCopyOfResult(const std::string& name, Scope* scope) {
  const ValueId value = Resolve(scope, name);
  Function& f = Fn(*scope);
  Node copy;
  copy.op = "Identity";
  copy.id = f.next_node_id++;
  copy.inputs = {value};
  std::string own;
  for (int i = 2; own.empty() || scope->names.count(own) != 0; ++i) {
    own = fmt::format("{}_{}", name, i);
  }
  copy.outputs = {AddValue(&f, f.value(value).type, own)};
  scope->names.emplace(*scope->made_names.insert(own).first,
                       Declared{copy.outputs[0], "a copy of an output", false});
  f.results.push_back(copy.outputs[0]);
  f.nodes.push_back(std::move(copy));
}

Status GraphImporter::AddResults(const wire::Graph& graph, Scope* scope) {
  std::set<std::string_view> seen;
  for (const auto& output : graph.output()) {
    if (output.name().empty()) return Invalid("a graph output has no name; every output needs one");
    if (!scope->parent && !seen.insert(output.name()).second) {
      AddCopyOfResult(output.name(), scope);
      continue;
    }
    ValueId value = Resolve(scope, output.name());
    if (value == 0) {
      return Invalid(fmt::format("the graph output '{}' is made by no node, input or initializer",
                                 output.name()));
    }
    Fn(*scope).results.push_back(value);
  }
  return {};
}

Status GraphImporter::AddNodes(const NodeList& nodes, Scope* scope) {
  for (int i = 0; i < nodes.size(); ++i) {
    const wire::Node& n = nodes.Get(i);
    if (!IsConstant(n)) GE_RETURN_IF_ERROR(AddNode(n, i, scope).AtNode(LabelOf(n, i)));
  }
  return {};
}

Status GraphImporter::ImportGraph(const wire::Graph& graph, const std::string& name, Scope* scope) {
  GE_RETURN_IF_ERROR(CheckName(*s_, "a graph", graph.name()));
  Function& f = s_->graph.AddFunction(UniqueFunctionName(name));
  scope->fn = f.id;
  f.doc = graph.doc_string();
  GE_RETURN_IF_ERROR(CollectInfos(graph, scope));
  GE_RETURN_IF_ERROR(AddInitializers(graph, scope));
  GE_RETURN_IF_ERROR(AddInputs(graph, scope));
  GE_RETURN_IF_ERROR(DeclareNodeOutputs(graph.node(), scope));
  GE_RETURN_IF_ERROR(AddNodes(graph.node(), scope));
  GE_RETURN_IF_ERROR(AddResults(graph, scope));
  return SortNodes(&Fn(*scope));
}

Result<FunctionId> GraphImporter::ImportMain(const wire::Graph& graph) {
  if (graph.output_size() == 0) {
    return Invalid("the graph has no outputs, wanted at least one; a run would compute nothing");
  }
  Scope scope;
  scope.opsets = s_->opsets();
  GE_RETURN_IF_ERROR(FindDefaults(graph));
  GE_RETURN_IF_ERROR(ImportGraph(graph, graph.name().empty() ? "main" : graph.name(), &scope));
  GE_RETURN_IF_ERROR(KeepWords(graph));
  return scope.fn;
}

}  // namespace ge
