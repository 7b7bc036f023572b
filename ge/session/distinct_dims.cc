#include "ge/session/distinct_dims.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace ge {
namespace {

// The symbol that `dim` is; 0 for a number or an expression.
SymbolId SymbolOf(const DimTable& dims, Dim dim) {
  if (dim.known() || dims.expr(dim.expr).op != DimOp::kSymbol) return 0;
  return dims.expr(dim.expr).symbol;
}

// Whether a dim of the type names one of the symbols: it is another where these have sizes.
bool Names(DimTable* dims, const Type& type, const std::map<SymbolId, int64_t>& sizes) {
  const auto names = [&](Dim d) {
    if (d.known()) return false;
    const auto with = dims->Substitute(d, sizes);
    return !with || *with != d;
  };
  return std::any_of(type.dims.begin(), type.dims.end(), names) ||
         std::any_of(type.elems.begin(), type.elems.end(),
                     [&](const Type& elem) { return Names(dims, elem, sizes); });
}

}  // namespace

std::set<SymbolId> DimsOfTwoSizes(const Graph& graph, const Entry& entry,
                                  std::span<const TensorView> inputs) {
  std::set<SymbolId> two;
  std::map<SymbolId, int64_t> sizes;
  const Function& f = graph.fn(entry.fn);
  for (size_t i = 0; i < inputs.size() && i < f.params.size(); ++i) {
    const Type& type = f.value(f.params[i]).type;
    if (!type.ranked || type.dims.size() != inputs[i].dims.size()) continue;
    for (size_t axis = 0; axis < type.dims.size(); ++axis) {
      const SymbolId symbol = SymbolOf(graph.dims, type.dims[axis]);
      if (symbol == 0) continue;
      const auto [at, fresh] = sizes.emplace(symbol, inputs[i].dims[axis]);
      if (!fresh && at->second != inputs[i].dims[axis]) two.insert(symbol);
    }
  }
  return two;
}

void TellApart(Graph* graph, const std::set<SymbolId>& symbols) {
  std::set<std::pair<FunctionId, ValueId>> params;
  for (const Entry& entry : graph->entries) {
    Function& f = graph->fn(entry.fn);
    for (const ValueId v : f.params) {
      if (!params.insert({entry.fn, v}).second) continue;
      for (Dim& dim : f.value(v).type.dims) {
        const SymbolId symbol = SymbolOf(graph->dims, dim);
        if (symbols.count(symbol) == 0) continue;
        const Symbol of = graph->dims.symbol(symbol);
        const SymbolId own = graph->dims.FreshSymbol(of.name);
        Symbol& made = graph->dims.symbol(own);
        made.min = of.min;
        made.max = of.max;
        made.multiple_of = of.multiple_of;
        dim = graph->dims.OfSymbol(own);
      }
    }
  }
  std::map<SymbolId, int64_t> sizes;
  for (const SymbolId s : symbols) sizes[s] = 1;
  for (Function& f : graph->functions) {
    for (ValueId v = 1; v < f.values.size(); ++v) {
      Type& type = f.values[v].type;
      if (params.count({f.id, v}) != 0 || !Names(&graph->dims, type, sizes)) continue;
      type = type.is_tensor() ? UnrankedTensor(type.dtype) : Type{};
    }
  }
}

std::string DimNames(const Graph& graph, const std::set<SymbolId>& symbols) {
  std::string text;
  for (const SymbolId s : symbols) {
    text += fmt::format("{}'{}'", text.empty() ? "" : ", ", graph.dims.symbol(s).name);
  }
  return text;
}

}  // namespace ge
