#include "frontend/text/diff.h"

#include <fmt/format.h>

#include <cstring>

#include "frontend/text/elements.h"
#include "frontend/text/lexer.h"
#include "frontend/text/printer.h"
#include "ge/ops/defaults.h"

namespace ge {
namespace {

class Differ {
 public:
  Differ(const Graph& a, const Graph& b)
      : a_(a), b_(b), print_a_(a, PrintOptions()), print_b_(b, PrintOptions()) {}

  std::string Run() {
    Tables();
    Consts();
    States();
    for (size_t i = 1; ok() && i < a_.functions.size(); ++i) Functions(i);
    if (ok() && Same("entries", a_.entries.size(), b_.entries.size())) Entries();
    return difference_;
  }

 private:
  bool ok() const { return difference_.empty(); }

  bool Fail(const std::string& what, const std::string& a, const std::string& b) {
    if (ok()) difference_ = fmt::format("{}{}: {}, {}", place_, what, a, b);
    return false;
  }
  template <typename T>
  bool Same(const char* what, const T& a, const T& b) {
    if (!ok()) return false;
    if (a == b) return true;
    if constexpr (std::is_convertible_v<T, std::string>) {
      return Fail(what, text::Quote(a), text::Quote(b));
    } else if constexpr (std::is_enum_v<T>) {
      return Fail(what, std::to_string(static_cast<int>(a)), std::to_string(static_cast<int>(b)));
    } else if constexpr (std::is_arithmetic_v<T>) {
      return Fail(what, std::to_string(a), std::to_string(b));
    } else {
      return Fail(what, "differs", "differs");
    }
  }
  bool SameType(const char* what, const Type& a, const Type& b) {
    if (!ok()) return false;
    const std::string x = print_a_.TypeText(a), y = print_b_.TypeText(b);
    return x == y || Fail(what, x, y);
  }

  void Tables() {
    Same("name", a_.name, b_.name);
    Same("producer", a_.producer, b_.producer);
    Same("ir_version", a_.ir_version, b_.ir_version);
    Same("opsets", a_.opsets, b_.opsets);
    Same("meta", a_.meta, b_.meta);
    Same("unknown fields", a_.unknown_fields, b_.unknown_fields);
    Same("functions", a_.functions.size(), b_.functions.size());
    Same("consts", a_.consts.size(), b_.consts.size());
    Same("states", a_.states.size(), b_.states.size());
    if (Same("locs", a_.locs.size(), b_.locs.size())) Locs();
    if (Same("symbols", a_.dims.symbol_count(), b_.dims.symbol_count())) Symbols();
  }

  void Symbols() {
    for (SymbolId id = 1; id <= a_.dims.symbol_count(); ++id) {
      const Symbol &x = a_.dims.symbol(id), &y = b_.dims.symbol(id);
      place_ = fmt::format("symbol {}: ", id);
      Same("name", x.name, y.name);
      Same("min", x.min, y.min);
      Same("max", x.max, y.max);
      Same("multiple", x.multiple_of, y.multiple_of);
      Same("origin", x.origin, y.origin);
      Same("data_dependent", x.data_dependent, y.data_dependent);
    }
    place_.clear();
  }

  void Locs() {
    for (size_t i = 1; i < a_.locs.size(); ++i) {
      const Loc &x = a_.locs[i], &y = b_.locs[i];
      place_ = fmt::format("loc {}: ", i);
      Same("file", x.file, y.file);
      Same("line", x.line, y.line);
      Same("col", x.col, y.col);
      Same("end line", x.end_line, y.end_line);
      Same("end col", x.end_col, y.end_col);
      Same("scope", x.scope, y.scope);
      Same("caller", x.caller, y.caller);
    }
    place_.clear();
  }

  void Consts() {
    for (size_t i = 1; ok() && i < a_.consts.size(); ++i) {
      const Const &x = a_.consts[i], &y = b_.consts[i];
      place_ = fmt::format("const {} {}: ", i, text::Quote(x.name));
      Same("name", x.name, y.name);
      SameType("type", x.type, y.type);
      Same("external file", x.external.file, y.external.file);
      Same("external offset", x.external.offset, y.external.offset);
      Same("external length", x.external.length, y.external.length);
      Same("external digest", x.external.sha256, y.external.sha256);
      Same("splat", x.splat, y.splat);
      Same("strings", x.strings, y.strings);
      Same("unknown fields", x.unknown_fields, y.unknown_fields);
      if (!x.external.file.empty()) continue;
      if (!Same("payload bytes", x.bytes, y.bytes) || x.bytes == 0) continue;
      if (std::memcmp(x.data, y.data, x.bytes) != 0) Fail("payload", "differs", "differs");
    }
    place_.clear();
  }

  void States() {
    for (size_t i = 1; ok() && i < a_.states.size(); ++i) {
      const State &x = a_.states[i], &y = b_.states[i];
      place_ = fmt::format("state {} {}: ", i, text::Quote(x.name));
      Same("name", x.name, y.name);
      SameType("type", x.type, y.type);
      Same("kind", x.kind, y.kind);
      Same("trainable", x.trainable, y.trainable);
      Same("init", x.init, y.init);
      Same("init function", x.init_fn, y.init_fn);
      Same("alias group", x.alias_group, y.alias_group);
      Same("master", x.master_of, y.master_of);
      Same("unknown fields", x.unknown_fields, y.unknown_fields);
    }
    place_.clear();
  }

  void Entries() {
    for (size_t i = 0; i < a_.entries.size(); ++i) {
      const Entry &x = a_.entries[i], &y = b_.entries[i];
      place_ = fmt::format("entry {}: ", i);
      Same("name", x.name, y.name);
      Same("function", x.fn, y.fn);
      Same("role", x.role, y.role);
      Same("unknown fields", x.unknown_fields, y.unknown_fields);
    }
  }

  // Values correspond in the order in which they are met; a second meeting must agree.
  void SameValue(const Function& f, const Function& g, const char* what, ValueId v, ValueId w) {
    if (!ok()) return;
    if ((v == 0) != (w == 0) || v >= f.values.size() || w >= g.values.size()) {
      if (v != w) Fail(what, fmt::format("value {}", v), fmt::format("value {}", w));
      return;
    }
    if (v == 0) return;
    ValueId& mapped = to_b_[v];
    ValueId& back = to_a_[w];
    if (mapped == w && back == v) return;
    if (mapped != 0 || back != 0) {
      Fail(what, text::Quote(f.values[v].name), text::Quote(g.values[w].name));
      return;
    }
    mapped = w;
    back = v;
    const Value &x = f.values[v], &y = g.values[w];
    Same("value name", x.name, y.name);
    SameType("value type", x.type, y.type);
    Same("value constant", x.constant, y.constant);
    Same("value loc", x.loc, y.loc);
    Same("value unknown fields", x.unknown_fields, y.unknown_fields);
  }
  void SameValues(const Function& f, const Function& g, const char* what,
                  const std::vector<ValueId>& v, const std::vector<ValueId>& w) {
    if (!Same(what, v.size(), w.size())) return;
    for (size_t i = 0; i < v.size(); ++i) SameValue(f, g, what, v[i], w[i]);
  }

  void Attrs(const Node& n, const Node& m) {
    const std::vector<const Attr*> a = StatedAttrs(n), b = StatedAttrs(m);
    if (!Same("attributes", a.size(), b.size())) return;
    for (size_t i = 0; i < a.size(); ++i) {
      Same("attribute name", a[i]->name, b[i]->name);
      if (!Same("attribute kind", a[i]->value.index(), b[i]->value.index())) return;
      const std::string x = print_a_.AttrText(a[i]->value);
      const std::string y = print_b_.AttrText(b[i]->value);
      if (x != y) Fail("attribute " + a[i]->name, x, y);
    }
  }

  void Lists(const Node& n, const Node& m) {
    if (Same("callees", n.callees.size(), m.callees.size())) {
      for (size_t i = 0; i < n.callees.size(); ++i) {
        Same("callee role", n.callees[i].role, m.callees[i].role);
        Same("callee", n.callees[i].fn, m.callees[i].fn);
      }
    }
    Same("effects", n.effects, m.effects);
    Same("after", n.after, m.after);
    if (!Same("origins", n.origin.size(), m.origin.size())) return;
    for (size_t i = 0; i < n.origin.size(); ++i) {
      Same("origin pass", n.origin[i].pass, m.origin[i].pass);
      Same("origin nodes", n.origin[i].from_nodes, m.origin[i].from_nodes);
    }
  }

  void SameHints(const Hints& x, const Hints& y) {
    Same("hint remat", x.remat, y.remat);
    Same("hint remat_name", x.remat_name, y.remat_name);
    Same("hint no_cse", x.no_cse_group, y.no_cse_group);
    Same("hint stage", x.stage, y.stage);
    Same("hint engine", x.engine_pin, y.engine_pin);
    Same("hint priority", x.priority, y.priority);
  }

  void SameDerived(const Function::Derived& x, const Function::Derived& y) {
    Same("derived kind", x.kind, y.kind);
    Same("derived of", x.of, y.of);
    Same("derived in", x.active_in, y.active_in);
    Same("derived out", x.active_out, y.active_out);
    Same("derived policy", x.policy, y.policy);
    Same("derived pass", x.pass, y.pass);
    Same("derived version", x.pass_version, y.pass_version);
  }

  void Signature(const Function& f, const Function& g) {
    Same("name", f.name, g.name);
    Same("overload", f.overload, g.overload);
    Same("attribute parameters", f.attr_params, g.attr_params);
    Same("effects", f.effects, g.effects);
    Same("inline", f.inlining, g.inlining);
    Same("recursive", f.recursive, g.recursive);
    SameDerived(f.derived, g.derived);
    Same("jvp", f.custom_jvp, g.custom_jvp);
    Same("vjp", f.custom_vjp, g.custom_vjp);
    Same("loc", f.loc, g.loc);
    Same("doc", f.doc, g.doc);
    Same("next node id", f.next_node_id, g.next_node_id);
    Same("unknown fields", f.unknown_fields, g.unknown_fields);
  }

  void Functions(size_t index) {
    const Function &f = a_.functions[index], &g = b_.functions[index];
    const std::string function = fmt::format("function {}: ", text::Quote(f.name));
    place_ = function;
    to_b_.assign(f.values.size(), 0);
    to_a_.assign(g.values.size(), 0);
    Signature(f, g);
    SameValues(f, g, "parameters", f.params, g.params);
    Same("nodes", f.nodes.size(), g.nodes.size());
    for (size_t i = 0; ok() && i < f.nodes.size(); ++i) {
      const Node &n = f.nodes[i], &m = g.nodes[i];
      place_ = fmt::format("{}node {} {}: ", function, i, text::Quote(NodeLabel(n)));
      Same("id", n.id, m.id);
      Same("domain", n.domain, m.domain);
      Same("op", n.op, m.op);
      Same("name", n.name, m.name);
      SameValues(f, g, "outputs", n.outputs, m.outputs);
      SameValues(f, g, "inputs", n.inputs, m.inputs);
      Attrs(n, m);
      Lists(n, m);
      Same("loc", n.loc, m.loc);
      SameHints(n.hints, m.hints);
      Same("unknown fields", n.unknown_fields, m.unknown_fields);
    }
    place_ = function;
    SameValues(f, g, "results", f.results, g.results);
    place_.clear();
  }

  const Graph &a_, &b_;
  text::Printer print_a_, print_b_;
  std::string difference_, place_;
  std::vector<ValueId> to_b_, to_a_;
};

}  // namespace

std::string DiffGraphs(const Graph& left, const Graph& right) { return Differ(left, right).Run(); }

}  // namespace ge
