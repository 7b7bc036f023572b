#include "frontend/onnx/export_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "frontend/onnx/attribute_type.h"
#include "frontend/onnx/upgrade.h"
#include "ge/ir/model_meta.h"
#include "ge/ops/control.h"
#include "ge/ops/defaults.h"
#include "ge/ops/op.h"

namespace ge {
namespace {

Status NotOnnx(const Node& n, const std::string& what) {
  return Status(Code::kUnsupported,
                fmt::format("node '{}' ({}) {}", NodeLabel(n), FullName(n.domain, n.op), what))
      .AtNode(NodeLabel(n));
}

// How many of the node's inputs its bodies see as captured values.
size_t CapturesOf(const Node& n) {
  if (n.op == "If") return n.inputs.empty() ? 0 : n.inputs.size() - 1;
  return static_cast<size_t>(std::max<int64_t>(AttrInt(n, kCapturesAttr), 0));
}

bool IsCall(const Node& n) { return n.domain == "ge" && n.op == "Call"; }

}  // namespace

GraphExporter::GraphExporter(const Graph& graph) : g_(graph) {
  const auto at = graph.meta.find(kSourceOpsetKey);
  if (at == graph.meta.end()) return;
  const std::string& text = at->second;
  std::from_chars(text.data(), text.data() + text.size(), source_opset_);
  source_opset_ = std::clamp<int64_t>(source_opset_, 0, kCanonicalOpset);
}

std::string GraphExporter::Unique(const std::string& wish) {
  const std::string stem = wish.empty() ? "value" : wish;
  std::string name = stem;
  for (int i = 2; !taken_.insert(name).second; ++i) name = fmt::format("{}_{}", stem, i);
  return name;
}

void GraphExporter::AddInfo(const Scope& scope, ValueId value, const std::string& name,
                            wire::ValueInfo* to) {
  to->set_name(name);
  if (!ExportType(scope.f->value(value).type, g_.dims, to->mutable_type())) to->clear_type();
}

Result<std::string> GraphExporter::NameOf(Scope* scope, ValueId given) {
  if (given == 0) return std::string();
  std::string& name = scope->names[given];
  if (!name.empty()) return name;
  const Value& value = scope->f->value(given);
  if (!value.constant) {
    return Status(Code::kInternal,
                  fmt::format("value '{}' is read before a node makes it", value.name));
  }
  const Const& c = g_.consts[value.constant];
  name = Unique(!value.name.empty() ? value.name : c.name.empty() ? "constant" : c.name);
  if (scope->main) {
    initializers_.push_back({name, &c});
    return name;
  }
  GE_RETURN_IF_ERROR(ExportTensor(c, name, true, scope->out->add_initializer()));
  return name;
}

Status GraphExporter::AddAttr(const Node& n, const Attr& attr, wire::Node* to) {
  wire::Attribute* out = to->add_attribute();
  out->set_name(attr.name);
  if (const auto* i = std::get_if<int64_t>(&attr.value)) {
    out->set_type(kIntAttr);
    out->set_i(*i);
  } else if (const auto* d = std::get_if<double>(&attr.value)) {
    out->set_type(kFloatAttr);
    out->set_f(static_cast<float>(*d));
  } else if (const auto* text = std::get_if<std::string>(&attr.value)) {
    out->set_type(kStringAttr);
    out->set_s(*text);
  } else if (const auto* ref = std::get_if<ConstRef>(&attr.value)) {
    out->set_type(kTensorAttr);
    return ExportTensor(g_.consts[ref->id], "", true, out->mutable_t());
  } else if (const auto* is = std::get_if<std::vector<int64_t>>(&attr.value)) {
    out->set_type(kIntsAttr);
    for (const int64_t v : *is) out->add_ints(v);
  } else if (const auto* ds = std::get_if<std::vector<double>>(&attr.value)) {
    out->set_type(kFloatsAttr);
    for (const double v : *ds) out->add_floats(static_cast<float>(v));
  } else if (const auto* texts = std::get_if<std::vector<std::string>>(&attr.value)) {
    out->set_type(kStringsAttr);
    for (const std::string& v : *texts) out->add_strings(v);
  } else if (const auto* type = std::get_if<Type>(&attr.value)) {
    out->set_type(kTypeAttr);
    if (!ExportType(*type, g_.dims, out->mutable_tp())) {
      return NotOnnx(n,
                     fmt::format("has the type attribute '{}', which ONNX cannot say", attr.name));
    }
  } else {
    return NotOnnx(n,
                   fmt::format("has the attribute '{}', whose kind ONNX does not have", attr.name));
  }
  return {};
}

// Captured values keep their outer names inside the body; the others get names of their own.
Status GraphExporter::AddBody(Scope* scope, const Node& n, const Callee& callee, wire::Node* to) {
  const Function& f = g_.fn(callee.fn);
  if (std::find(path_.begin(), path_.end(), callee.fn) != path_.end()) {
    return NotOnnx(n, fmt::format("has the body '{}', which contains the node", f.name));
  }
  wire::Attribute* a = to->add_attribute();
  a->set_name(callee.role);
  a->set_type(kGraphAttr);
  Scope body;
  body.f = &f;
  body.out = a->mutable_g();
  body.out->set_name(f.name.empty() ? callee.role : f.name);
  body.names.resize(f.values.size());
  body.own.resize(f.values.size());
  body.prefix = scope->prefix;
  const size_t captures = CapturesOf(n);
  if (captures > f.params.size() || captures > n.inputs.size()) {
    return NotOnnx(
        n, fmt::format("captures {} values, more than its body '{}' takes", captures, f.name));
  }
  const size_t fixed = f.params.size() - captures;
  for (size_t i = 0; i < f.params.size(); ++i) {
    std::string& name = body.names[f.params[i]];
    if (i < fixed) {
      name = Unique(f.value(f.params[i]).name);
      AddInfo(body, f.params[i], name, body.out->add_input());
    } else {
      GE_ASSIGN_OR_RETURN(name, NameOf(scope, n.inputs[n.inputs.size() - captures + i - fixed]));
    }
  }
  path_.push_back(callee.fn);
  GE_RETURN_IF_ERROR(Nodes(&body));
  path_.pop_back();
  return AddResults(&body, false);
}

// The callee's nodes stand where the call stood.
Status GraphExporter::AddCall(Scope* scope, const Node& n) {
  const auto callee = std::find_if(n.callees.begin(), n.callees.end(),
                                   [](const Callee& c) { return c.role == "fn"; });
  if (callee == n.callees.end()) return NotOnnx(n, "calls no function by the role 'fn'");
  const Function& f = g_.fn(callee->fn);
  const auto start = std::find(path_.begin(), path_.end(), callee->fn);
  if (start != path_.end()) {
    std::string circle;
    for (auto it = start; it != path_.end(); ++it) circle += g_.fn(*it).name + " -> ";
    return NotOnnx(
        n, fmt::format("closes the circle of calls {}{}; ONNX has no recursion", circle, f.name));
  }
  if (f.params.size() != n.inputs.size() || f.results.size() != n.outputs.size()) {
    return NotOnnx(n, fmt::format("gives {} values and takes {}, but '{}' takes {} and gives {}",
                                  n.inputs.size(), n.outputs.size(), f.name, f.params.size(),
                                  f.results.size()));
  }
  Scope inner;
  inner.f = &f;
  inner.out = scope->out;
  inner.main = scope->main;
  inner.names.resize(f.values.size());
  inner.own.resize(f.values.size());
  inner.prefix = scope->prefix + NodeLabel(n) + "/";
  for (size_t i = 0; i < f.params.size(); ++i) {
    GE_ASSIGN_OR_RETURN(inner.names[f.params[i]], NameOf(scope, n.inputs[i]));
    inner.own[f.params[i]] = n.inputs[i] != 0 && scope->own[n.inputs[i]];
  }
  path_.push_back(callee->fn);
  GE_RETURN_IF_ERROR(Nodes(&inner));
  path_.pop_back();
  for (size_t i = 0; i < f.results.size(); ++i) {
    const ValueId v = n.outputs[i];
    if (v == 0) continue;
    GE_ASSIGN_OR_RETURN(const std::string made, NameOf(&inner, f.results[i]));
    if (scope->names[v].empty()) {
      scope->names[v] = made;
      scope->own[v] = inner.own[f.results[i]];
    } else {  // a result of the model, which has its name already
      AddIdentity(scope, made, scope->names[v]);
      scope->own[v] = true;
    }
  }
  return {};
}

Status GraphExporter::AddNode(Scope* scope, const Node& n) {
  if (IsCall(n)) return AddCall(scope, n);
  if (n.domain == "ge") return NotOnnx(n, "is an operator of this engine alone");
  if (!n.effects.empty()) return NotOnnx(n, "has effects, which ONNX cannot say");
  const OpDef* op = FindOp(g_, n);
  if (op == nullptr) return NotOnnx(n, "is an operator that nobody here knows");
  const auto given = g_.opsets.find(n.domain);
  int64_t& opset = opsets_[n.domain];
  if (n.domain.empty()) {
    opset = std::max(opset, source_opset_ > 0 ? OldestOpsetOf(*op) : op->since_version);
  } else {
    opset = std::max<int64_t>(opset, given == g_.opsets.end() ? op->since_version : given->second);
  }
  wire::Node out;
  for (const ValueId v : n.inputs) {
    GE_ASSIGN_OR_RETURN(const std::string name, NameOf(scope, v));
    out.add_input(name);
  }
  if (!n.callees.empty()) {  // captured names are found by name
    for (size_t i = CapturesOf(n); i > 0; --i) out.mutable_input()->RemoveLast();
  }
  const int least = n.domain.empty() && n.op == "Loop" ? 2 : 0;  // trip count and condition
  while (out.input_size() > least && out.input(out.input_size() - 1).empty()) {
    out.mutable_input()->RemoveLast();
  }
  if (!n.name.empty()) out.set_name(scope->prefix + n.name);
  out.set_op_type(n.op);
  out.set_domain(n.domain);
  // An opset between the oldest of the operator's meaning and the canonical one may not have every
  // attribute that has a default.
  for (const Attr* a : StatedAttrs(n)) {
    if (n.domain.empty() && a->name == kCapturesAttr && !n.callees.empty()) continue;
    GE_RETURN_IF_ERROR(AddAttr(n, *a, &out));
  }
  for (const Callee& c : n.callees) GE_RETURN_IF_ERROR(AddBody(scope, n, c, &out));
  for (const ValueId v : n.outputs) {
    if (v != 0) {
      if (scope->names[v].empty()) scope->names[v] = Unique(scope->f->value(v).name);
      scope->own[v] = true;
    }
    out.add_output(v == 0 ? std::string() : scope->names[v]);
  }
  // ONNX has one output of it or three; a pass may have dropped the last.
  const bool two = n.op == "BatchNormalization" && n.domain.empty() && out.output_size() == 2;
  if (two) out.add_output(Unique("running_var"));
  *scope->out->add_node() = std::move(out);
  return {};
}

Status GraphExporter::Nodes(Scope* scope) {
  const std::set<ValueId> results(scope->f->results.begin(), scope->f->results.end());
  for (const Node& n : scope->f->nodes) {
    GE_RETURN_IF_ERROR(AddNode(scope, n));
    for (const ValueId v : n.outputs) {
      if (v == 0 || !scope->own[v] || IsCall(n)) continue;
      wire::ValueInfo info;
      AddInfo(*scope, v, scope->names[v], &info);
      if (info.has_type() && results.count(v) == 0) *scope->out->add_value_info() = std::move(info);
    }
  }
  return {};
}

void GraphExporter::AddIdentity(Scope* scope, const std::string& from, const std::string& to) {
  wire::Node* copy = scope->out->add_node();
  copy->set_op_type("Identity");
  copy->add_input(from);
  copy->add_output(to);
  int64_t& opset = opsets_[""];
  const OpDef& op = *FindOp("", "Identity");
  opset = std::max<int64_t>(opset, source_opset_ > 0 ? OldestOpsetOf(op) : op.since_version);
}

// A graph's output is a value that one of its own nodes makes, listed once; anything else is handed
// on by an Identity.
Status GraphExporter::AddResults(Scope* scope, bool keep_names) {
  std::set<std::string> listed;
  for (const ValueId v : scope->f->results) {
    GE_ASSIGN_OR_RETURN(std::string name, NameOf(scope, v));
    if (!scope->own[v] || !listed.insert(name).second) {
      const std::string& wish = scope->f->value(v).name;
      const std::string from = std::exchange(name, Unique(wish.empty() ? "result" : wish));
      AddIdentity(scope, from, name);
      listed.insert(name);
    }
    wire::ValueInfo* info = scope->out->add_output();
    AddInfo(*scope, v, name, info);
    const auto rank = g_.meta.find(kSourceRankKey + scope->f->value(v).name);
    if (rank != g_.meta.end() && !info->type().tensor_type().has_shape()) {
      auto* shape = info->mutable_type()->mutable_tensor_type()->mutable_shape();
      for (int64_t d = std::min(16ll, std::strtoll(rank->second.c_str(), nullptr, 10)); d > 0; --d)
        shape->add_dim();
    }
    if (keep_names && !info->has_type()) {
      return Status(Code::kUnsupported,
                    fmt::format("the type of the result '{}' is not known; export the graph as it "
                                "stands after rewrite",
                                name));
    }
  }
  return {};
}

Status GraphExporter::ExportMain(const Function& function, wire::Graph* out) {
  Scope s;
  s.f = &function;
  s.out = out;
  s.main = true;
  s.names.resize(function.values.size());
  s.own.resize(function.values.size());
  for (const ValueId v : function.params) {
    s.names[v] = Unique(function.value(v).name);
    AddInfo(s, v, s.names[v], out->add_input());
  }
  // The user's names of results before any other value takes them.
  for (const ValueId v : function.results) {
    if (s.names[v].empty() && !function.value(v).constant)
      s.names[v] = Unique(function.value(v).name);
  }
  path_ = {function.id};
  GE_RETURN_IF_ERROR(Nodes(&s));
  if (opsets_.count("") != 0) opsets_[""] = std::max(opsets_[""], source_opset_);
  return AddResults(&s, true);
}

}  // namespace ge
