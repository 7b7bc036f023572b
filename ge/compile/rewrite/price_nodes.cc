#include "ge/compile/rewrite/price_nodes.h"

#include <fmt/format.h>

#include <set>
#include <unordered_map>

#include "ge/compile/states/lift_states.h"

namespace ge {
namespace {

Status Unknown(const Function& f, ValueId v) {
  return Status(Code::kUnsupported,
                fmt::format("the size of value '{}' is not known; prices are, once shapes are "
                            "(at bind)",
                            f.value(v).name.empty() ? std::to_string(v) : f.value(v).name));
}

// A function of just these nodes: what they read from outside comes in, what others read goes out.
class CutPiece {
 public:
  CutPiece(const Function& from, const std::set<NodeId>& wanted, Function* to)
      : from_(from), wanted_(wanted), to_(*to) {}

  Status Run() {
    for (const Node& n : from_.nodes) {
      if (Wanted(n)) GE_RETURN_IF_ERROR(Take(n));
    }
    std::set<ValueId> read;
    for (const Node& n : from_.nodes) {
      if (n.id && !Wanted(n)) read.insert(n.inputs.begin(), n.inputs.end());
    }
    read.insert(from_.results.begin(), from_.results.end());
    for (const Node& n : from_.nodes) {
      for (const ValueId v : n.outputs) {
        if (!v || !Wanted(n)) continue;
        // What nobody reads yet is what a pass has tried.
        if (read.count(v) || !inner_.count(v)) to_.results.push_back(values_.at(v));
      }
    }
    return SortNodes(&to_);
  }

 private:
  bool Wanted(const Node& n) const {
    return n.id != 0 && (wanted_.empty() || wanted_.count(n.id) > 0);
  }

  Status Take(const Node& n) {
    Node copy = n;
    copy.after.clear();
    for (ValueId& v : copy.inputs) {
      inner_.insert(v);
      GE_ASSIGN_OR_RETURN(v, In(v));
    }
    for (ValueId& v : copy.outputs) {
      GE_ASSIGN_OR_RETURN(v, In(v));
    }
    to_.nodes.push_back(std::move(copy));
    return {};
  }

  // The value there; a parameter, where none of the nodes makes it.
  Result<ValueId> In(ValueId v) {
    if (v == 0) return v;
    if (const auto it = values_.find(v); it != values_.end()) return it->second;
    const Value& value = from_.value(v);
    if (!value.type.is_static()) return Unknown(from_, v);
    const ValueId made = AddValue(&to_, value.type, value.name);
    to_.value(made).constant = value.constant;
    to_.value(made).ints = value.ints;
    values_.emplace(v, made);
    if (!value.constant && !MadeInside(v)) to_.params.push_back(made);
    return made;
  }

  bool MadeInside(ValueId v) {
    if (makers_.empty()) {
      for (const Node& n : from_.nodes) {
        if (Wanted(n)) makers_.insert(n.outputs.begin(), n.outputs.end());
      }
    }
    return makers_.count(v) > 0;
  }

  const Function& from_;
  const std::set<NodeId>& wanted_;
  Function& to_;
  std::unordered_map<ValueId, ValueId> values_;
  std::set<ValueId> inner_, makers_;
};

}  // namespace

Result<double> PriceNodes(const Graph& graph, FunctionId fn, const std::vector<NodeId>& nodes,
                          const EngineList& engines, const BuildOptions& options) {
  Graph piece;
  piece.opsets = graph.opsets;
  piece.consts = graph.consts;  // payloads are shared
  piece.states = graph.states;
  piece.dims = graph.dims;
  piece.ops = graph.ops;
  piece.AddFunction("price");
  const std::set<NodeId> wanted(nodes.begin(), nodes.end());
  GE_RETURN_IF_ERROR(CutPiece(graph.fn(fn), wanted, &piece.fn(1)).Run());
  if (piece.fn(1).nodes.empty()) return 0.0;
  std::vector<StateId> in, out;
  GE_RETURN_IF_ERROR(LiftStates(&piece, 1, &in, &out));
  BuildOptions build = options;
  build.classes = nullptr;  // it is these nodes that are asked about, not some like them
  build.incumbent = nullptr;
  build.fold_parts = nullptr;
  build.stop_after = StageId::kPlace;
  build.place.pins.clear();  // they name nodes that may not be among these
  build.runner = {};         // nobody looks at the stages of a question
  if (build.prices.mode == PriceMode::kMeasure) build.prices.mode = PriceMode::kCached;
  GE_ASSIGN_OR_RETURN(const auto planned, BuildCompiled(std::move(piece), 1, engines, build));
  return planned->plan.predicted_ns;
}

}  // namespace ge
