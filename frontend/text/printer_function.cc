#include <fmt/format.h>

#include <algorithm>

#include "frontend/text/elements.h"
#include "frontend/text/lexer.h"
#include "frontend/text/printer.h"
#include "ge/ops/defaults.h"

namespace ge::text {
namespace {

template <typename List, typename Text>
std::string Join(const List& list, Text text) {
  std::string out;
  for (const auto& item : list) out += (out.empty() ? "" : ", ") + text(item);
  return out;
}

std::string Bits(const std::vector<bool>& bits) {
  std::string out;
  for (const bool b : bits) out += b ? '1' : '0';
  return Quote(out);
}

// "Conv", "ge.Read", "ai.onnx.ml.Scaler", "\"odd domain\".Op"
std::string OpName(const Node& n) {
  if (n.domain.empty()) return Name(n.op);
  bool plain = true;
  for (size_t begin = 0; plain && begin <= n.domain.size();) {
    const size_t end = std::min(n.domain.find('.', begin), n.domain.size());
    plain = IsWord(std::string_view(n.domain).substr(begin, end - begin));
    begin = end + 1;
  }
  return (plain ? n.domain : Quote(n.domain)) + "." + Name(n.op);
}

}  // namespace

bool Printer::IsImplicitConst(const FunctionScope& scope, ValueId given) const {
  const Value& value = scope.f.values[given];
  if (value.constant == 0 || value.constant >= g_.consts.size() || value.name.empty()) return false;
  const Const& c = g_.consts[value.constant];
  const auto named = scope.names.find(value.name);
  const auto consts = const_names_.find(c.name);
  return value.name == c.name && named->second == 1 && consts->second == 1 &&
         value.type == c.type && value.loc == 0 && value.unknown_fields.empty();
}

// Finds which values need a line of their own and numbers all in the order in which the parser will
// meet them: parameters, own lines, then outputs before inputs of each node, results last.
void Printer::Scan(FunctionScope* scope) const {
  const Function& f = scope->f;
  const size_t count = f.values.size();
  scope->number.assign(count, 0);
  std::vector<char> made(count, 0), listed(count, 0);
  for (const ValueId v : f.params) {
    if (v < count) made[v] = 1;
  }
  for (const Node& n : f.nodes) {
    for (const ValueId v : n.outputs) {
      if (v < count) made[v] = 1;
    }
  }
  std::vector<ValueId> loose;
  auto read = [&](ValueId v) {
    if (v == 0 || v >= count || made[v] || listed[v]) return;
    listed[v] = 1;
    loose.push_back(v);
  };
  for (const Node& n : f.nodes) std::for_each(n.inputs.begin(), n.inputs.end(), read);
  std::for_each(f.results.begin(), f.results.end(), read);
  for (ValueId v = 1; v < count; ++v) {
    if (!f.values[v].name.empty() && (made[v] || listed[v])) ++scope->names[f.values[v].name];
  }
  for (const ValueId v : loose) {
    if (f.values[v].constant == 0) scope->orphans.push_back(v);
    if (f.values[v].constant != 0 && !IsImplicitConst(*scope, v)) scope->constants.push_back(v);
  }
  auto meet = [&](ValueId v) {
    if (v != 0 && v < count && scope->number[v] == 0) scope->number[v] = ++scope->met;
  };
  std::for_each(f.params.begin(), f.params.end(), meet);
  std::for_each(scope->orphans.begin(), scope->orphans.end(), meet);
  std::for_each(scope->constants.begin(), scope->constants.end(), meet);
  for (const Node& n : f.nodes) {
    std::for_each(n.outputs.begin(), n.outputs.end(), meet);
    std::for_each(n.inputs.begin(), n.inputs.end(), meet);
  }
  std::for_each(f.results.begin(), f.results.end(), meet);
}

std::string Printer::ValueName(const FunctionScope& scope, ValueId value) const {
  if (value == 0) return "_";
  if (value >= scope.f.values.size()) return fmt::format("!{}", value);
  const std::string& name = scope.f.values[value].name;
  if (name.empty()) return fmt::format("%{}", scope.number[value]);
  const auto it = scope.names.find(name);
  if (it != scope.names.end() && it->second == 1) return Name(name);
  return fmt::format("{}%{}", Name(name), scope.number[value]);
}

std::string Printer::ValueDefinition(const FunctionScope& scope, ValueId given) const {
  std::string out = ValueName(scope, given);
  if (given == 0 || given >= scope.f.values.size()) return out;
  const Value& value = scope.f.values[given];
  if (value.type.kind != TypeKind::kUnknown) out += ": " + TypeText(value.type);
  if (value.loc) out += fmt::format(" loc {}", value.loc);
  return out + Unknown(value.unknown_fields);
}

std::string Printer::Effects(const std::vector<Effect>& effects) const {
  static constexpr const char* kKinds[] = {"state", "rng", "io", "collective", "stream"};
  return Join(effects, [&](const Effect& e) {
    std::string out = kKinds[static_cast<int>(e.kind)];
    out += " " + (e.kind == EffectKind::kState ? StateName(e.object) : std::to_string(e.object));
    if (e.sequence || e.kind == EffectKind::kCollective) out += fmt::format(" seq {}", e.sequence);
    return out;
  });
}

std::string Printer::AttrText(const Attr::Payload& value) const {
  if (const auto* i = std::get_if<int64_t>(&value)) return std::to_string(*i);
  if (const auto* f = std::get_if<double>(&value)) return DoubleToText(*f);
  if (const auto* s = std::get_if<std::string>(&value)) return Quote(*s);
  if (const auto* t = std::get_if<Type>(&value)) return "type " + TypeText(*t);
  if (const auto* d = std::get_if<Dim>(&value)) return "dim " + DimText(*d);
  if (const auto* c = std::get_if<ConstRef>(&value)) return "const " + ConstName(c->id);
  if (const auto* f = std::get_if<FunctionRef>(&value)) return "fn " + FunctionName(f->id);
  if (const auto* r = std::get_if<AttrRef>(&value)) return "$" + Name(r->param);
  if (const auto* list = std::get_if<std::vector<int64_t>>(&value)) {
    return "[" + Join(*list, [](int64_t i) { return std::to_string(i); }) + "]";
  }
  if (const auto* list = std::get_if<std::vector<double>>(&value)) {
    return (list->empty() ? "floats[" : "[") + Join(*list, DoubleToText) + "]";
  }
  if (const auto* list = std::get_if<std::vector<std::string>>(&value)) {
    return (list->empty() ? "strings[" : "[") + Join(*list, Quote) + "]";
  }
  if (const auto* list = std::get_if<std::vector<Type>>(&value)) {
    return (list->empty() ? "types[" : "[") +
           Join(*list, [&](const Type& t) { return "type " + TypeText(t); }) + "]";
  }
  return "!";
}

void Printer::PrintHints(const Hints& hints) {
  if (hints.empty()) return;
  static constexpr const char* kRemat[] = {"auto", "never", "always"};
  std::vector<std::string> parts;
  if (hints.remat)
    parts.push_back(fmt::format("remat={}", hints.remat < 3 ? kRemat[hints.remat] : "!"));
  if (!hints.remat_name.empty()) parts.push_back("remat_name=" + Quote(hints.remat_name));
  if (!hints.no_cse_group.empty()) parts.push_back("no_cse=" + Quote(hints.no_cse_group));
  if (!hints.stage.empty()) parts.push_back("stage=" + Quote(hints.stage));
  if (!hints.engine_pin.empty()) parts.push_back("engine=" + Quote(hints.engine_pin));
  if (hints.priority) parts.push_back(fmt::format("priority={}", hints.priority));
  out_ += fmt::format(" hints {{{}}}", fmt::join(parts, ", "));
}

void Printer::PrintClauses(const Node& n, NodeId expected_id) {
  if (!n.name.empty()) out_ += " " + Quote(n.name);
  if (n.id != expected_id) out_ += fmt::format(" id {}", n.id);
  if (!n.callees.empty()) {
    out_ += fmt::format(" calls {{{}}}", Join(n.callees, [&](const Callee& c) {
                          return Name(c.role) + "=" + FunctionName(c.fn);
                        }));
  }
  if (!n.effects.empty()) out_ += fmt::format(" effects [{}]", Effects(n.effects));
  if (!n.after.empty()) out_ += fmt::format(" after [{}]", fmt::join(n.after, ", "));
  if (n.loc) out_ += fmt::format(" loc {}", n.loc);
  for (const Origin& o : n.origin) {
    out_ += fmt::format(" from {}[{}]", o.pass.empty() ? "" : Quote(o.pass) + " ",
                        Join(o.from_nodes, Quote));
  }
  PrintHints(n.hints);
  out_ += Unknown(n.unknown_fields);
}

std::string Printer::IntsComment(const Function& function, const Node& n) const {
  std::string out;
  for (const ValueId v : n.outputs) {
    if (v >= function.values.size() || !function.values[v].ints) continue;
    out += fmt::format("{}[{}]", out.empty() ? "  # holds " : ", ",
                       Join(*function.values[v].ints, [&](const Dim& d) { return DimText(d); }));
  }
  return out;
}

void Printer::PrintNode(const FunctionScope& scope, const Node& n, NodeId expected_id) {
  out_ += "  ";
  if (!n.outputs.empty()) {
    out_ += Join(n.outputs, [&](ValueId v) { return ValueDefinition(scope, v); }) + " = ";
  }
  out_ += OpName(n) + "(" + Join(n.inputs, [&](ValueId v) { return ValueName(scope, v); }) + ")";
  const std::vector<const Attr*> stated = StatedAttrs(n);
  if (!stated.empty()) {
    const auto text = [&](const Attr* a) { return Name(a->name) + "=" + AttrText(a->value); };
    out_ += " {" + Join(stated, text) + "}";
  }
  PrintClauses(n, expected_id);
  if (options_.show_ints) out_ += IntsComment(scope.f, n);
  out_ += '\n';
}

void Printer::PrintDerived(const Function& function) {
  const Function::Derived& d = function.derived;
  if (d.kind.empty() && d.of == 0) return;
  out_ += " derived " + Quote(d.kind);
  if (d.of) out_ += " of " + FunctionName(d.of);
  if (!d.active_in.empty()) out_ += " in " + Bits(d.active_in);
  if (!d.active_out.empty()) out_ += " out " + Bits(d.active_out);
  if (!d.policy.empty()) out_ += " policy " + Quote(d.policy);
  if (!d.pass.empty()) out_ += " pass " + Quote(d.pass);
  if (!d.pass_version.empty()) out_ += " version " + Quote(d.pass_version);
}

void Printer::PrintHeader(const FunctionScope& scope) {
  const Function& f = scope.f;
  out_ += fmt::format("fn {}({}) -> ({})", FunctionName(f.id),
                      Join(f.params, [&](ValueId v) { return ValueDefinition(scope, v); }),
                      Join(f.results, [&](ValueId v) { return ValueName(scope, v); }));
  if (!f.overload.empty()) out_ += " overload " + Quote(f.overload);
  if (!f.attr_params.empty()) out_ += fmt::format(" attrs [{}]", Join(f.attr_params, Name));
  if (!f.effects.empty()) out_ += fmt::format(" effects [{}]", Effects(f.effects));
  if (f.inlining == Function::Inline::kNever) out_ += " inline never";
  if (f.inlining == Function::Inline::kAlways) out_ += " inline always";
  if (f.recursive) out_ += " recursive";
  PrintDerived(f);
  if (f.custom_jvp) out_ += " jvp " + FunctionName(f.custom_jvp);
  if (f.custom_vjp) out_ += " vjp " + FunctionName(f.custom_vjp);
  if (f.loc) out_ += fmt::format(" loc {}", f.loc);
  NodeId next = 1;
  for (const Node& n : f.nodes) next = std::max(next, n.id + 1);
  if (f.next_node_id != next) out_ += fmt::format(" next {}", f.next_node_id);
  if (!f.doc.empty()) out_ += " doc " + Quote(f.doc);
  out_ += Unknown(f.unknown_fields) + " {\n";
}

void Printer::PrintFunction(const Function& function) {
  FunctionScope s{function, {}, {}, {}, {}, 0};
  Scan(&s);
  PrintHeader(s);
  for (const ValueId v : s.orphans) out_ += "  value " + ValueDefinition(s, v) + "\n";
  for (const ValueId v : s.constants) {
    out_ += fmt::format("  {} = const {}\n", ValueDefinition(s, v),
                        ConstName(function.values[v].constant));
  }
  NodeId greatest = 0;
  for (const Node& n : function.nodes) {
    PrintNode(s, n, greatest + 1);
    greatest = std::max(greatest, n.id);
  }
  out_ += "}\n";
}

}  // namespace ge::text
