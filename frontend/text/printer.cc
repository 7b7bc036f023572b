#include "frontend/text/printer.h"

#include <fmt/format.h>

#include <iterator>

#include "frontend/text/kinds.h"
#include "frontend/text/lexer.h"

namespace ge {
namespace text {
namespace {

template <typename Table>
NameCounts CountNames(const Table& table) {
  NameCounts counts;
  for (size_t i = 1; i < table.size(); ++i) ++counts[table[i].name];
  return counts;
}

// A name that stands for one thing alone is enough; otherwise the id follows it.
template <typename Table>
std::string Label(const Table& table, const NameCounts& counts, uint32_t id) {
  if (id == 0 || id >= table.size()) return fmt::format("!{}", id);
  const std::string& name = table[id].name;
  if (name.empty()) return fmt::format("%{}", id);
  const auto it = counts.find(name);
  if (it != counts.end() && it->second == 1) return Name(name);
  return fmt::format("{}%{}", Name(name), id);
}

}  // namespace

std::string Name(std::string_view name) {
  if (!IsWord(name) || name == "_" || name == "fn" || name == "state") return Quote(name);
  return std::string(name);
}

Printer::Printer(const Graph& graph, const PrintOptions& options)
    : g_(graph),
      options_(options),
      const_names_(CountNames(graph.consts)),
      state_names_(CountNames(graph.states)),
      function_names_(CountNames(graph.functions)) {}

std::string Printer::FunctionName(FunctionId id) const {
  return Label(g_.functions, function_names_, id);
}
std::string Printer::ConstName(ConstId id) const { return Label(g_.consts, const_names_, id); }
std::string Printer::StateName(StateId id) const { return Label(g_.states, state_names_, id); }

std::string Printer::Unknown(const std::string& bytes) const {
  if (bytes.empty()) return {};
  return fmt::format(" unknown hex\"{}\"", ToHex(bytes.data(), bytes.size()));
}

void Printer::PrintHead() {
  out_ += fmt::format("ge {}\n", g_.ir_version);
  if (!g_.name.empty()) out_ += fmt::format("module {}\n", Quote(g_.name));
  if (!g_.producer.empty()) out_ += fmt::format("producer {}\n", Quote(g_.producer));
  for (const auto& [domain, version] : g_.opsets) {
    out_ += fmt::format("opset {} {}\n", Quote(domain), version);
  }
  for (const auto& [key, value] : g_.meta) {
    out_ += fmt::format("meta {} = {}\n", Quote(key), Quote(value));
  }
  if (!g_.unknown_fields.empty()) out_ += Unknown(g_.unknown_fields).substr(1) + "\n";
}

void Printer::PrintSymbols() {
  for (SymbolId id = 1; id <= g_.dims.symbol_count(); ++id) {
    const Symbol& s = g_.dims.symbol(id);
    out_ += fmt::format("symbol {}", Name(s.name));
    if (s.min != 0 || s.max != INT64_MAX) {
      out_ += fmt::format(" in {}..{}", s.min, s.max == INT64_MAX ? "" : std::to_string(s.max));
    }
    if (s.multiple_of != 1) out_ += fmt::format(" multiple {}", s.multiple_of);
    if (!s.origin.empty()) out_ += fmt::format(" from {}", Quote(s.origin));
    if (s.data_dependent) out_ += " data_dependent";
    out_ += '\n';
  }
}

void Printer::PrintLocs() {
  for (size_t i = 1; i < g_.locs.size(); ++i) {
    const Loc& l = g_.locs[i];
    out_ += fmt::format("loc {} = {}:{}:{}", i, Quote(l.file), l.line, l.col);
    if (l.end_line || l.end_col) out_ += fmt::format("-{}:{}", l.end_line, l.end_col);
    if (!l.scope.empty()) out_ += fmt::format(" scope {}", Quote(l.scope));
    if (l.caller) out_ += fmt::format(" caller {}", l.caller);
    out_ += '\n';
  }
}

void Printer::PrintStates() {
  for (StateId id = 1; id < g_.states.size(); ++id) {
    const State& s = g_.states[id];
    out_ += fmt::format("state {} : {} {}", StateName(id), TypeText(s.type),
                        kStateKinds[static_cast<int>(s.kind)]);
    if (s.trainable) out_ += " trainable";
    if (s.init) out_ += " init " + ConstName(s.init);
    if (s.init_fn) out_ += " init " + FunctionName(s.init_fn) + "()";
    if (!s.alias_group.empty()) out_ += " alias " + Quote(s.alias_group);
    if (s.master_of) out_ += " master " + StateName(s.master_of);
    out_ += Unknown(s.unknown_fields) + "\n";
  }
}

void Printer::PrintEntries() {
  for (const Entry& e : g_.entries) {
    out_ += fmt::format("entry {} {} = {}{}\n", kRoles[static_cast<int>(e.role)], Quote(e.name),
                        FunctionName(e.fn), Unknown(e.unknown_fields));
  }
}

std::string Printer::Run() {
  PrintHead();
  PrintSymbols();
  PrintLocs();
  for (ConstId id = 1; id < g_.consts.size(); ++id) {
    const Const& c = g_.consts[id];
    out_ +=
        fmt::format("const {} : {}{}\n", ConstName(id), ConstText(c), Unknown(c.unknown_fields));
  }
  PrintStates();
  for (size_t i = 1; i < g_.functions.size(); ++i) PrintFunction(g_.functions[i]);
  PrintEntries();
  return std::move(out_);
}

}  // namespace text

std::string PrintText(const Graph& graph, const PrintOptions& options) {
  return text::Printer(graph, options).Run();
}

std::string PrintConst(const Const& constant, const Graph& graph, const PrintOptions& options) {
  return text::Printer(graph, options).ConstText(constant);
}

}  // namespace ge
