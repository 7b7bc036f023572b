// ge bisect F.gecap: whose fault is it? The graph after each pass is run on the reference engine,
// then each segment of the plan by itself, on its recorded inputs.
#include <fmt/format.h>

#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "ge/capsule/graph_members.h"
#include "ge/capsule/segment_graph.h"
#include "tools/ge/capsule/differences.h"
#include "tools/ge/capsule/recorded.h"
#include "tools/ge/capsule/trial.h"
#include "tools/ge/command.h"

namespace ge::tool {
namespace {

using Outputs = std::vector<std::vector<std::byte>>;

struct Verdict {
  std::string kind = "none";  // "pass", "engine", "memory", "model"
  std::string pass, engine, why;
  std::vector<std::string> nodes;
};

Verdict Made(std::string kind, std::string why) {
  Verdict v;
  v.kind = std::move(kind);
  v.why = std::move(why);
  return v;
}

// How one of several outputs differs by more than its type's bound; empty where none does.
std::string WhyDifferent(const std::vector<CapsuleTensor>& tensors, const Outputs& found,
                         const Outputs& wanted, double rtol) {
  for (size_t i = 0; i < wanted.size() && i < found.size() && i < tensors.size(); ++i) {
    const CapsuleTensor& t = tensors[i];
    if (found[i].size() != wanted[i].size()) {
      return fmt::format("'{}' has {} bytes, wanted {}", t.name, found[i].size(), wanted[i].size());
    }
    const Difference d = DifferenceOf(t.dtype, found[i], wanted[i]);
    const double bound = rtol >= 0 ? rtol : RelativeBound(t.dtype);
    if (d.equal() || (RelativeBound(t.dtype) > 0 && d.relative() <= bound)) continue;
    return fmt::format("'{}' differs in {} of {} elements, by {:.3g} where the largest is {:.3g}",
                       t.name, d.differing, d.elements, d.greatest, d.largest);
  }
  return {};
}

class Bisection {
 public:
  Bisection(const Recorded& r, const Options& options) : r_(r), options_(options) {}

  Result<Verdict> Run() {
    GE_ASSIGN_OR_RETURN(inputs_, RecordedInputs(r_));
    GE_ASSIGN_OR_RETURN(auto pass, FaultyPass());
    if (pass) return *std::move(pass);
    GE_ASSIGN_OR_RETURN(auto segment, FaultySegment());
    return segment ? *std::move(segment) : Made("none", Sound());
  }

 private:
  void Say(const std::string& text) const {
    if (!options_.json) fmt::print("{}\n", text);
  }
  std::string Sound() const {
    return fmt::format(
        "{} graphs and {} segments are right by themselves{}", graphs_, judged_,
        unjudged_ ? fmt::format("; {} segments could not be judged", unjudged_) : "");
  }

  Options On(const std::string& engines) const {
    Options o = OptionsLike(options_, r_.manifest);
    o.engines = engines;
    return o;
  }
  Result<Outputs> OnReference(const std::string& member) const {
    GE_ASSIGN_OR_RETURN(Graph graph, ReadGraphMember(r_.capsule, member));
    return RunTrial(r_, {std::move(graph), r_.manifest.entry, inputs_, On(options_.against), true},
                    options_.seconds_a_trial);
  }

  // The graphs between the loaded one and the plan, without the one whose states are inputs.
  std::vector<const CapsuleGraph*> PassGraphs() const {
    std::vector<const CapsuleGraph*> graphs;
    for (const CapsuleGraph& g : r_.manifest.graphs) {
      if (g.stage.starts_with("pass/")) graphs.push_back(&g);
    }
    return graphs;
  }

  // Halves the passes: the first whose graph computes something else than the loaded one.
  Result<std::optional<Verdict>> FaultyPass() {
    GE_ASSIGN_OR_RETURN(const CapsuleGraph* loaded, GraphOf(r_.manifest, "load"));
    const auto wanted = OnReference(loaded->member);
    if (!wanted.ok()) {
      Say(fmt::format("the loaded model does not run on {}: {}", options_.against,
                      wanted.status().message()));
      return std::optional<Verdict>();
    }
    const std::vector<const CapsuleGraph*> graphs = PassGraphs();
    std::string why;
    const auto differs = [&](size_t i) -> Result<bool> {
      ++graphs_;
      const auto found = OnReference(graphs[i]->member);
      why = found.ok() ? WhyDifferent(r_.manifest.outputs, *found, *wanted, options_.rtol)
                       : found.status().message();
      Say(fmt::format("  after {:<40} {}", graphs[i]->stage, why.empty() ? "right" : why));
      return !why.empty();
    };
    if (graphs.empty()) return std::optional<Verdict>();
    GE_ASSIGN_OR_RETURN(const bool any, differs(graphs.size() - 1));
    if (!any) return std::optional<Verdict>();
    size_t right = 0, wrong = graphs.size() - 1;  // the first wrong one is in [right, wrong]
    std::string last = why;
    while (right < wrong) {
      const size_t middle = (right + wrong) / 2;
      GE_ASSIGN_OR_RETURN(const bool bad, differs(middle));
      if (bad) last = why;
      (bad ? wrong : right) = bad ? middle : middle + 1;
    }
    Verdict v = Made("pass", last);
    v.pass = graphs[wrong]->stage.substr(5);
    return std::optional<Verdict>(std::move(v));
  }

  // Recorded tensors by the value of the checked graph.
  void FindValues() {
    const PlanFunction& fn = r_.plan.functions[0];
    for (const CapsuleTensor& t : r_.manifest.values) {
      if (t.plan_value < fn.values.size()) by_value_[fn.values[t.plan_value].graph_value] = &t;
    }
    for (const PlanValue& v : fn.values) {
      if (v.kind == PlanValueKind::kInput && v.index < r_.manifest.inputs.size()) {
        by_value_[v.graph_value] = &r_.manifest.inputs[v.index];
      }
      if (v.kind == PlanValueKind::kState && v.state > 0 && v.state <= r_.manifest.states.size()) {
        by_value_[v.graph_value] = &r_.manifest.states[v.state - 1];
      }
    }
  }

  struct Piece {
    Graph graph;
    std::vector<TensorView> inputs;
    std::vector<CapsuleTensor> outputs;
    Outputs recorded;
    std::vector<std::string> nodes;
  };
  // None where a value that it reads or makes was not recorded.
  Result<std::optional<Piece>> PieceOf(const Graph& graph, FunctionId fn,
                                       const PlanSegment& segment) const {
    Piece piece;
    std::vector<ValueId> in, out;
    const PlanFunction& f = r_.plan.functions[0];
    for (const PlanValueId id : segment.inputs) {
      const auto found = by_value_.find(f.values[id].graph_value);
      if (found == by_value_.end() || f.values[id].layout != 0) return std::optional<Piece>();
      GE_ASSIGN_OR_RETURN(piece.inputs.emplace_back(), RecordedTensor(r_, *found->second));
      in.push_back(f.values[id].graph_value);
    }
    for (const PlanValueId id : segment.outputs) {
      const auto found = by_value_.find(f.values[id].graph_value);
      if (found == by_value_.end() || f.values[id].layout != 0) return std::optional<Piece>();
      if (!r_.capsule->Has(found->second->member)) return std::optional<Piece>();
      GE_ASSIGN_OR_RETURN(const TensorView view, RecordedTensor(r_, *found->second));
      const auto* data = static_cast<const std::byte*>(view.data);
      piece.recorded.emplace_back(data, data + view.bytes);
      piece.outputs.push_back(*found->second);
      out.push_back(f.values[id].graph_value);
    }
    const std::vector<NodeId> nodes = NodesOf(segment);
    GE_ASSIGN_OR_RETURN(piece.graph, NodesGraph(graph, fn, nodes, in, out));
    for (const Node& n : piece.graph.fn(fn).nodes) {
      piece.nodes.push_back(n.name.empty() ? fmt::format("{} #{}", n.op, n.id) : n.name);
    }
    return std::optional<Piece>(std::move(piece));
  }

  Result<std::optional<Verdict>> FaultySegment() {
    GE_ASSIGN_OR_RETURN(const CapsuleGraph* checked, GraphOf(r_.manifest, "check"));
    GE_ASSIGN_OR_RETURN(const Graph graph, ReadGraphMember(r_.capsule, checked->member));
    FindValues();
    const Entry* entry = graph.FindEntry(r_.manifest.entry);
    if (entry == nullptr || r_.plan.functions.empty()) {
      return Status(Code::kDataCorrupt, "the checked graph has no entry of the manifest's name");
    }
    const PlanFunction& f = r_.plan.functions[0];
    for (size_t i = 0; i < f.segments.size(); ++i) {
      const PlanSegment& segment = f.segments[i];
      if (segment.offers.empty()) continue;
      GE_ASSIGN_OR_RETURN(auto piece, PieceOf(graph, entry->fn, segment));
      if (!piece) {
        ++unjudged_;
        continue;
      }
      ++judged_;
      GE_ASSIGN_OR_RETURN(auto verdict, Judge(i, segment, *std::move(piece)));
      if (verdict) return verdict;
    }
    return std::optional<Verdict>();
  }

  // Wrong beside the reference: the engine's fault where it is wrong by itself, too.
  Result<std::optional<Verdict>> Judge(size_t i, const PlanSegment& segment, Piece piece) {
    const std::string engine = r_.plan.engines[r_.plan.devices[segment.device].engine].name;
    Trial trial{std::move(piece.graph), "main", std::move(piece.inputs), On(options_.against)};
    const auto wanted = RunTrial(r_, trial, options_.seconds_a_trial);
    std::string why = wanted.ok()
                          ? WhyDifferent(piece.outputs, piece.recorded, *wanted, options_.rtol)
                          : std::string();
    Say(fmt::format("  segment {:<4} {:<10} {:<26} {}", i, engine,
                    fmt::format("{} nodes from {}", piece.nodes.size(), piece.nodes[0]),
                    !wanted.ok()  ? "not judged: " + wanted.status().message()
                    : why.empty() ? "right"
                                  : why));
    if (!wanted.ok()) {
      --judged_;
      ++unjudged_;
      return std::optional<Verdict>();
    }
    if (why.empty()) return std::optional<Verdict>();
    trial.options = On(options_.engines.empty() ? engine : options_.engines);
    const auto again = RunTrial(r_, trial, options_.seconds_a_trial);
    const bool wrong_again =
        !again.ok() || !WhyDifferent(piece.outputs, *again, *wanted, options_.rtol).empty();
    Verdict v = Made(wrong_again ? "engine" : "memory", why);
    v.engine = engine;
    if (!wrong_again) {
      v.why +=
          "; by itself the segment is right: what it reads or makes was overwritten, or the "
          "fault comes and goes";
    }
    v.nodes = std::move(piece.nodes);
    return std::optional<Verdict>(std::move(v));
  }

  const Recorded& r_;
  const Options& options_;
  std::vector<TensorView> inputs_;
  std::map<ValueId, const CapsuleTensor*> by_value_;
  uint64_t graphs_ = 0, judged_ = 0, unjudged_ = 0;
};

void PrintVerdict(const Options& o, const Verdict& v) {
  if (o.json) {
    const nlohmann::json j = {{"kind", v.kind}, {"engine", v.engine}, {"nodes", v.nodes},
                              {"pass", v.pass}, {"why", v.why},       {"capsule", o.model}};
    fmt::print("{}\n", j.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
    return;
  }
  if (v.kind == "none") fmt::print("none: {}\n", v.why);
  if (v.kind == "pass") fmt::print("pass {}: {}\n", v.pass, v.why);
  if (v.kind != "engine" && v.kind != "memory") return;
  fmt::print("{} {}, nodes {}: {}\n", v.kind, v.engine, fmt::join(v.nodes, ", "), v.why);
}

}  // namespace

int Bisect(const Options& options) {
  const auto recorded = OpenRecorded(options.model);
  if (!recorded.ok()) return Fail(recorded.status());
  Bisection bisection(*recorded, options);
  const auto verdict = bisection.Run();
  if (!verdict.ok()) return Fail(verdict.status());
  PrintVerdict(options, *verdict);
  return verdict->kind == "none" ? 0 : 1;
}

}  // namespace ge::tool
