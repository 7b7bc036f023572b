// Printer: the parts of PrintText. Internal to this folder. It never fails: illegal content (an id
// out of range) is printed with a '!', which the parser refuses. The Graph must outlive it. Used by
// one thread.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "frontend/text/text.h"
#include "ge/ir/graph.h"

namespace ge::text {

std::string Name(std::string_view name);  // quoted unless it is a plain word and not reserved

// How often each name occurs in a table of named things.
using NameCounts = std::unordered_map<std::string_view, uint32_t>;

class Printer {
 public:
  Printer(const Graph& graph, const PrintOptions& options);

  std::string Run();
  // printer_const.cc
  std::string ConstText(const Const& constant);  // "f32[2] = [1, 2.5]"
  // printer_type.cc
  std::string TypeText(const Type& type, int depth = 0) const;
  std::string DimText(const Dim& dim, int depth = 0) const;
  // printer_function.cc
  std::string AttrText(const Attr::Payload& value) const;

 private:
  // The order of first appearance of a function's values, and their written names.
  struct FunctionScope {
    const Function& f;
    NameCounts names;
    std::vector<uint32_t> number;    // by ValueId: order of first appearance; 0 = not met
    std::vector<ValueId> orphans;    // read, but made by nothing
    std::vector<ValueId> constants;  // need a line of their own
    uint32_t met = 0;
  };

  // printer.cc
  void PrintHead();
  void PrintSymbols();
  void PrintLocs();
  void PrintStates();
  void PrintEntries();
  std::string FunctionName(FunctionId id) const;
  std::string ConstName(ConstId id) const;
  std::string StateName(StateId id) const;
  std::string Unknown(const std::string& bytes) const;

  // printer_function.cc
  void PrintFunction(const Function& function);
  void PrintHeader(const FunctionScope& scope);
  void PrintDerived(const Function& function);
  void PrintNode(const FunctionScope& scope, const Node& n, NodeId expected_id);
  void PrintClauses(const Node& n, NodeId expected_id);
  void PrintHints(const Hints& hints);
  void Scan(FunctionScope* scope) const;
  bool IsImplicitConst(const FunctionScope& scope, ValueId given) const;
  std::string ValueName(const FunctionScope& scope, ValueId value) const;
  std::string ValueDefinition(const FunctionScope& scope, ValueId given) const;
  std::string Effects(const std::vector<Effect>& effects) const;
  std::string IntsComment(const Function& function, const Node& n) const;

  // printer_type.cc
  std::string ShapeText(const Type& type) const;
  std::string SumText(const DimTable::Expr& expr, int depth) const;

  // printer_const.cc
  std::string PayloadText(const Const& constant) const;

  const Graph& g_;
  const PrintOptions options_;
  NameCounts const_names_, state_names_, function_names_;
  std::string out_;
};

}  // namespace ge::text
