#include "ge/engine/pass/graph_edit.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace ge {

const std::vector<ge_attr> GraphEdit::kNoOptions;

GraphEdit::GraphEdit(std::string name, std::shared_ptr<const OpTable> ops, const Rules& rules)
    : place_(&graph_),
      undo_(&place_),
      edit_(PassKind::kDerive, kNoOptions, place_.transaction(), context_) {
  context_.infer_node = rules.infer_node;
  graph_.name = std::move(name);
  graph_.ops = std::move(ops);
  graph_.opsets[""] = kCanonicalOpset;
  edit_.UndoFailures(&undo_, rules.check_calls);
}

Status GraphEdit::AddConst(FunctionId fn, Const c, uint32_t* value) {
  return edit_.AddConst(fn, std::move(c), value) == GE_OK ? Status() : edit_.failed();
}

Status GraphEdit::AddPlaceholder(FunctionId fn, const ge_param& type, uint32_t* value) {
  return edit_.AddPlaceholder(fn, type, value) == GE_OK ? Status() : edit_.failed();
}

// Callers of a function whose results have other types than before are typed when all is inferred.
// A function that calls itself needs the declared types.
static void ForgetTypes(Graph* graph) {
  for (const Function& f : graph->functions) {
    if (f.recursive) return;
  }
  for (Function& f : graph->functions) {
    for (const Node& n : f.nodes) {
      if (!n.effects.empty()) continue;  // a state's type is declared
      for (const ValueId v : n.outputs) {
        if (v) f.value(v).type = {};
      }
    }
  }
}

Result<Graph> GraphEdit::Copy() {
  Graph out = graph_;
  {
    Transaction t(&out, "");
    std::vector<FunctionId> all(out.functions.size() - 1);
    std::iota(all.begin(), all.end(), FunctionId{1});
    t.ForgetUnnamed(std::move(all));
  }
  Compact(&out);
  // Contents that INFER has derived: as of a graph that comes of a file it derives them anew.
  for (Function& f : out.functions) {
    for (Value& v : f.values) v.ints.reset();
  }
  if (edit_.retyped()) ForgetTypes(&out);
  return out;
}

}  // namespace ge
