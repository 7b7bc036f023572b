// Calls of the functions that a model itself defines: their nodes stand where the call stood.
#include <fmt/format.h>

#include <algorithm>

#include "frontend/onnx/import_graph.h"
#include "ge/wire/onnx.pb.h"

namespace ge {
namespace {

Status BadFunction(std::string text) { return Status(Code::kInvalidGraph, std::move(text)); }

std::string PlainDomain(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

const wire::Attribute* FindAttribute(
    const google::protobuf::RepeatedPtrField<wire::Attribute>& list, const std::string& name) {
  for (const auto& a : list) {
    if (a.name() == name) return &a;
  }
  return nullptr;
}

// What an attribute takes beside its record; a constant's payload is shared.
uint64_t PayloadBytes(const Attr::Payload& value) {
  if (auto* s = std::get_if<std::string>(&value)) return s->size();
  if (auto* i = std::get_if<std::vector<int64_t>>(&value)) return i->size() * sizeof(int64_t);
  if (auto* f = std::get_if<std::vector<double>>(&value)) return f->size() * sizeof(double);
  if (auto* t = std::get_if<std::vector<Type>>(&value)) return t->size() * sizeof(Type);
  uint64_t bytes = 0;
  if (auto* list = std::get_if<std::vector<std::string>>(&value)) {
    for (const std::string& one : *list) bytes += sizeof one + one.size();
  }
  return bytes;
}

// Names of nested calls grow: a message has room for their end.
std::string LabelShort(const Node& node) {
  const std::string label = NodeLabel(node);
  constexpr size_t kMost = 120;
  return label.size() <= kMost ? label : "..." + label.substr(label.size() - kMost);
}

}  // namespace

Status GraphImporter::AddLocalFunction(const wire::LocalFunction& function) {
  GE_RETURN_IF_ERROR(CheckName(*s_, "a function", function.name()));
  GE_RETURN_IF_ERROR(CheckName(*s_, "a function's domain", function.domain()));
  const bool fresh =
      local_functions_
          .try_emplace({PlainDomain(function.domain()), function.name(), function.overload()},
                       &function)
          .second;
  if (fresh) return {};
  return BadFunction(fmt::format("the model defines the function '{}' of domain '{}' twice",
                                 function.name(), function.domain()));
}

const wire::LocalFunction* GraphImporter::LocalFunctionOf(const wire::Node& n) const {
  const auto at = local_functions_.find({PlainDomain(n.domain()), n.op_type(), n.overload()});
  return at == local_functions_.end() ? nullptr : at->second;
}

// Nodes are upgraded after calls are written out, each from the opset that its function imports.
// Versions of other domains say nothing to us: their operators have one meaning.
Result<OpsetPair> GraphImporter::OpsetsOf(const wire::LocalFunction& function) {
  OpsetPair opsets = s_->opsets();
  for (const auto& import : function.opset_import()) {
    const std::string domain = PlainDomain(import.domain());
    const bool first = s_->graph.opsets.count(domain) == 0;
    if (domain.empty()) {
      GE_RETURN_IF_ERROR(CheckOnnxOpset(import.version()));
      opsets.onnx = import.version();
      if (first) s_->opset = import.version();
    } else if (domain == "ai.onnx.ml") {
      GE_RETURN_IF_ERROR(CheckMlOpset(import.version()));
      opsets.ml = import.version();
    }
    s_->graph.opsets.emplace(domain, domain.empty() ? kCanonicalOpset : import.version());
  }
  return opsets;
}

Status GraphImporter::CheckCall(const wire::LocalFunction& function, const wire::Node& n,
                                const std::string& label) {
  const auto start = std::find(calls_.begin(), calls_.end(), &function);
  if (start != calls_.end()) {
    std::string circle;
    for (auto it = start; it != calls_.end(); ++it) circle += (*it)->name() + " -> ";
    return BadFunction(fmt::format("functions of the model call each other in a circle: {}{}",
                                   circle, function.name()));
  }
  if (calls_.size() >= s_->options.max_graph_depth) {
    return Status(Code::kLimitExceeded,
                  fmt::format("functions of the model are called more than {} deep, at '{}'",
                              s_->options.max_graph_depth, function.name()));
  }
  if (n.input_size() > function.input_size() || n.output_size() > function.output_size()) {
    return BadFunction(
        fmt::format("node '{}' gives the function '{}' {} inputs and takes {} "
                    "outputs, wanted at most {} and {}",
                    label, function.name(), n.input_size(), n.output_size(), function.input_size(),
                    function.output_size()));
  }
  for (const auto& a : n.attribute()) {
    const auto& names = function.attribute();
    const bool known = std::find(names.begin(), names.end(), a.name()) != names.end() ||
                       FindAttribute(function.attribute_proto(), a.name()) != nullptr;
    if (!known) {
      return BadFunction(
          fmt::format("node '{}' gives the attribute '{}', which the function '{}' "
                      "does not have",
                      label, a.name(), function.name()));
    }
  }
  return {};
}

Status GraphImporter::AddCall(const wire::Node& n, const std::string& label, Scope* scope) {
  const wire::LocalFunction& f = *LocalFunctionOf(n);
  GE_RETURN_IF_ERROR(CheckCall(f, n, label));
  CallSite call{&f, &n, label, scope};
  if (scope->call) call.label = scope->call->label + "/" + label;
  Scope inner;
  inner.fn = scope->fn;
  inner.call = &call;
  GE_ASSIGN_OR_RETURN(inner.opsets, OpsetsOf(f));
  for (int i = 0; i < f.input_size(); ++i) {
    ValueId value = 0;
    if (i < n.input_size()) {
      GE_ASSIGN_OR_RETURN(value, InputOf(n, i, label, scope));
    }
    GE_RETURN_IF_ERROR(Declare(&inner, f.input(i), value, "an input"));
  }
  calls_.push_back(&f);
  GE_RETURN_IF_ERROR(DeclareNodeOutputs(f.node(), &inner));
  GE_RETURN_IF_ERROR(AddNodes(f.node(), &inner));
  GE_RETURN_IF_ERROR(HandResultsOut(call, &inner, scope));
  calls_.pop_back();
  return {};
}

Status GraphImporter::CountCallNode() {
  if (calls_.empty()) return {};
  const uint64_t most =
      s_->options.max_call_nodes ? s_->options.max_call_nodes : 16384 + s_->skeleton_bytes / 16;
  if (++s_->call_nodes <= most) return {};
  return Status(Code::kLimitExceeded,
                fmt::format("calls of the model's own functions write out more than {} nodes, the "
                            "last of them in '{}'; raise max_call_nodes, or call it less often",
                            most, calls_.back()->name()));
}

Status GraphImporter::CountWritten(const Scope& scope, const Node& node) {
  if (calls_.empty()) return {};
  uint64_t bytes = sizeof(Node) + node.name.size() + node.inputs.size() * sizeof(ValueId);
  for (const ValueId v : node.outputs) {
    bytes += sizeof(ValueId) + sizeof(Value) + Fn(scope).value(v).name.size();
  }
  for (const Attr& a : node.attrs) bytes += sizeof(Attr) + a.name.size() + PayloadBytes(a.value);
  s_->call_bytes += bytes;
  const uint64_t most = s_->options.max_call_bytes ? s_->options.max_call_bytes
                                                   : (uint64_t{64} << 20) + 16 * s_->skeleton_bytes;
  if (s_->call_bytes <= most) return {};
  return Status(
      Code::kLimitExceeded,
      fmt::format("calls of the model's own functions write out more than {} bytes of names and "
                  "attributes, the last of them node '{}' of {} bytes in '{}'; raise "
                  "max_call_bytes, or make the attribute a constant, which calls share",
                  most, LabelShort(node), bytes, calls_.back()->name()));
}

// The caller's values exist already, with the types that its graph declares.
Status GraphImporter::HandResultsOut(const CallSite& call, Scope* inner, Scope* outer) {
  const wire::LocalFunction& f = *call.function;
  for (int i = 0; i < call.node->output_size(); ++i) {
    const std::string& name = call.node->output(i);
    if (name.empty()) continue;
    const ValueId made = Resolve(inner, f.output(i));
    if (made == 0) {
      return BadFunction(fmt::format(
          "the output '{}' of the function '{}' is made by no node of it", f.output(i), f.name()));
    }
    Node copy;
    copy.op = "Identity";
    copy.name = NameOfNode(outer->fn, fmt::format("{}/{}", call.label, f.output(i)), i);
    copy.inputs = {made};
    copy.outputs = {outer->names.find(name)->second.value};
    GE_RETURN_IF_ERROR(CountCallNode());
    GE_RETURN_IF_ERROR(CountWritten(*inner, copy));
    Function& fn = Fn(*outer);
    copy.id = fn.next_node_id++;
    fn.nodes.push_back(std::move(copy));
  }
  return {};
}

Result<const wire::Attribute*> GraphImporter::Given(const Scope& scope, const wire::Attribute& attr,
                                                    const std::string& where) const {
  if (attr.ref_attr_name().empty()) return &attr;
  const Scope* at = &scope;
  while (at && !at->call) at = at->parent;
  if (!at) return &attr;  // refused where attributes are read
  const CallSite& call = *at->call;
  const wire::Attribute* from = FindAttribute(call.node->attribute(), attr.ref_attr_name());
  if (from) {
    GE_ASSIGN_OR_RETURN(from, Given(*call.caller, *from, where));
  } else {
    from = FindAttribute(call.function->attribute_proto(), attr.ref_attr_name());
  }
  if (from && (from->has_g() || from->graphs_size() > 0)) {
    return Status(Code::kUnsupported,
                  fmt::format("{} is a graph that the call of the function '{}' gives, which is "
                              "not supported; write the function out in the model",
                              where, call.function->name()));
  }
  return from;
}

}  // namespace ge
